# SPDX-License-Identifier: MIT
noinst_LTLIBRARIES += libtransport.la
libtransport_la_SOURCES = %D%/channel.c %D%/channel.h %D%/connect.c \
	%D%/context.c %D%/context.h %D%/copy.h %D%/event.c %D%/event.h \
	%D%/helper.c %D%/internal.h %D%/key.h %D%/linux.c %D%/memory.c \
	%D%/memory.h %D%/memory_table.c %D%/operation.c %D%/path.h \
	%D%/peer.c %D%/peer.h %D%/poll.c %D%/poll.h %D%/port.c %D%/port.h \
	%D%/self.c %D%/send.c %D%/send.h %D%/sized.h %D%/status.c \
	%D%/topology.c %D%/topology.h %D%/version.c %D%/wait.c
