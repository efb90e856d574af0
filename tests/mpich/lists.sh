#!/bin/bash
# SPDX-License-Identifier: MIT
# What the channel does for MPI_Gatherv() and its like, which have lists of blocks,
# beside the library: it takes few instructions and allocates nothing. The bars
# leave room for another compiler.
set -euo pipefail
# shellcheck source=tests/mpich/program.sh
. "${abs_top_srcdir:?}/tests/mpich/program.sh"
command -v valgrind >/dev/null || { echo 'no valgrind'; exit 77; }
mpicc -o "$dir/lists" "$abs_top_srcdir/tests/mpich/lists.c"
calls=1000

# count OPERATION: instructions of both ranks in libmpi, and calls of malloc() by
# libmpi and libbcl
count() {
	rm -f "$dir"/calls.*
	timeout 100 mpiexec -n 2 valgrind -q --tool=callgrind \
		--compress-strings=no --toggle-collect="bcl_ch3_$1" \
		--callgrind-out-file="$dir/calls.%p" \
		"$dir/lists" "$1" $calls || exit 1
	awk -v calls=$calls '
		/^ob=/ { mpi = /libmpi/; ours = mpi || /libbcl/ }
		/^cfn=/ { callee = $0 }
		/^calls=/ {
			if (ours && callee == "cfn=malloc")
				allocated += substr($1, 7)
			getline # what the call took
			next
		}
		/^[0-9+*-]/ && mpi { instructions += $NF }
		END { print int(instructions / calls), allocated + 0 }' \
		"$dir"/calls.*
}

failed=0
# bar OPERATION BAR
bar() {
	local instructions allocated
	read -r instructions allocated < <(count "$1")
	echo "$1: $instructions instructions, at most $2;" \
		"$allocated allocations in $calls calls"
	((instructions > 100 && instructions <= $2 && allocated < calls / 10)) ||
		failed=1
}
bar gatherv 640
bar scatterv 640
bar allgatherv 810
bar alltoallv 1120
exit $failed
