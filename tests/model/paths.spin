# SPDX-License-Identifier: MIT
# All read; one reads nothing: whom two cards send to, or one and its pair.
safe -DMESSAGES=1
safe -DSTOPPED=2
safe -DSTOPPED=0
ends -DMESSAGES=1
