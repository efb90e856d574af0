# SPDX-License-Identifier: MIT
# A crash, duplicates, partings, isolation, each at any step; then what becomes
# of them when nothing happens any more.
safe -DSENT=1 -DIDS=2 -DDUPLICATES=0
safe -DSENT=1 -DIDS=2 -DCRASHES=0 -DDUPLICATES=2
safe -DSENT=1 -DIDS=2 -DCRASHES=0 -DDUPLICATES=0 -DPARTINGS=1
safe -DSENT=1 -DIDS=2 -DCRASHES=0 -DDUPLICATES=0 -DISOLATIONS=1
ends -DSENT=0 -DIDS=8 -DDUPLICATES=0 -DFAULTS=1 -DEARLY=1
