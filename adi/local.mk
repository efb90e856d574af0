# SPDX-License-Identifier: MIT
noinst_LTLIBRARIES += libadi.la
libadi_la_SOURCES = %D%/arrive.c %D%/arrive.h %D%/complete.c %D%/eager.c \
	%D%/fetch.c %D%/internal.h %D%/iov.c %D%/iov.h %D%/job.h \
	%D%/keepalive.c %D%/lanes.c %D%/lock.c %D%/match.c %D%/match.h \
	%D%/oob.c %D%/packet.c %D%/peer.c %D%/peer.h %D%/pool.c %D%/pool.h \
	%D%/probe.c %D%/progress.c %D%/progress.h %D%/protocol.c \
	%D%/protocol.h %D%/put.c %D%/queue.c %D%/receive.c %D%/receive.h \
	%D%/rendezvous.c %D%/request.c %D%/request.h %D%/schedule.c \
	%D%/schedule.h %D%/send.c %D%/send.h %D%/serve.c %D%/start.c \
	%D%/table.c %D%/table.h %D%/unexpected.c %D%/unexpected.h %D%/wait.c \
	%D%/world.c
