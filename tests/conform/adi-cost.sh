#!/bin/bash
# SPDX-License-Identifier: MIT
# Instructions of the ADI per message: matching costs the same at 10 and at
# 10,000 receives or messages, a lone receive less, and the way of 8 bytes
# stays short.
set -euo pipefail
. "${abs_top_srcdir:?}/tests/conform/instructions.bash" adi-cost
export BCL_RAILS=none BCL_HELPER=0
unset PMI_FD PMI_PORT PMIX_RANK BCL_NODE

# each CASE N: tenths of instructions per round
each() {
	local less more
	less=$(collected "$1" "$2" 20000)
	more=$(collected "$1" "$2" 40000)
	echo $(((more - less) / 2000))
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
path posted 400
path kept 720
exit $failed
