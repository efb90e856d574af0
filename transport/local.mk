# SPDX-License-Identifier: MIT
noinst_LTLIBRARIES += libtransport.la
libtransport_la_SOURCES = %D%/address.c %D%/channel.c %D%/config.c \
	%D%/config.h %D%/context.c %D%/context.h %D%/copy.h %D%/counters.c \
	%D%/counters.h %D%/event.c %D%/helper.c %D%/internal.h %D%/key.h \
	%D%/log.c %D%/log.h %D%/memory.c %D%/operation.c %D%/peer.c \
	%D%/poll.c %D%/poll.h %D%/port.c %D%/random.c %D%/random.h %D%/self.c %D%/send.c \
	%D%/send.h %D%/sized.h %D%/status.c \
	%D%/topology.c %D%/topology.h %D%/version.c %D%/wait.c
