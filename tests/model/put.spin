# SPDX-License-Identifier: MIT
# One operation after another, so that tags repeat; two at a time; two senders;
# a sender dies, and its late pieces meet the window of the next team; the owner
# dies; a ring of one block; the end of all operations.
safe -DOPERATIONS=3
safe -DOPERATIONS=3 -DRUNNING=2 -DDUPLICATES=0
safe -DSENDERS=2 -DOPERATIONS=2 -DPIECES=1
safe -DSENDERS=2 -DOPERATIONS=2 -DFIRST_TEAM=1 -DMORTAL=1 -DPIECES=1 -DLOSSES=0 -DDUPLICATES=0
safe -DOPERATIONS=2 -DMORTAL=1
safe -DOPERATIONS=3 -DBLOCKS=1
ends -DOPERATIONS=2
ends -DOPERATIONS=2 -DMORTAL=1 -DLOSSES=0 -DDUPLICATES=0
