#!/bin/bash
# SPDX-License-Identifier: MIT
# Instructions of the ADI per message: matching costs the same at 10 and at
# 10,000 receives or messages, a lone receive less, and the way of 8 bytes
# stays short. The bars leave room for another compiler.
set -euo pipefail
. "${abs_top_srcdir:?}/tests/conform/instructions.bash" adi-cost
export BCL_RAILS=none BCL_HELPER=0
unset PMI_FD PMI_PORT PMIX_RANK BCL_NODE

# each [--toggle-collect=FUNCTION] CASE N: tenths of instructions per round
each() {
	local less more
	less=$(collected "$@" 20480)
	more=$(collected "$@" 40960)
	echo $(((more - less) / 2048))
}

failed=0
for case in messages receives; do
	few=$(each $case 10)
	many=$(each $case 10000)
	echo "$case: $((few / 10)).$((few % 10)) instructions at 10," \
		"$((many / 10)).$((many % 10)) at 10000"
	((few > 100 && many * 10 <= few * 12)) || failed=1
done
one=$(each $case 1)
echo "$case: $((one / 10)).$((one % 10)) instructions at 1"
((one > 100 && one * 2 <= few)) || failed=1

transport=$(each transport 0)
# path CASE BAR: beyond what the transport takes
path() {
	local cost=$(($(each "$1" 0) - transport))
	echo "$1: $((cost / 10)) instructions above the transport's" \
		"$((transport / 10)), at most $2"
	((cost > 0 && cost <= $2 * 10)) || failed=1
}
path posted 390
path kept 700

# whole NAME BAR [--toggle-collect=FUNCTION] CASE N: both sides, all floors
whole() {
	local cost
	cost=$(each "${@:3}")
	echo "$1: $((cost / 10)) instructions, at most $2"
	((cost > 1000 && cost <= $2 * 10)) || failed=1
}
whole blocking 440 '--toggle-collect=pass*' blocking 0
whole window 380 window 0
whole 'packet of 24 bytes' 430 '--toggle-collect=hand*' packets 0
whole 'of 24 and 64' 620 '--toggle-collect=hand*' packets 64
whole 'of 24 and 1000' 870 '--toggle-collect=hand*' packets 1000
whole 'packet of a word' 370 '--toggle-collect=hand*' words 0
whole 'of a word and 1000' 790 '--toggle-collect=hand*' words 1000
exit $failed
