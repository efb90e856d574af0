# SPDX-License-Identifier: MIT
# The references that figures are compared with; none links the library.

ref_frame = %D%/ref.c %D%/ref.h
ref_pingpong = $(ref_frame) %D%/pingpong.c %D%/pingpong.h

pkglibexec_PROGRAMS += %D%/ref-line %D%/ref-memcpy %D%/ref-attach \
	%D%/ref-udp %D%/ref-ring %D%/ref-udp-stream %D%/ref-tcp \
	%D%/ref-yield %D%/ref-wake

%C%_ref_line_SOURCES = %D%/line.c $(ref_frame)
%C%_ref_line_LDADD =
%C%_ref_memcpy_SOURCES = %D%/memcpy.c $(ref_frame)
%C%_ref_memcpy_LDADD =
%C%_ref_attach_SOURCES = %D%/attach.c $(ref_frame)
%C%_ref_attach_LDADD =
%C%_ref_udp_SOURCES = %D%/udp.c $(ref_pingpong)
%C%_ref_udp_LDADD =
%C%_ref_ring_SOURCES = %D%/ring.c $(ref_pingpong)
%C%_ref_ring_LDADD =
%C%_ref_udp_stream_SOURCES = %D%/stream.c $(ref_pingpong)
%C%_ref_udp_stream_LDADD =
%C%_ref_tcp_SOURCES = %D%/tcp.c $(ref_pingpong)
%C%_ref_tcp_LDADD =
%C%_ref_yield_SOURCES = %D%/yield.c $(ref_frame)
%C%_ref_yield_LDADD =
%C%_ref_wake_SOURCES = %D%/wake.c $(ref_frame)
%C%_ref_wake_LDADD =

# Where bcl-perf looks for it before it is installed.
all-local: %D%/cluster
%D%/cluster: scripts/cluster
	$(AM_V_GEN)$(MKDIR_P) %D% && \
	$(LN_S) -f $(abs_top_srcdir)/scripts/cluster $@
CLEANFILES += %D%/cluster
