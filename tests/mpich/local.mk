# SPDX-License-Identifier: MIT
# NAME.mpich: tests of a directory of MPICH's suite; run tells more.
mpich_tests = %D%/attr.mpich %D%/comm.mpich %D%/datatype.mpich \
	%D%/errhan.mpich %D%/group.mpich %D%/info.mpich %D%/init.mpich \
	%D%/pt2pt.mpich %D%/topo.mpich
system_tests += $(mpich_tests) %D%/windows.sh
EXTRA_DIST += %D%/run $(mpich_tests) %D%/windows.c
dist_check_SCRIPTS += %D%/windows.sh
