#!/bin/bash
# SPDX-License-Identifier: MIT
# Instructions of the hot path of shared memory, each with the few of the loop
# around it. The bars leave room for another compiler.
set -euo pipefail
program=${abs_top_builddir:?}/tests/conform/cost
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export BCL_RAILS=none

command -v valgrind >/dev/null || { echo 'valgrind is missing'; exit 77; }
grep -q '^CFLAGS = .*-O[23]' "$abs_top_builddir/Makefile" ||
	{ echo 'this build is not optimised'; exit 77; }

collected() {
	valgrind --tool=callgrind --callgrind-out-file="$scratch/out" \
		"$program" "$@" 2>&1 |
		sed -n 's/^.*Collected : \([0-9]*\).*/\1/p'
}

# cost NAME BAR
cost() {
	local less more each
	less=$(collected "$1" 10000)
	more=$(collected "$1" 30000)
	each=$(((more - less) / 20000))
	echo "$1: $each instructions, at most $2"
	((each > 20 && each <= $2))
}

cost empty 75
cost round 160
