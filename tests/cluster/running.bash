# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# For scripts on the nodes of a cluster that do something to a job while it is
# under way: include it with $job and $scratch set.

# shellcheck source=tests/await.bash
. "${abs_top_srcdir:?}/tests/await.bash"

# counted COUNTER: by a rank that is under way
counted() {
	local pid
	for pid in $(pidof "${job:?}"); do
		! "${abs_top_builddir:?}/tools/bcl-info" --pid "$pid" 2>&1 |
			grep -Eq "^ *[1-9][0-9]* $1 " || return 0
	done
	return 1
}

# interrupt INTERFACE RANKS EXPECTATION...: of node 1, which goes down and up
# under a job of so many ranks a node, who notice it
interrupt() {
	rm -f "${scratch:?}/ended"
	JOB_UNTIL=$scratch/ended cluster mpiexec "$2" "$job" "${@:3}" \
		+card.rails_lost &
	await 'the job is under way' counted udp.bursts
	cluster on 1 ip link set "$1" down
	await 'the loss is noticed' counted card.rails_lost
	cluster on 1 ip link set "$1" up
	[[ $1 != eth0 ]] ||
		cluster on 1 ip address add fd77::2/64 dev "$1" nodad
	sleep 1
	touch "$scratch/ended"
	wait $!
}
