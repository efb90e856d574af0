# SPDX-License-Identifier: MIT
# Code that runs inside a kernel, in guests.
vm_scripts = %D%/again.sh %D%/core.sh %D%/cost.sh %D%/crowd.sh %D%/guests.sh %D%/hostile.sh \
	%D%/install.sh %D%/kmod.sh %D%/library.sh
vm_long = %D%/four.sh %D%/kasan.sh %D%/newest.sh
lone_tests += $(vm_scripts)
long_tests += $(vm_long)
dist_check_SCRIPTS += $(vm_scripts) $(vm_long)
check_PROGRAMS += %D%/cost %D%/ranks
EXTRA_DIST += %D%/admin.c %D%/again.c %D%/cache.c %D%/copy.c %D%/core.c %D%/fail.c %D%/fuzz.c %D%/fuzz.h \
	%D%/fuzz_calls.c %D%/fuzz_frames.c %D%/greedy.c %D%/guest.sh %D%/hostile.c \
	%D%/kmod.c %D%/kmod_user.h %D%/limits.c %D%/pins.c %D%/slow.c %D%/unmap.c %D%/veth.c %D%/wire.c \
	%D%/check/assert.h %D%/check/check.h %D%/check/stdbool.h \
	%D%/check/stdio.h %D%/check/stdlib.h %D%/check/string.h
# It builds a kernel.
%D%/kasan.log: TEST_SECONDS = 2400
# In the long tier it boots 53 guests.
%D%/again.log: TEST_SECONDS = 1200
distclean-local:
	rm -rf %D%/kernel
