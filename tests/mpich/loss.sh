#!/bin/bash
# SPDX-License-Identifier: MIT
# A rank of MPICH on ch3:bcl is killed, and Hydra does not end the others: what
# they do with it fails, and they go on; over shared memory and over the card.
set -euo pipefail
# shellcheck source=tests/mpich/program.sh
. "${abs_top_srcdir:?}/tests/mpich/program.sh"
mpicc -o "$dir/loss" "$abs_top_srcdir/tests/mpich/loss.c"
export BCL_PEER_TIMEOUT=2s

# After a death Hydra may end before the others, and forward nothing of them.
# shellcheck disable=SC2016 # for the rank's shell
rank='exec "$0/loss" >"$0/out.$PMI_RANK" 2>&1'

alive() {
	cat "$dir"/out.* | grep -c 'goes on$'
}

for shm in on off on off; do
	rm -f "$dir"/out.*
	BCL_SHM=$shm timeout 60 mpiexec -disable-auto-cleanup -n 4 \
		bash -c "$rank" "$dir" >"$dir/log" 2>&1 || true # it was killed
	for ((i = 0; i < 300 && $(alive || true) < 3; i++)); do
		sleep 0.1
	done
	echo "shared memory $shm: $(alive || true) of 3 go on"
	[[ $(alive) -eq 3 ]] || { cat "$dir/log" "$dir"/out.*; exit 1; }
done
