#!/bin/bash
# SPDX-License-Identifier: MIT
# A rank of MPICH on ch3:bcl is killed, and Hydra does not end the others: what
# they do with it fails within BCL_PEER_TIMEOUT, and they go on; over shared
# memory, over the card, and over two nodes with both. loss.c tells more.
set -euo pipefail
# shellcheck source=tests/mpich/program.sh
. "${abs_top_srcdir:?}/tests/mpich/program.sh"
cluster=$abs_top_srcdir/scripts/cluster
mpicc -o "$dir/loss" "$abs_top_srcdir/tests/mpich/loss.c"
configured=4 # s
export BCL_PEER_TIMEOUT=${configured}s

# Hydra ends all when it sees that a process of its own was killed, so there is a
# shell between them. It may end before the others, and forward nothing of them.
# shellcheck disable=SC2016 # for the rank's shell
rank='trap "" USR1; "$0/loss" "$1" >"$0/out.$PMI_RANK" 2>&1; exit 0'

said() {
	sed -n "s/^$1 //p" "$dir"/out.*
}

alive() {
	said 'loss: rank [0-9]' | grep -c 'goes on$' || true
}

# lose HOW SECONDS WHAT MPIEXEC...: within so many seconds all have failed.
lose() {
	local i ends failed
	for ((i = 0; i < 4; i++)); do
		: >"$dir/out.$i"
	done
	timeout 60 "${@:4}" -disable-auto-cleanup -n 4 \
		bash -c "$rank" "$dir" "$1" >"$dir/log" 2>&1 &
	for ((i = 0; i < 500 && $(alive) < 3; i++)); do
		sleep 0.1
	done
	[[ $1 != silent ]] || kill -KILL "$(said process)" || true
	wait $! || true # what Hydra makes of it
	ends=$(said ends)
	failed=$(said failed | sort -n | tail -n 1)
	echo "$1, $3: $(alive) of 3 go on, $((failed - ends)) ms later"
	[[ $(alive) -eq 3 && $((failed - ends)) -le $(($2 * 1000)) ]] ||
		{ cat "$dir/log" "$dir"/out.*; exit 1; }
}

if [[ ${1-} == on-nodes ]]; then
	for how in apart together; do
		lose $how $configured 'two nodes' "$cluster" on 0 mpiexec \
			-launcher ssh -launcher-exec "$cluster" \
			-hosts node0,node1 -ppn 1
	done
	exit
fi
for how in apart together; do
	for shm in on off; do
		BCL_SHM=$shm lose $how $configured "shared memory $shm" mpiexec
	done
done
# Of one that is there but says nothing only the time tells, and who was kept
# from running for long counts anew. In shared memory it may be computing.
BCL_SHM=off lose silent $((2 * configured)) 'shared memory off' mpiexec
"$cluster" run -r "$0" on-nodes
