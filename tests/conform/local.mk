# SPDX-License-Identifier: MIT
# The tree, the headers and what is installed, as promised.
conform_scripts = %D%/style.sh %D%/headers.sh %D%/man.sh %D%/freestanding.sh \
	%D%/glossary.sh %D%/mutants.sh %D%/references.sh %D%/verification.sh \
	%D%/bench.sh %D%/choices.sh %D%/documents.sh %D%/ours.sh \
	%D%/reproduction.sh %D%/scale.sh %D%/sim.sh %D%/tiers.sh %D%/floors.sh \
	%D%/prose.sh
lone_tests += $(conform_scripts)
dist_check_SCRIPTS += $(conform_scripts)

EXTRA_DIST += %D%/cost.h %D%/installed.bash \
	%D%/instructions.bash
check_PROGRAMS += %D%/boot-rank %D%/calls %D%/card-cost %D%/cost
call_scripts = %D%/calls.sh %D%/examples.sh %D%/info.sh %D%/mistakes.sh \
	%D%/install.sh %D%/tune.sh
system_tests += $(call_scripts)
count_scripts = %D%/boot.sh %D%/card-cost.sh %D%/cost.sh %D%/ctl.sh %D%/dissector.sh \
	%D%/setup.sh
lone_tests += $(count_scripts)
dist_check_SCRIPTS += $(call_scripts) $(count_scripts)

check_PROGRAMS += %D%/adi %D%/adi-cost %D%/coll-cost
%C%_adi_SOURCES = %D%/adi.c $(adi_traffic)
system_tests += %D%/adi.sh
lone_tests += %D%/adi-cost.sh %D%/coll-cost.sh
dist_check_SCRIPTS += %D%/adi.sh %D%/adi-cost.sh %D%/coll-cost.sh

check_PROGRAMS += %D%/beyond_4_gb
system_tests += %D%/beyond_4_gb
%C%_beyond_4_gb_SOURCES = %D%/beyond_4_gb.c $(ranks)
