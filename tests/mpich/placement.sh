#!/bin/bash
# SPDX-License-Identifier: MIT
# Hydra puts ranks on nodes and binds them to cores as it is asked, and those of
# a node share memory: placement.c tells more.
set -euo pipefail
# shellcheck source=tests/mpich/program.sh
. "${abs_top_srcdir:?}/tests/mpich/program.sh"
cluster=$abs_top_srcdir/scripts/cluster
if [[ ${1-} != on-nodes ]]; then
	exec timeout 60 "$cluster" run -r "$0" on-nodes
fi
mpicc -o "$dir/placement" "$abs_top_srcdir/tests/mpich/placement.c"

# place OPTION...: of Hydra
place() {
	"$cluster" on 0 mpiexec -launcher ssh -launcher-exec "$cluster" \
		-hosts node0,node1 "$@" "$dir/placement" >"$dir/placed"
	echo "$*"
	cat "$dir/placed"
}

# expect LINE...: rank, node, neighbours
expect() {
	diff <(printf '%s\n' "$@") <(cut -d ' ' -f 1-3 "$dir/placed")
}

place -n 4 -ppn 2
expect '0 node0 0,1' '1 node0 0,1' '2 node1 2,3' '3 node1 2,3'
place -n 4 -ppn 1
expect '0 node0 0,2' '1 node1 1,3' '2 node0 0,2' '3 node1 1,3'
place -n 4 -ppn 3
expect '0 node0 0,1,2' '1 node0 0,1,2' '2 node0 0,1,2' '3 node1 3'

# Both nodes have the processors of this host. A core is what the processor of
# that number shares with others.
core() {
	cat "/sys/devices/system/cpu/cpu${1%%[,-]*}/topology/thread_siblings_list"
}

place -n 4 -ppn 2 -bind-to core
expect '0 node0 0,1' '1 node0 0,1' '2 node1 2,3' '3 node1 2,3'
read -ra bound < <(cut -d ' ' -f 4 "$dir/placed" | xargs)
for processors in "${bound[@]}"; do
	[[ $processors == "$(core "$processors")" ]]
done
[[ "${bound[0]} ${bound[1]}" == "${bound[2]} ${bound[3]}" ]]
cores=$(cat /sys/devices/system/cpu/cpu*/topology/thread_siblings_list |
	sort -u | wc -l)
((cores == 1)) || [[ ${bound[0]} != "${bound[1]}" ]]
