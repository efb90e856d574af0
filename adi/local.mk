# SPDX-License-Identifier: MIT
noinst_LTLIBRARIES += libadi.la
libadi_la_SOURCES = %D%/arrive.c %D%/arrive.h %D%/complete.c %D%/engine.h \
	%D%/fetch.c %D%/internal.h %D%/keepalive.c %D%/match.c %D%/match.h \
	%D%/oob.c %D%/packet.c %D%/peer.c %D%/pool.c %D%/pool.h %D%/probe.c \
	%D%/progress.c %D%/put.c %D%/receive.c %D%/rendezvous.c %D%/request.c \
	%D%/schedule.c %D%/send.c %D%/send.h %D%/table.c %D%/table.h \
	%D%/unexpected.c %D%/wait.c %D%/world.c
