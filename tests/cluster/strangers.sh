#!/bin/bash
# SPDX-License-Identifier: MIT
# Conditions of a host: what containers forbid, process namespaces, several
# jobs and several users at once. The job goes on, on the path that is left.
set -euo pipefail
PATH=${abs_top_srcdir:?}/scripts:${abs_top_builddir:?}/tests/cluster:$PATH
job=${abs_top_builddir:?}/tests/cluster/job
inside=(+shm.messages_line +core.peers_shared -udp.sendmsg)

# on_host WHAT RANKS COMMAND...
on_host() {
	echo "$1"
	timeout 60 cluster run -v -n 1 cluster mpiexec "${@:2}"
}

on_host 'attach forbidden' 2 without attach -- \
	"$job" "${inside[@]}" +shm.bytes_bounced
on_host 'membarrier forbidden' 2 without membarrier -- \
	"$job" "${inside[@]}" +shm.fences
on_host 'two jobs at once' 2 "$job" "${inside[@]}" &
on_host 'the other' 2 "$job" "${inside[@]}"
wait $!

((EUID == 0)) || { echo 'the rest needs to be root'; exit 77; }
on_host 'a process namespace each' 2 unshare --pid --fork \
	"$job" "${inside[@]}" +shm.bytes_bounced

# The build may lie where another user cannot go.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp "$(type -P "$job")" "$scratch/job"
chmod -R a+rx "$scratch"
on_host 'two users at once' 2 "$job" "${inside[@]}" &
on_host 'the other' 2 setpriv --reuid 65534 --regid 65534 --clear-groups \
	"$scratch/job" "${inside[@]}"
wait $!

cluster run -r true || exit $?
echo 'packet sockets forbidden on one node'
# shellcheck disable=SC2016 # expanded on the node
timeout 60 cluster run -r cluster mpiexec 1 sh -c '
	[ "$(hostname)" = node0 ] || exec "$@"
	exec without packet -- "$@"' - "$job" +udp.sendmsg -packet.received
echo 'two of three nodes have packet rings'
# shellcheck disable=SC2016 # likewise
timeout 60 cluster run -r -n 3 cluster mpiexec 1 sh -c '
	[ "$(hostname)" = node0 ] || exec "$@"
	exec without packet -- "$@"' - "$job" +udp.sendmsg +packet.received \
	-core.peers_lost
echo 'the system knows no segmentation offload'
timeout 60 cluster run -r cluster mpiexec 1 without segment -- \
	"$job" +udp.sendmsg -udp.bursts
