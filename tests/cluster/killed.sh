#!/bin/bash
# SPDX-License-Identifier: MIT
# Jobs of which every process is killed leave nothing behind where others find
# it, and the next job does not notice that they were there.
set -euo pipefail
if [[ ${1-} != inside ]]; then
	export PATH=${abs_top_srcdir:?}/scripts:$PATH
	export job=${abs_top_builddir:?}/tests/cluster/job
	cluster run -r true || exit $?
	exec timeout 100 cluster run bash "$0" inside
fi

# What is written to a node's /tmp goes to a directory of its own.
for node in 0 1; do
	cluster on $node sh -ec 'mount -t tmpfs tmpfs /mnt
		mkdir /mnt/tmp /mnt/work
		mount -t overlay overlay /tmp \
			-o lowerdir=/tmp,upperdir=/mnt/tmp,workdir=/mnt/work' ||
		{ echo 'no overlay of directories here'; exit 77; }
done
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT

# All that somebody else could find
names() {
	local node
	ipcs -a | grep '^0x' || true
	for node in 0 1; do
		echo "node $node"
		cluster on $node find /mnt/tmp /dev/shm -mindepth 1
		# shellcheck disable=SC2016 # for awk
		cluster on $node awk 'NF > 7 { print $NF }' /proc/net/unix
		cluster on $node sh -c 'tail -qn +2 /proc/net/packet \
			/proc/net/udp /proc/net/udp6'
	done
}

# Those of the processes that have the job's program.
ranks() {
	local link
	for link in /proc/[0-9]*/exe; do
		[[ $(readlink "$link") != "$job" ]] || echo "$link"
	done | cut -d / -f 3
}

names >"$scratch/before"
least=$(($(wc -l <"$scratch/before") + 8))
for pause in 0.1 0.2 0.3; do
	JOB_UNTIL=/never cluster mpiexec 2 "$job" >"$scratch/said" 2>&1 &
	launcher=$!
	for ((try = 0; try < 200; try++)); do
		mapfile -t pids < <(ranks)
		names >"$scratch/during"
		((${#pids[@]} < 4 || $(wc -l <"$scratch/during") < least)) ||
			break
		sleep 0.1
	done
	((try < 200)) || { cat "$scratch/said" "$scratch/during"; exit 1; }
	sleep $pause
	kill -KILL "${pids[@]}"
	! wait $launcher || { echo 'the job ended well'; exit 1; }
	for ((try = 0; try < 300; try++)); do
		names >"$scratch/after"
		! cmp -s "$scratch/before" "$scratch/after" || break
		sleep 0.1
	done
	diff -u --label before --label after "$scratch/before" "$scratch/after"
	echo '4 ranks killed, nothing left'
done
cluster mpiexec 2 "$job" +shm.messages_line +udp.sendmsg -core.peers_lost
