# SPDX-License-Identifier: MIT
# Members of which some die.
safe -DMEMBERS=2 -DDEATHS=1
safe -DDEATHS=1
long safe -DDEATHS=2
ends -DMEMBERS=2 -DDEATHS=1
ends -DDEATHS=1
