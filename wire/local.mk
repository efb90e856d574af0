# SPDX-License-Identifier: MIT
libtransport_la_SOURCES += %D%/address.c %D%/address.h %D%/decorator.c \
	%D%/decorator.h %D%/fault.c %D%/fault.h %D%/interface.c \
	%D%/interface.h %D%/packet.c %D%/pcapng.c %D%/pcapng.h %D%/rail.h \
	%D%/record.c %D%/record.h %D%/trace.c %D%/trace.h %D%/udp.c \
	%D%/udp.h %D%/udp_address.c %D%/udp_error.c %D%/udp_receive.c \
	%D%/udp_send.c %D%/udp_socket.c %D%/udp_stage.c
