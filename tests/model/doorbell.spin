# SPDX-License-Identifier: MIT
# Two owners and a helper; one owner that rings often; owners that defer
# doorbells.
safe -DSEATS=2 -DREQUESTS=2 -DPOLLS=1
long safe -DSEATS=2 -DREQUESTS=2 -DPOLLS=2
safe -DSEATS=1 -DREQUESTS=4 -DPOLLS=4
ends -DSEATS=2 -DREQUESTS=2 -DPOLLS=1
safe -DSEATS=2 -DREQUESTS=2 -DPOLLS=1 -DDEFERS=1
safe -DSEATS=1 -DREQUESTS=3 -DPOLLS=2 -DDEFERS=1
ends -DSEATS=1 -DREQUESTS=2 -DPOLLS=1 -DDEFERS=1
