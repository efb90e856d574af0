# SPDX-License-Identifier: MIT
# NAME.mpich: tests of a directory of MPICH's suite; run tells more.
mpich_tests = %D%/coll.mpich %D%/comm.mpich %D%/datatype.mpich \
	%D%/errors.mpich %D%/init.mpich %D%/pt2pt.mpich %D%/rma.mpich \
	%D%/spawn.mpich %D%/threads.mpich %D%/topo.mpich
# Of what is MPICH's own, and not the channel's
mpich_long = %D%/attr.mpich %D%/errhan.mpich %D%/group.mpich %D%/impls.mpich \
	%D%/info.mpich %D%/mpi_t.mpich
mpich_nodes = %D%/nodes/coll.mpich %D%/nodes/pt2pt.mpich %D%/nodes/rma.mpich
mpich_scripts = %D%/abi.sh %D%/blocked.sh %D%/busy.sh %D%/cancel.sh \
	%D%/collectives.sh %D%/copies.sh %D%/direct.sh %D%/graft.sh %D%/installed.sh \
	%D%/jobs.sh %D%/kernel.sh %D%/lists.sh %D%/long.sh %D%/loss.sh %D%/made.sh %D%/nodes.sh %D%/order.sh \
	%D%/packets.sh %D%/placement.sh %D%/programs.sh %D%/revoke.sh \
	%D%/settings.sh %D%/short.sh %D%/valgrind.sh %D%/verdicts.sh %D%/version.sh \
	%D%/windows.sh
system_tests += $(mpich_tests) $(mpich_scripts)
long_tests += $(mpich_long) %D%/guests.sh
EXTRA_DIST += %D%/run %D%/program.sh $(mpich_tests) $(mpich_long) $(mpich_nodes) \
	%D%/abi.c %D%/abi.f90 %D%/beside.c %D%/blocked.c %D%/blocks.h %D%/busy.c %D%/cancel.c %D%/check.h \
	%D%/collectives.c \
	%D%/copies.c %D%/counter.h %D%/direct.c %D%/jobs.c %D%/lists.c %D%/long.c %D%/loss.c \
	%D%/nonblocking.c \
	%D%/order.c %D%/packets.c %D%/persistent.c %D%/pingpong.c %D%/placement.c \
	%D%/reductions.c %D%/requests.c %D%/revoke.c %D%/settings.c %D%/short.c \
	%D%/windows.c
dist_check_SCRIPTS += $(mpich_scripts) %D%/guests.sh
