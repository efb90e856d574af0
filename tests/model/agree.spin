# SPDX-License-Identifier: MIT
# Members of which some die, or lose each other.
safe -DMEMBERS=2 -DDEATHS=1
safe -DDEATHS=1
long safe -DDEATHS=2
safe -DDEATHS=0 -DCUT=2
long safe -DDEATHS=0 -DCUT=1
ends -DMEMBERS=2 -DDEATHS=1
long ends -DDEATHS=1
ends -DDEATHS=0 -DCUT=2
