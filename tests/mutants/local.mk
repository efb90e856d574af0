# SPDX-License-Identifier: MIT
# Cards that lack a rule, which storms must catch
system_tests += %D%/storms.sh
EXTRA_DIST += %D%/cards.mutants %D%/nodes.mutants %D%/ranks.mutants \
	%D%/storms.sh %D%/units.mutants
