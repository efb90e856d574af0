#!/bin/bash
# SPDX-License-Identifier: MIT
# Jobs of MPICH on ch3:bcl that were started apart connect by a port, and
# start others; over shared memory alone and over the card alone.
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
