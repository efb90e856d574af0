#!/bin/bash
# SPDX-License-Identifier: MIT
# Two nodes with two interfaces: long messages take both at once, as what the
# system counts for each says, the trace keeps the rules, and one may go away.
set -euo pipefail
if [[ ${1-} != inside ]]; then
	export PATH=${abs_top_srcdir:?}/scripts:$PATH
	export job=${abs_top_builddir:?}/tests/cluster/job
	export tools=$abs_top_builddir/tools
	cluster run -r true || exit $?
	exec timeout 100 cluster run -2 bash "$0" inside
fi
export BCL_PEER_TIMEOUT=30min
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT

sent() {
	cluster on 0 cat "/sys/class/net/$1/statistics/tx_bytes"
}

echo 'bcl-info shows both'
cluster on 0 "$tools/bcl-info" >"$scratch/info"
for interface in eth0 eth1; do
	grep "^rail .*udp.* $interface" "$scratch/info" ||
		{ cat "$scratch/info"; exit 1; }
done
if grep '^rail .*no ' "$scratch/info"; then
	echo 'bcl-info says that there is none'
	exit 1
fi

echo 'both carry their share'
first=$(sent eth0) second=$(sent eth1)
BCL_TRACE=$scratch/t.pcapng cluster mpiexec 1 "$job" \
	-core.peers_shared +udp.bursts
first=$(($(sent eth0) - first)) second=$(($(sent eth1) - second))
echo "eth0: $first bytes, eth1: $second"
((first * 5 > second && second * 5 > first))
"$tools/bcl-check" "$scratch"/t-*.pcapng

echo 'one goes down and up'
{
	sleep 1
	cluster on 1 ip link set eth1 down
	sleep 1
	cluster on 1 ip link set eth1 up
} &
JOB_SECONDS=3 cluster mpiexec 1 "$job" -core.peers_shared +udp.bursts \
	+card.rails_lost
wait $!
