# SPDX-License-Identifier: MIT
# outside of the condition: the catalogue is the same for all channels
errnames_txt_files += src/mpid/ch3/channels/bcl/src/errnames.txt

if BUILD_CH3_BCL

AM_CPPFLAGS += -I$(top_srcdir)/src/mpid/ch3/channels/bcl/include

noinst_HEADERS += \
	src/mpid/ch3/channels/bcl/include/bcl_ch3_coll.h \
	src/mpid/ch3/channels/bcl/include/bcl_ch3_icoll.h \
	src/mpid/ch3/channels/bcl/include/bcl_ch3_persistent.h \
	src/mpid/ch3/channels/bcl/include/mpidi_ch3_impl.h \
	src/mpid/ch3/channels/bcl/include/mpidi_ch3_post.h \
	src/mpid/ch3/channels/bcl/include/mpidi_ch3_pre.h \
	src/mpid/ch3/channels/bcl/src/channel.h \
	src/mpid/ch3/channels/bcl/src/collective.h

mpi_core_sources += \
	src/mpid/ch3/channels/bcl/src/answer.c \
	src/mpid/ch3/channels/bcl/src/blocks.c \
	src/mpid/ch3/channels/bcl/src/channel.c \
	src/mpid/ch3/channels/bcl/src/collective.c \
	src/mpid/ch3/channels/bcl/src/data.c \
	src/mpid/ch3/channels/bcl/src/direct.c \
	src/mpid/ch3/channels/bcl/src/exchange.c \
	src/mpid/ch3/channels/bcl/src/inits.c \
	src/mpid/ch3/channels/bcl/src/lease.c \
	src/mpid/ch3/channels/bcl/src/link.c \
	src/mpid/ch3/channels/bcl/src/neighbours.c \
	src/mpid/ch3/channels/bcl/src/node.c \
	src/mpid/ch3/channels/bcl/src/nonblocking.c \
	src/mpid/ch3/channels/bcl/src/pending.c \
	src/mpid/ch3/channels/bcl/src/persistent.c \
	src/mpid/ch3/channels/bcl/src/port.c \
	src/mpid/ch3/channels/bcl/src/progress.c \
	src/mpid/ch3/channels/bcl/src/receive.c \
	src/mpid/ch3/channels/bcl/src/reduction.c \
	src/mpid/ch3/channels/bcl/src/rendezvous.c \
	src/mpid/ch3/channels/bcl/src/send.c \
	src/mpid/ch3/channels/bcl/src/team.c \
	src/mpid/ch3/channels/bcl/src/tool.c \
	src/mpid/ch3/channels/bcl/src/wanted.c \
	src/mpid/ch3/channels/bcl/src/window.c

endif BUILD_CH3_BCL
