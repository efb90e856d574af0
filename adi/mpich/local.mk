# SPDX-License-Identifier: MIT
# What graft places in MPICH's tree, to be built there.
EXTRA_DIST += %D%/graft %D%/channel/Makefile.mk %D%/channel/subconfigure.m4 \
	%D%/channel/include/bcl_ch3_coll.h \
	%D%/channel/include/bcl_ch3_icoll.h \
	%D%/channel/include/bcl_ch3_persistent.h \
	%D%/channel/include/mpidi_ch3_impl.h \
	%D%/channel/include/mpidi_ch3_post.h \
	%D%/channel/include/mpidi_ch3_pre.h %D%/channel/src/answer.c \
	%D%/channel/src/blocks.c %D%/channel/src/channel.c \
	%D%/channel/src/collective.c %D%/channel/src/collective.h \
	%D%/channel/src/data.c %D%/channel/src/direct.c \
	%D%/channel/src/channel.h %D%/channel/src/errnames.txt \
	%D%/channel/src/exchange.c %D%/channel/src/inits.c \
	%D%/channel/src/lease.c %D%/channel/src/link.c \
	%D%/channel/src/neighbours.c %D%/channel/src/node.c %D%/channel/src/nonblocking.c \
	%D%/channel/src/pending.c %D%/channel/src/persistent.c %D%/channel/src/port.c \
	%D%/channel/src/progress.c %D%/channel/src/receive.c \
	%D%/channel/src/reduction.c \
	%D%/channel/src/rendezvous.c %D%/channel/src/send.c \
	%D%/channel/src/team.c %D%/channel/src/tool.c \
	%D%/channel/src/wanted.c %D%/channel/src/window.c
