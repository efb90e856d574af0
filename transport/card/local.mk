# SPDX-License-Identifier: MIT
libtransport_la_SOURCES += %D%/card.c %D%/card.h %D%/connect.c \
	%D%/doorbell_batch.c %D%/doorbell_batch.h %D%/inside.h %D%/path.c \
	%D%/queues.c %D%/queues.h %D%/ways.c
