# SPDX-License-Identifier: MIT
libtransport_la_SOURCES += %D%/charge.h %D%/crc32c.c %D%/crc32c.h %D%/env.h %D%/file.c %D%/file.h %D%/linux.c \
	%D%/prefetch.h %D%/process.c %D%/process.h %D%/room.c %D%/room.h %D%/say.c %D%/say.h
