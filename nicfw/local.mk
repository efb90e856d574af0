# SPDX-License-Identifier: MIT
# Freestanding: the same sources run on a card. gcc may still expand memcpy and
# memset in place (-fbuiltin); only these two may stay undefined.
noinst_LTLIBRARIES += libnicfw.la
libnicfw_la_CFLAGS = $(AM_CFLAGS) -ffreestanding -fbuiltin \
	-fno-stack-protector
libnicfw_la_SOURCES = %D%/arena.c %D%/assemble.c %D%/build.h %D%/burst.c \
	%D%/card.c %D%/card.h %D%/conn.c %D%/deadline.c %D%/deliver.c \
	%D%/deliver.h %D%/flow.c %D%/frame.c %D%/frame.h %D%/hal.h %D%/hello.c \
	%D%/launch.c %D%/launch.h %D%/list.h %D%/memory.h %D%/message.c \
	%D%/message.h %D%/node.c %D%/objects.h %D%/order.h %D%/port.c \
	%D%/port.h %D%/proof.c %D%/proof.h %D%/rails.c %D%/rdma.c %D%/recv.c \
	%D%/reply.c %D%/retransmit.c %D%/sdma.c %D%/send.c %D%/siphash.c \
	%D%/siphash.h %D%/stripe.c %D%/verdict.c %D%/verdict.h %D%/window.c \
	%D%/window.h
