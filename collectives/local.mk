# SPDX-License-Identifier: MIT
noinst_LTLIBRARIES += libreduction.la libcollectives.la
libcollectives_la_SOURCES = \
	%D%/agreement.c \
	%D%/agreement.h \
	%D%/allgather.c \
	%D%/allgatherv.c \
	%D%/allreduce.c \
	%D%/alltoall.c \
	%D%/alltoallv.c \
	%D%/arguments.c \
	%D%/arguments.h \
	%D%/attached.c \
	%D%/attached.h \
	%D%/barrier.c \
	%D%/blocking.c \
	%D%/broadcast.c \
	%D%/builders.h \
	%D%/call.c \
	%D%/call.h \
	%D%/calls.c \
	%D%/calls.h \
	%D%/carrier.c \
	%D%/check.c \
	%D%/check.h \
	%D%/circulant.c \
	%D%/circulant.h \
	%D%/compare.c \
	%D%/compare.h \
	%D%/cost.c \
	%D%/cost.h \
	%D%/create.c \
	%D%/direct.c \
	%D%/dissemination.c \
	%D%/dissemination.h \
	%D%/exchange.c \
	%D%/flags.h \
	%D%/gather.c \
	%D%/gatherv.c \
	%D%/group.c \
	%D%/group.h \
	%D%/halving.c \
	%D%/halving_plan.c \
	%D%/halving_plan.h \
	%D%/init.c \
	%D%/intranode.c \
	%D%/layout.c \
	%D%/layout.h \
	%D%/loss.c \
	%D%/loss.h \
	%D%/nic/multileader.c \
	%D%/nic/nic.h \
	%D%/nic/trees.c \
	%D%/nic/trees.h \
	%D%/nic/two_trees.c \
	%D%/node.c \
	%D%/node.h \
	%D%/nonblocking.c \
	%D%/pairs.c \
	%D%/park.c \
	%D%/park.h \
	%D%/persistent.c \
	%D%/persistent.h \
	%D%/pipeline.c \
	%D%/postal.c \
	%D%/postal.h \
	%D%/prefer.c \
	%D%/radix.c \
	%D%/radix.h \
	%D%/reduce.c \
	%D%/reduce_blocks.c \
	%D%/reduce_scatter.c \
	%D%/reorder.c \
	%D%/ring.c \
	%D%/scan.c \
	%D%/scatter.c \
	%D%/schedule.c \
	%D%/schedule.h \
	%D%/select.c \
	%D%/select.h \
	%D%/shift.c \
	%D%/short.h \
	%D%/shrink.c \
	%D%/slots.h \
	%D%/split.c \
	%D%/swap.c \
	%D%/swap.h \
	%D%/team.c \
	%D%/team.h \
	%D%/teams.c \
	%D%/teams.h \
	%D%/tree.c \
	%D%/tuned.c
libcollectives_la_LIBADD = libreduction.la

# Its loops are marked for the compiler to make vector loops of; between
# sanitizers it cannot, and need not say so.
libreduction_la_SOURCES = %D%/reduction.c
libreduction_la_CFLAGS = $(AM_CFLAGS) -fopenmp-simd -ffp-contract=off \
	-Wno-pass-failed
