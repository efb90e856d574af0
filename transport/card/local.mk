# SPDX-License-Identifier: MIT
libtransport_la_SOURCES += %D%/connect.c %D%/hal.c %D%/host.c %D%/host.h \
	%D%/inside.h %D%/path.c %D%/queues.c %D%/queues.h
