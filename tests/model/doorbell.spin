# SPDX-License-Identifier: MIT
# Two owners and a helper; one owner that rings often.
safe -DSEATS=2 -DREQUESTS=2 -DPOLLS=2
safe -DSEATS=1 -DREQUESTS=4 -DPOLLS=4
ends -DSEATS=2 -DREQUESTS=2 -DPOLLS=1
