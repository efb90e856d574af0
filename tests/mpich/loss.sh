#!/bin/bash
# SPDX-License-Identifier: MIT
# A rank of MPICH on ch3:bcl is killed, and Hydra does not end the others: what
# they do with it fails, and they go on; over shared memory, over the card, and
# over two nodes with both. loss.c tells more.
set -euo pipefail
# shellcheck source=tests/mpich/program.sh
. "${abs_top_srcdir:?}/tests/mpich/program.sh"
cluster=$abs_top_srcdir/scripts/cluster
mpicc -o "$dir/loss" "$abs_top_srcdir/tests/mpich/loss.c"
export BCL_PEER_TIMEOUT=2s

# Hydra ends all when it sees that a process of its own was killed, so there is a
# shell between them. It may end before the others, and forward nothing of them.
# shellcheck disable=SC2016 # for the rank's shell
rank='trap "" USR1; "$0/loss" "$1" >"$0/out.$PMI_RANK" 2>&1; exit 0'

alive() {
	cat "$dir"/out.* | grep -c 'goes on$'
}

# lose HOW WHAT MPIEXEC...
lose() {
	rm -f "$dir"/out.*
	timeout 60 "${@:3}" -disable-auto-cleanup -n 4 \
		bash -c "$rank" "$dir" "$1" >"$dir/log" 2>&1 || true # what Hydra makes of it
	for ((i = 0; i < 300 && $(alive || true) < 3; i++)); do
		sleep 0.1
	done
	echo "$1, $2: $(alive || true) of 3 go on"
	[[ $(alive) -eq 3 ]] || { cat "$dir/log" "$dir"/out.*; exit 1; }
}

if [[ ${1-} == on-nodes ]]; then
	for how in apart together; do
		lose $how 'two nodes' "$cluster" on 0 mpiexec -launcher ssh \
			-launcher-exec "$cluster" -hosts node0,node1 -ppn 1
	done
	exit
fi
for how in apart together; do
	for shm in on off; do
		BCL_SHM=$shm lose $how "shared memory $shm" mpiexec
	done
done
"$cluster" run -r "$0" on-nodes
