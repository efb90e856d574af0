# SPDX-License-Identifier: MIT
libtransport_la_SOURCES += %D%/areas.c %D%/areas.h %D%/checksum.c %D%/checksum.h %D%/cq.h \
	%D%/journal.c %D%/journal.h %D%/memory.c %D%/memory.h %D%/ops.h %D%/ways.c %D%/ways.h \
	%D%/inproc/hal.c %D%/inproc/inproc.c \
	%D%/inproc/inproc.h %D%/inproc/journal.c %D%/inproc/lock.c \
	%D%/inproc/node.c %D%/inproc/open.c %D%/inproc/port.c \
	%D%/inproc/rails.c %D%/inproc/turn.c \
	%D%/kernel/call.c %D%/kernel/ends.c %D%/kernel/kernel.c %D%/kernel/kernel.h \
	%D%/kernel/node.c %D%/kernel/open.c %D%/kernel/port.c
