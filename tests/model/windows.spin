# SPDX-License-Identifier: MIT
# One after the other, tags repeat; two at a time; two who put; one of them dies,
# and what comes late meets the other team's window; who opens windows dies; a
# ring of one block; the end.
safe -DOPERATIONS=3
safe -DOPERATIONS=3 -DRUNNING=2 -DDUPLICATES=0
safe -DSENDERS=2 -DOPERATIONS=2 -DPIECES=1
safe -DSENDERS=2 -DOPERATIONS=2 -DFIRST_TEAM=1 -DMORTAL=1 -DPIECES=1 -DLOSSES=0 -DDUPLICATES=0
safe -DOPERATIONS=2 -DMORTAL=1
safe -DOPERATIONS=3 -DBLOCKS=1
ends -DOPERATIONS=2
ends -DOPERATIONS=2 -DMORTAL=1 -DLOSSES=0 -DDUPLICATES=0
