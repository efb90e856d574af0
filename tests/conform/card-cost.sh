#!/bin/bash
# SPDX-License-Identifier: MIT
# Instructions of a short message between nodes, without those of the system.
# The bars leave room for another compiler.
set -euo pipefail
. "${abs_top_srcdir:?}/tests/conform/instructions.bash" card-cost
export BCL_RAILS=udp BCL_NET=lo BCL_HELPER=0

# cost FUNCTION BAR
cost() {
	local less more each
	less=$(collected --toggle-collect="$1*" 1000)
	more=$(collected --toggle-collect="$1*" 5000)
	each=$(((more - less) / 4000))
	echo "$1: $each instructions, at most $2"
	((each > 100 && each <= $2))
}

cost say 2100
cost hear 1800
