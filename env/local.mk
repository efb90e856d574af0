# SPDX-License-Identifier: MIT
libtransport_la_SOURCES += %D%/charge.h %D%/config.c %D%/config.h \
	%D%/counters.c %D%/counters.h %D%/crc32c.c %D%/crc32c.h %D%/env.h \
	%D%/file.c %D%/file.h %D%/log.c %D%/log.h %D%/prefetch.h \
	%D%/process.c %D%/process.h %D%/random.c %D%/random.h %D%/room.c \
	%D%/room.h %D%/say.c %D%/say.h
