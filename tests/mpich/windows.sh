#!/bin/bash
# SPDX-License-Identifier: MIT
# Nodes and shared windows of MPICH on ch3:bcl, over two nodes of two ranks,
# virtual ones and namespaces: no message goes for puts and atomics at a
# neighbour, and many for those at another node, as the library's counters say.
set -euo pipefail
# shellcheck source=tests/mpich/program.sh
. "${abs_top_srcdir:?}/tests/mpich/program.sh"
PATH=$abs_top_srcdir/scripts:$PATH
mpicc -o "$dir/windows" "$abs_top_srcdir/tests/mpich/windows.c"

PUTS=2000

# messages CLUSTER-OPTION NEAR|FAR PUTS: how many were sent by all ranks
messages() {
	BCL_STATS=on BCL_LOG=info,stats timeout 60 \
		cluster run "$1" cluster mpiexec 2 "$dir/windows" 2 "$2" "$3" \
		>"$dir/out" 2>&1 || { cat "$dir/out" >&2; return 1; }
	awk '/ (shm\.messages_(line|ring)|udp\.sendmsg|packet\.sends) / {
		for (i = 1; i <= NF; i++)
			if ($i ~ /^[0-9]+$/)
				sum += $i
	} END { print sum + 0 }' "$dir/out"
}

over() {
	local none near far
	none=$(messages "$1" near 0)
	near=$(messages "$1" near $PUTS)
	far=$(messages "$1" far $PUTS)
	echo "$2: $none messages; $((4 * PUTS)) puts to neighbours: $near," \
		"to others: $far"
	((near - none < PUTS && far - none >= 4 * PUTS))
}

over -v 'virtual nodes'
echo 'without shared memory each rank is a node of its own'
BCL_SHM=off timeout 60 mpiexec -n 3 "$dir/windows" 1 far 10
cluster run -r true || exit $?
over -r 'namespaces'
