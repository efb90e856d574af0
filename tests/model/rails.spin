# SPDX-License-Identifier: MIT
# A long message between two short messages, behind them, before one; a rail is
# lost, or the ring is full.
safe
safe -DLONG=4 -DBLOCKS=1 -DLOSSES=0
safe -DLONG=5 -DLOSSES=0 -DRETRIES=1
ends -DMESSAGES=2 -DLONG=1
