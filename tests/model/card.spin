# SPDX-License-Identifier: MIT
# One flow into a ring of one block and of two, before the wrap and over it;
# two flows, one of them to a port that is stopped.
safe -DFAULTS=2 -DSPURIOUS=0 -DRETRIES=0
safe -DFAULTS=1 -DSPURIOUS=1 -DRETRIES=0 -DFIRST=30
safe -DFAULTS=1 -DSPURIOUS=0 -DRETRIES=1
safe -DFAULTS=2 -DSPURIOUS=0 -DRETRIES=0 -DBLOCKS=2 -DMESSAGES=4 -DFIRST=30
safe -DFAULTS=1 -DSPURIOUS=0 -DRETRIES=0 -DFLOWS=2 -DMESSAGES=2 -DSTOPPED=0
ends -DFAULTS=1 -DSPURIOUS=1 -DRETRIES=1 -DMESSAGES=2
ends -DFAULTS=1 -DSPURIOUS=0 -DRETRIES=0
