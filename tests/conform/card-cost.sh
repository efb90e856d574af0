#!/bin/bash
# SPDX-License-Identifier: MIT
# Instructions of a short message between nodes, without those of the system.
# The bars leave room for another compiler.
set -euo pipefail
program=${abs_top_builddir:?}/tests/conform/card-cost
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export BCL_RAILS=udp BCL_NET=lo BCL_HELPER=0

command -v valgrind >/dev/null || { echo 'valgrind is missing'; exit 77; }
grep -q '^CFLAGS = .*-O[23]' "$abs_top_builddir/Makefile" ||
	{ echo 'this build is not optimised'; exit 77; }

# collected FUNCTION N
collected() {
	valgrind --tool=callgrind --callgrind-out-file="$scratch/out" \
		--toggle-collect="$1*" "$program" "$2" 2>&1 |
		sed -n 's/^.*Collected : \([0-9]*\).*/\1/p'
}

# cost FUNCTION BAR
cost() {
	local less more each
	less=$(collected "$1" 1000)
	more=$(collected "$1" 5000)
	each=$(((more - less) / 4000))
	echo "$1: $each instructions, at most $2"
	((each > 100 && each <= $2))
}

cost say 3150
cost hear 3150
