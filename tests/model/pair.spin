# SPDX-License-Identifier: MIT
# Both send as much; one streams, over the wrap of the positions; one crashes,
# who mostly sends or who mostly receives; room is reserved for more than is sent.
safe -DMESSAGES=2 -DANSWERS=2
long safe -DMESSAGES=3 -DANSWERS=2
safe -DMESSAGES=6 -DANSWERS=0 -DFIRST=8
safe -DMESSAGES=3 -DANSWERS=1 -DFIRST=12 -DCRASHES=1
safe -DMESSAGES=1 -DANSWERS=3 -DFIRST=12 -DCRASHES=1
safe -DMESSAGES=5 -DANSWERS=0 -DRESERVES=1
ends -DMESSAGES=2 -DANSWERS=1
long ends -DMESSAGES=2 -DANSWERS=2
ends -DMESSAGES=2 -DANSWERS=1 -DCRASHES=1
