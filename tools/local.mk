# SPDX-License-Identifier: MIT
bin_PROGRAMS += %D%/bcl-info
failed = %D%/failed.c %D%/failed.h
measure = %D%/measure.c %D%/measure.h bench/perf_call.c bench/perf_call.h
%C%_bcl_info_SOURCES = %D%/bcl-info.c %D%/info.h %D%/info-collectives.c \
	%D%/info-counters.c %D%/info-paths.c $(failed) $(measure)
%C%_bcl_info_LDADD = $(libbcl_convenience) $(HWLOC_LIBS) $(PMIX_LIBS)

bin_PROGRAMS += %D%/bcl-tune
%C%_bcl_tune_SOURCES = %D%/bcl-tune.c $(failed) $(measure)
%C%_bcl_tune_LDADD = $(libbcl_convenience) $(HWLOC_LIBS) $(PMIX_LIBS)

# The cards in the kernel
bin_PROGRAMS += %D%/bcl-ctl
%C%_bcl_ctl_SOURCES = %D%/bcl-ctl.c %D%/ctl.h %D%/ctl-show.c
%C%_bcl_ctl_LDADD = $(libbcl_convenience) $(HWLOC_LIBS) $(PMIX_LIBS)

# The library on clusters that are simulated
bin_PROGRAMS += %D%/bcl-sim
%C%_bcl_sim_SOURCES = %D%/bcl-sim.c %D%/sim.h %D%/sim-pattern.c \
	%D%/sim-loggp.c %D%/sim-plot.c %D%/sim-port.c %D%/sim-published.c %D%/sim-series.c
%C%_bcl_sim_CPPFLAGS = $(AM_CPPFLAGS) -DPKGDATADIR='"$(pkgdatadir)"'
%C%_bcl_sim_LDADD = libsim.la $(libbcl_convenience) $(HWLOC_LIBS) $(PMIX_LIBS)

# Frames as Wireshark shows them
dist_pkgdata_DATA = %D%/bcl.lua

# Traces held against the rules of the protocol
noinst_LTLIBRARIES += libcheck.la
libcheck_la_SOURCES = %D%/check/flow.c %D%/check/flow.h \
	%D%/check/frame.c %D%/check/frame.h %D%/check/inbound.c \
	%D%/check/link.c %D%/check/outbound.c %D%/check/packet.c \
	%D%/check/packet.h %D%/check/rule_again.c %D%/check/rule_delivery.c \
	%D%/check/rule_frame.c %D%/check/rule_message.c \
	%D%/check/rule_request.c %D%/check/rule_verdict.c %D%/check/rules.c \
	%D%/check/rules.h %D%/check/seal.c %D%/check/seal.h \
	%D%/check/world.c %D%/check/world.h
bin_PROGRAMS += %D%/bcl-check
%C%_bcl_check_SOURCES = %D%/bcl-check.c
%C%_bcl_check_LDADD = libcheck.la libtransport.la
