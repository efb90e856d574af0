# SPDX-License-Identifier: MIT
# Processes on virtual nodes of this host, which mostly wait for time-outs.
EXTRA_DIST += %D%/interfaces.h %D%/pair.h
fault_tests = %D%/test_wire %D%/test_death %D%/test_threads \
	%D%/test_path %D%/test_room %D%/test_descriptors \
	%D%/test_scribble
lone_tests += $(fault_tests)
check_PROGRAMS += $(fault_tests)

system_tests += %D%/kill_in_send
check_PROGRAMS += %D%/kill_in_send
