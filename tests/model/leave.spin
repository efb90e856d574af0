# SPDX-License-Identifier: MIT
# Programs that open and close the peer, with one kind of traffic each; with all
# kinds.
safe -DACTIONS=2 -DMESSAGES=2 -DREQUESTS=0 -DACCESSES=0
safe -DACTIONS=2 -DMESSAGES=0 -DREQUESTS=2 -DACCESSES=0
safe -DACTIONS=2 -DMESSAGES=0 -DREQUESTS=0 -DACCESSES=2
long safe -DMESSAGES=2 -DREQUESTS=0 -DACCESSES=0
long safe -DMESSAGES=0 -DREQUESTS=2 -DACCESSES=0
long safe -DACTIONS=2 -DRING=1
ends -DACTIONS=1 -DREQUESTS=0
