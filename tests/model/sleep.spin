# SPDX-License-Identifier: MIT
# Two senders, with and without membarrier; one sender, with frames and changes
# of nodes.
safe -DFRAMES=0 -DCHANGES=0
safe -DFRAMES=0 -DCHANGES=0 -DBARRIER=0
safe -DSENDERS=1 -DMESSAGES=2 -DFRAMES=2 -DCHANGES=0
safe -DSENDERS=1 -DMESSAGES=1 -DFRAMES=1 -DCHANGES=1
ends -DSENDERS=1 -DMESSAGES=1 -DFRAMES=1 -DCHANGES=0
