#!/bin/bash
# SPDX-License-Identifier: MIT
# The same job over every path that two or more nodes can have; the counters
# say that it was that path.
set -euo pipefail
PATH=${abs_top_srcdir:?}/scripts:$PATH
job=${abs_top_builddir:?}/tests/cluster/job
inside=(+shm.messages_line +core.peers_shared)
# Who has to wait for this has missed that somebody left, and runs out of time.
export BCL_PEER_TIMEOUT=30min
if [[ ${1-} == inside ]]; then
	scratch=$(mktemp -d)
	trap 'rm -r "$scratch"' EXIT
	# shellcheck source=tests/cluster/running.bash
	. "$abs_top_srcdir/tests/cluster/running.bash"
	interrupt eth0 2 "${inside[@]}" +udp.sendmsg
	exit
fi

# over WHAT CLUSTER-OPTION... -- RANKS EXPECTATION...
over() {
	local what=$1 options=() launcher=${launcher:-mpiexec}
	shift
	while [[ $1 != -- ]]; do
		options+=("$1")
		shift
	done
	echo "$what"
	timeout 60 cluster run "${options[@]}" cluster "$launcher" "$2" \
		"$job" "${@:3}"
}

over 'virtual nodes' -v -- 2 "${inside[@]}" +udp.sendmsg
launcher=mpirun over 'virtual nodes, PMIx' -v -- 2 "${inside[@]}" +udp.sendmsg
cluster run -r true || exit $?

over 'namespaces' -- 2 "${inside[@]}" +udp.sendmsg +udp.bursts \
	+packet.received
launcher=mpirun over 'PMIx' -- 2 "${inside[@]}" +udp.sendmsg
over 'IPv6 only' -6 -- 2 "${inside[@]}" +udp.sendmsg
# 13 MB
over 'MTU 1500' -m 1500 -- 1 -core.peers_shared '>card.frames_sent=8000'
over 'MTU 9000' -m 9000 -- 1 -core.peers_shared '<card.frames_sent=8000'
over 'interfaces without offload' -o -m 1500 -- 1 +udp.sendmsg
over 'four nodes on a bridge' -n 4 -- 2 "${inside[@]}" +udp.sendmsg
over '/dev/shm of 64 MB, 16 ranks' -n 1 -s 64m -- 16 "${inside[@]}" -udp.sendmsg
for ranks in 4 8; do
	over "$ranks ranks on each of two nodes" -- $ranks "${inside[@]}" \
		+packet.received
done
BCL_RAILS=udp over 'UDP only' -- 1 +udp.sendmsg -packet.sends
BCL_RAILS=packet over 'packet rings only' -- 1 +packet.received -udp.sendmsg
BCL_OFFLOAD=off over 'offload not used' -- 1 +udp.sendmsg -udp.bursts
BCL_SHM=off over 'no shared memory' -- 2 -shm.messages_ring \
	-shm.messages_line +core.peers_fallback +udp.sendmsg
BCL_ATTACH=off over 'no attach' -- 2 "${inside[@]}" +shm.bytes_bounced
BCL_PCRC=off over 'checksum of headers only' -- 1 +udp.sendmsg -udp.staged

echo 'an interface goes down and up'
timeout 60 cluster run bash "$0" inside
