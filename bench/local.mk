# SPDX-License-Identifier: MIT
# bcl-perf: an engine that asks processes for figures, and the ranks it asks.

perf_engine = %D%/perf_stat.c %D%/perf_stat.h \
	%D%/perf_source.c %D%/perf_source.h %D%/perf_place.c %D%/perf_place.h \
	%D%/perf_plan.c %D%/perf_plan.h %D%/perf_run.c %D%/perf_run.h \
	%D%/perf_launch.h

bin_PROGRAMS += %D%/bcl-perf
%C%_bcl_perf_SOURCES = $(perf_engine) \
	%D%/perf.c %D%/perf_launch.c %D%/perf_report.c %D%/perf_report.h \
	%D%/perf_rank.c %D%/perf_rank.h %D%/perf_message.c %D%/perf_bulk.c \
	%D%/perf_loggp.c %D%/perf_collective.c \
	%D%/perf_call.c %D%/perf_call.h %D%/perf_wait.c $(ref_frame)
%C%_bcl_perf_CPPFLAGS = $(AM_CPPFLAGS) -DPKGLIBEXECDIR='"$(pkglibexecdir)"'
%C%_bcl_perf_LDADD = $(LDADD) -lm

# The builtin reductions beside the same loops without vectors
noinst_PROGRAMS += %D%/reduction
noinst_LTLIBRARIES += libreduction_plain.la
libreduction_plain_la_SOURCES = collectives/reduction.c
libreduction_plain_la_CPPFLAGS = $(AM_CPPFLAGS) -Dbcl_reduction=plain_reduction
libreduction_plain_la_CFLAGS = $(AM_CFLAGS) -ffp-contract=off \
	-fno-tree-vectorize -Wno-unknown-pragmas
%C%_reduction_LDADD = libreduction.la libreduction_plain.la

# MPICH on ch3:bcl beside other MPIs, whose compilers compile the rank
EXTRA_DIST += %D%/mpi-compare %D%/mpi/counts.c %D%/mpi/rank.c %D%/mpi/loop.c \
	%D%/mpi/loop.h %D%/mpi/collective.c %D%/mpi/collective.h %D%/mpi/coll.c

# PVM's own routes beside the glue
EXTRA_DIST += %D%/pvm-compare %D%/pvm/bars.awk
if PVM
noinst_PROGRAMS += %D%/pvm/task
%C%_pvm_task_LDADD = -lgpvm3 -lpvm3
endif

# What both make of their samples
EXTRA_DIST += %D%/compare/report.awk %D%/compare/report.bash

# A page of what the programs above have left in the build directory
EXTRA_DIST += %D%/report %D%/compare/chart.awk %D%/compare/page.awk \
	%D%/compare/page.css %D%/compare/perf.awk
bench-report:
	$(srcdir)/bench/report --output=bench-report . mpi-compare \
		mpi-collectives pvm-compare
.PHONY: bench-report

# Published figures, held against a simulated cluster
EXTRA_DIST += %D%/published.csv %D%/reproduce %D%/results
