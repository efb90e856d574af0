# SPDX-License-Identifier: MIT
# For scripts that count the instructions of a program, by callgrind: include
# it with the program's name.
# shellcheck shell=bash
program=${abs_top_builddir:?}/tests/conform/$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

command -v valgrind >/dev/null || { echo 'valgrind is missing'; exit 77; }
grep -q '^CFLAGS = .*-O[23]' "$abs_top_builddir/Makefile" ||
	{ echo 'this build is not optimised'; exit 77; }

# collected [--toggle-collect=FUNCTION] ARGUMENT...
collected() {
	local toggle=()
	[[ $1 != --* ]] || { toggle=("$1"); shift; }
	valgrind --tool=callgrind --callgrind-out-file="$scratch/out" \
		"${toggle[@]}" "$program" "$@" 2>&1 |
		sed -n 's/^.*Collected : \([0-9]*\).*/\1/p'
}
