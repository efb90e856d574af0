# SPDX-License-Identifier: MIT
libtransport_la_SOURCES += %D%/card.c %D%/card.h %D%/checksum.c %D%/checksum.h \
	%D%/connect.c %D%/doorbell_batch.c %D%/doorbell_batch.h \
	%D%/inproc/hal.c %D%/inproc/inproc.c %D%/inproc/inproc.h \
	%D%/inproc/journal.c %D%/inproc/lock.c %D%/inproc/node.c \
	%D%/inproc/open.c %D%/inproc/port.c %D%/inproc/rails.c \
	%D%/inproc/turn.c %D%/inside.h %D%/journal.c %D%/journal.h %D%/ops.h \
	%D%/path.c %D%/queues.c %D%/queues.h %D%/ways.c
