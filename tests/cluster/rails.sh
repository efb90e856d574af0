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
# shellcheck source=tests/cluster/running.bash
. "${abs_top_srcdir:?}/tests/cluster/running.bash"

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

# Of what node 0 has sent meanwhile, a job's messages at least
carry_their_share() {
	local eth0 eth1
	eth0=$(($(sent eth0) - first)) eth1=$(($(sent eth1) - second))
	((eth0 + eth1 > 5000000 && eth0 * 5 > eth1 && eth1 * 5 > eth0)) ||
		return
	echo "eth0: $eth0 bytes, eth1: $eth1"
}

echo 'both carry their share'
first=$(sent eth0) second=$(sent eth1)
BCL_TRACE=$scratch/t.pcapng JOB_UNTIL=$scratch/ended \
	cluster mpiexec 1 "$job" -core.peers_shared +udp.bursts &
await 'both carry their share' carry_their_share
touch "$scratch/ended"
wait $!
"$tools/bcl-check" "$scratch"/t-*.pcapng

echo 'one goes down and up'
interrupt eth1 1 -core.peers_shared +udp.bursts
