# SPDX-License-Identifier: MIT
# Freestanding: the same sources run on a card. gcc may still expand memcpy and
# memset in place (-fbuiltin); only these two may stay undefined.
noinst_LTLIBRARIES += libnicfw.la
libnicfw_la_CFLAGS = $(AM_CFLAGS) -ffreestanding -fbuiltin \
	-fno-stack-protector
libnicfw_la_SOURCES = %D%/arena.c %D%/arena.h %D%/arrived.c %D%/arrived.h \
	%D%/assemble.c %D%/assemble.h %D%/build.h %D%/burst.c %D%/burst.h \
	%D%/card.c %D%/card.h %D%/channel.c %D%/channel.h %D%/conn.c \
	%D%/conn.h %D%/contact.c %D%/contact.h %D%/control.c %D%/control.h \
	%D%/deadline.c %D%/deadline.h %D%/deliver.c %D%/deliver.h \
	%D%/destination.c %D%/destination.h %D%/dma.c %D%/dma.h %D%/flow.c \
	%D%/flow.h %D%/frame.c %D%/frame.h %D%/gate.c %D%/gate.h %D%/hal.h \
	%D%/handshake.c %D%/handshake.h %D%/hello.c %D%/hello.h %D%/inbound.h \
	%D%/launch.c %D%/launch.h %D%/list.h %D%/memory.h %D%/message.c \
	%D%/message.h %D%/node.c %D%/node.h %D%/open.c %D%/order.h \
	%D%/payload.c %D%/payload.h %D%/port.c %D%/port.h %D%/proof.c \
	%D%/proof.h %D%/rails.c %D%/rails.h %D%/recv.c %D%/recv.h %D%/reply.c \
	%D%/reply.h %D%/retransmit.c %D%/retransmit.h %D%/sdma.c %D%/sdma.h \
	%D%/send.c %D%/send.h %D%/siphash.c %D%/siphash.h %D%/stripe.c \
	%D%/stripe.h %D%/timer.c %D%/timer.h %D%/verdict.c %D%/verdict.h \
	%D%/window.c %D%/window.h
