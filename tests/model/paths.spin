# SPDX-License-Identifier: MIT
# All read; one reads nothing: whom two cards and its pair send to.
safe -DMESSAGES=1
safe -DSTOPPED=2
ends -DMESSAGES=1
