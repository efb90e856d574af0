# SPDX-License-Identifier: MIT
# Programs that open and close, with one kind of traffic each; all of it.
safe -DACTIONS=2 -DMESSAGES=2 -DREQUESTS=0 -DMAILS=0
safe -DACTIONS=2 -DMESSAGES=0 -DREQUESTS=2 -DMAILS=0
safe -DACTIONS=2 -DMESSAGES=0 -DREQUESTS=0 -DMAILS=2
long safe -DMESSAGES=2 -DREQUESTS=0 -DMAILS=0
long safe -DMESSAGES=0 -DREQUESTS=2 -DMAILS=0
long safe -DACTIONS=2 -DRING=1
ends -DACTIONS=1 -DREQUESTS=0
