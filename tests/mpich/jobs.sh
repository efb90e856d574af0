#!/bin/bash
# SPDX-License-Identifier: MIT
# Jobs of MPICH on ch3:bcl that were started apart connect by a port, and
# start others; over shared memory alone and over the card alone. Without
# mpiexec they can do neither, and say so.
set -euo pipefail
# shellcheck source=tests/mpich/program.sh
. "${abs_top_srcdir:?}/tests/mpich/program.sh"
mpicc -o "$dir/jobs" "$abs_top_srcdir/tests/mpich/jobs.c"

run() {
	timeout 60 mpiexec -n 2 "$dir/jobs" "$@"
}

over() {
	rm -f "$dir/port"
	run serve "$dir/port" &
	run call "$dir/port"
	wait $!
	run spawn
	echo "$1: jobs meet"
}

BCL_RAILS=none over 'shared memory'
BCL_SHM=off over card

for what in spawn "serve $dir/port" "call $dir/port"; do
	# shellcheck disable=SC2086 # several words
	timeout 60 "$dir/jobs" $what >"$dir/out" 2>&1 || true
	grep -o 'without mpiexec can neither spawn nor connect' "$dir/out" || {
		cat "$dir/out"
		exit 1
	}
done
