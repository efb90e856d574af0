# SPDX-License-Identifier: MIT
# Both sides send; one side streams, over the wrap of the positions; a side that
# mostly sends crashes, or one that mostly receives; a side reserves more room
# than it sends.
safe -DMESSAGES=2 -DANSWERS=2
long safe -DMESSAGES=3 -DANSWERS=2
safe -DMESSAGES=6 -DANSWERS=0 -DFIRST=8
safe -DMESSAGES=3 -DANSWERS=1 -DFIRST=12 -DCRASHES=1
safe -DMESSAGES=1 -DANSWERS=3 -DFIRST=12 -DCRASHES=1
safe -DMESSAGES=5 -DANSWERS=0 -DRESERVES=1
ends -DMESSAGES=2 -DANSWERS=1
long ends -DMESSAGES=2 -DANSWERS=2
ends -DMESSAGES=2 -DANSWERS=1 -DCRASHES=1
