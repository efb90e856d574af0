# SPDX-License-Identifier: MIT
# The tree, the headers and what is installed, as promised.
conform_scripts = %D%/style.sh %D%/headers.sh %D%/install.sh %D%/man.sh \
	%D%/freestanding.sh %D%/mutants.sh %D%/references.sh \
	%D%/setup.sh %D%/verification.sh
system_tests += $(conform_scripts)
dist_check_SCRIPTS += $(conform_scripts)

EXTRA_DIST += %D%/cost.h %D%/instructions.bash
check_PROGRAMS += %D%/boot-rank %D%/calls %D%/card-cost %D%/cost
system_tests += %D%/boot.sh %D%/calls.sh %D%/card-cost.sh %D%/cost.sh \
	%D%/dissector.sh %D%/info.sh %D%/ours.sh %D%/reproduction.sh \
	%D%/scale.sh %D%/sim.sh
dist_check_SCRIPTS += %D%/boot.sh %D%/calls.sh %D%/card-cost.sh \
	%D%/cost.sh %D%/dissector.sh %D%/info.sh %D%/ours.sh \
	%D%/reproduction.sh %D%/scale.sh %D%/sim.sh

check_PROGRAMS += %D%/adi %D%/adi-cost
%C%_adi_SOURCES = %D%/adi.c $(adi_traffic)
system_tests += %D%/adi.sh %D%/adi-cost.sh
dist_check_SCRIPTS += %D%/adi.sh %D%/adi-cost.sh

check_PROGRAMS += %D%/beyond_4_gb
system_tests += %D%/beyond_4_gb
%C%_beyond_4_gb_SOURCES = %D%/beyond_4_gb.c $(ranks)
