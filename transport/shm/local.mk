# SPDX-License-Identifier: MIT
libtransport_la_SOURCES += %D%/access.c %D%/attach.c %D%/attach.h %D%/audit.c \
	%D%/audit.h %D%/bell.c %D%/bell.h %D%/bounce.c %D%/call.c %D%/claim.h \
	%D%/connection.c %D%/connection.h %D%/fed.c %D%/grant.c %D%/greeting.c \
	%D%/greeting.h %D%/handshake.c %D%/handshake.h %D%/host.h %D%/large.c \
	%D%/large.h %D%/leave.c %D%/leave.h %D%/linux.c %D%/map.c \
	%D%/message.c %D%/message.h %D%/notify.c %D%/notify.h %D%/offer.c \
	%D%/ops.c %D%/outbox.c %D%/outbox.h %D%/pair.c %D%/pair.h %D%/peers.c \
	%D%/port.c %D%/port.h %D%/posted.c %D%/pull.c %D%/remote.c \
	%D%/remote.h %D%/rma_request.c %D%/rma_request.h %D%/segment.c \
	%D%/segment.h %D%/service.c %D%/shm.h %D%/sleep.c %D%/slot.h \
	%D%/socket.c %D%/socket.h %D%/watch.c
