#!/bin/bash
# SPDX-License-Identifier: MIT
# Instructions of the hot path of shared memory, each with the few of the loop
# around it. The bars leave room for another compiler. Without the helper, whose
# looks go by the clock.
set -euo pipefail
. "${abs_top_srcdir:?}/tests/conform/instructions.bash" cost
export BCL_RAILS=none BCL_HELPER=0

# cost NAME BAR
cost() {
	local less more each
	less=$(collected "$1" 10000)
	more=$(collected "$1" 30000)
	each=$(((more - less) / 20000))
	echo "$1: $each instructions, at most $2"
	((each > 20 && each <= $2))
}

cost empty 80
cost round 185
