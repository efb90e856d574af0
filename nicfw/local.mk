# SPDX-License-Identifier: MIT
# Freestanding: the same sources run on a card. gcc may still expand memcpy and
# memset in place (-fbuiltin); only these two may stay undefined.
noinst_LTLIBRARIES += libnicfw.la
libnicfw_la_CFLAGS = $(AM_CFLAGS) -ffreestanding -fbuiltin \
	-fno-stack-protector
libnicfw_la_SOURCES = %D%/build.h %D%/card.h %D%/deliver.h %D%/frame.h \
	%D%/hal.h %D%/launch.h %D%/list.h %D%/memory.h %D%/message.h %D%/objects.h %D%/order.h \
	%D%/port.h %D%/proof.h %D%/siphash.h %D%/verdict.h %D%/window.h \
	%D%/retransmit.c %D%/arena.c %D%/assemble.c %D%/burst.c %D%/card.c \
	%D%/conn.c %D%/deadline.c %D%/deliver.c %D%/flow.c %D%/frame.c \
	%D%/hello.c %D%/launch.c %D%/message.c %D%/node.c %D%/port.c \
	%D%/proof.c %D%/rails.c %D%/rdma.c %D%/recv.c %D%/reply.c %D%/sdma.c \
	%D%/send.c %D%/siphash.c %D%/stripe.c %D%/verdict.c %D%/window.c
