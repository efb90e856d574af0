# SPDX-License-Identifier: MIT
libtransport_la_SOURCES += %D%/decorator.c %D%/decorator.h \
	%D%/fault.c %D%/fault.h %D%/interface.c %D%/interface.h %D%/packet.c \
	%D%/rail.h %D%/trace.c %D%/trace.h %D%/udp.c
