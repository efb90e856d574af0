# SPDX-License-Identifier: MIT
# Both send as much; one streams, over the wrap of the positions; one crashes.
safe -DMESSAGES=3 -DANSWERS=2
safe -DMESSAGES=6 -DANSWERS=0 -DFIRST=8
safe -DMESSAGES=3 -DANSWERS=1 -DFIRST=12 -DCRASHES=1
ends -DMESSAGES=2 -DANSWERS=2
