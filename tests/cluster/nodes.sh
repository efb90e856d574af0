#!/bin/bash
# SPDX-License-Identifier: MIT
# The harness itself: two nodes, two ranks each, under both launchers, as
# namespaces where permitted and as virtual nodes; nothing stays behind.
set -euo pipefail
PATH=${abs_top_srcdir:?}/scripts:$PATH
# shellcheck source=tests/await.bash
. "$abs_top_srcdir/tests/await.bash"

expect() {
	local what=$1 expected=$2 said got
	said=$("${@:3}" 2>&1) || true
	got=$(sed -n '/^node\|^mtu\|^empty/p' <<<"$said" | sort | xargs)
	echo "$what: $got"
	[[ $got == "$expected" ]] || { echo "$said"; return 1; }
}

# Ranks do not end at once: Hydra may get SIGPIPE then, on a loaded machine.
# shellcheck disable=SC2016 # expanded by each rank
{
	pmi='echo "$BCL_NODE:$PMI_RANK/$PMI_SIZE"; sleep 0.3'
	pmix='echo "$BCL_NODE:$PMIX_RANK"'
	named='BCL_NODE=$(hostname)'
}
expect 'virtual, mpiexec' 'node0:0/4 node0:1/4 node1:2/4 node1:3/4' \
	cluster run -v cluster mpiexec 2 sh -c "$pmi"
expect 'virtual, mpirun' 'node0:0 node0:1 node1:2 node1:3' \
	cluster run -v cluster mpirun 2 sh -c "$pmix"

cluster run -r true || exit $?
expect 'namespaces, mpiexec' 'node0:0/4 node0:1/4 node1:2/4 node1:3/4' \
	cluster run cluster mpiexec 2 sh -c "$named; $pmi"
expect 'namespaces, mpirun' 'node0:0 node0:1 node1:2 node1:3' \
	cluster run cluster mpirun 2 sh -c "$named; $pmix"
expect 'IPv6 only, three nodes' 'node0:0/3 node1:1/3 node2:2/3' \
	cluster run -6 -n 3 cluster mpiexec 1 sh -c "$named; $pmi"
expect 'MTU' 'mtu 9000' cluster run -m 9000 \
	cluster on 1 sh -c 'ip link show eth0 | grep -o "mtu [0-9]*"'
expect 'own /dev/shm' 'empty' \
	cluster run sh -c 'cluster on 0 touch /dev/shm/file
		[ -e /dev/shm/file ] || cluster on 1 test -e /dev/shm/file ||
		echo empty'

# Killed without a chance to clean up, it leaves no process.
seconds=9$$
sleeps() {
	local file words
	for file in /proc/[0-9]*/cmdline; do
		mapfile -d '' -t words <"$file" || continue # it has ended
		[[ ${words[*]} != "sleep $seconds" ]] || return 0
	done 2>/dev/null
	return 1
}
no_traces() {
	! grep -qsxz "$seconds" /proc/[0-9]*/cmdline
}
cluster run sleep $seconds &
await 'the harness runs it' sleeps
kill -KILL $!
wait $! || true
await 'no process survives the harness' no_traces
