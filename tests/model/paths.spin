# SPDX-License-Identifier: MIT
# All processes read; one process reads nothing, while the neighbour and two
# cards send to it.
safe -DMESSAGES=1
safe -DSTOPPED=2
ends -DMESSAGES=1
