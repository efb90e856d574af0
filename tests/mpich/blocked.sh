#!/bin/bash
# SPDX-License-Identifier: MIT
# Ranks that wait leave the processors to others, inside a node and between two,
# also where they are more than the processors: blocked.c tells more.
set -euo pipefail
# shellcheck source=tests/mpich/program.sh
. "${abs_top_srcdir:?}/tests/mpich/program.sh"
PATH=$abs_top_srcdir/scripts:$PATH
mpicc -o "$dir/blocked" "$abs_top_srcdir/tests/mpich/blocked.c"
many=$((2 * $(nproc) + 1))
((many < 9)) || many=9

inside=$many between=1
[[ ! ${LONG-} ]] || inside="2 $many" between="1 $many"

for threads in 0 2; do
	for ranks in $inside; do
		timeout 60 mpiexec -n "$ranks" "$dir/blocked" $threads
	done
	for ranks in $between; do
		timeout 60 cluster run cluster mpiexec "$ranks" \
			"$dir/blocked" $threads
	done
done
