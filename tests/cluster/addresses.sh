#!/bin/bash
# SPDX-License-Identifier: MIT
# Nodes of which not every address reaches the other: another network on which
# both have the same one, addresses of another family, several networks. The job
# finds the way, over what is left.
set -euo pipefail
PATH=${abs_top_srcdir:?}/scripts:$PATH
job=${abs_top_builddir:?}/tests/cluster/job
info=$abs_top_builddir/tools/bcl-info
export BCL_RAILS=udp

cluster run -r true || exit $?
scratch=$(mktemp -d)
trap 'rm -r "$scratch"' EXIT

# give NODE INTERFACE ADDRESS...: a network of its own, on which nobody is
give() {
	local address
	cluster on "$1" ip link add name "$2" type bridge
	cluster on "$1" ip link set "$2" up
	for address in "${@:3}"; do
		cluster on "$1" ip address add "$address" dev "$2"
	done
}

# works EXPECTATION...
works() {
	timeout 60 cluster mpiexec 1 "$job" -core.peers_lost +udp.sendmsg "$@"
}

both_have_an_address() {
	give 0 lan0 192.168.56.1/24
	give 1 lan0 192.168.56.1/24
	works +card.rails_refused
	# The likely way is another one then, unless both have nothing else.
	cluster on 0 ip address add 10.80.0.1/24 dev lan0
	BCL_NET=lan0,eth0 works
}

one_speaks_both() {
	cluster on 0 ip address add 10.77.0.1/24 dev eth0
	works
}

another_address_comes_first() {
	cluster on 0 ip address flush dev eth0
	cluster on 1 ip address flush dev eth0
	cluster on 0 ip address add 10.81.0.1/24 dev eth0
	cluster on 0 ip address add 10.82.0.1/24 dev eth0
	cluster on 1 ip address add 10.83.0.2/24 dev eth0
	cluster on 1 ip address add 10.82.0.2/24 dev eth0
	BCL_NET=eth0 works
}

# Whether somebody else has it takes two seconds to find out.
the_address_is_tentative() {
	local node
	for node in 0 1; do
		cluster on $node ip address flush dev eth0
		cluster on $node sh -c \
			'echo 2 >/proc/sys/net/ipv6/conf/eth0/dad_transmits'
		cluster on $node ip address add "fd77::$((node + 1))/64" dev eth0
	done
	cluster on 0 ip address show dev eth0 | grep tentative >/dev/null
	works
}

three_networks_lead_nowhere() {
	local node i
	for node in 0 1; do
		for i in 0 1 2; do
			give $node lan$i 10.$((90 + 3 * node + i)).0.1/24
		done
	done
	BCL_NET=lan0,lan1,lan2,eth0 works
}

# More than there is room for: what is not used is said.
too_many() {
	local i
	for i in {0..9}; do
		give 0 lan$i 10.9$i.0.1/24
	done
	cluster on 0 env -u BCL_NET "$info" >"$scratch/info"
	cat "$scratch/info"
	[[ $(grep -c '^rail .*: udp on ' "$scratch/info") == 6 ]]
	grep -q '^rail .*not used.* 10.95.0.1, ' "$scratch/info"
}

# However many come before, of both.
the_last_of_many() {
	local i
	for i in {0..69}; do
		echo "link add name br-$i type bridge"
	done >"$scratch/batch"
	cluster on 0 ip -batch "$scratch/batch"
	give 0 lan0 10.9{0..9}.0.1/24
	BCL_NET=10.99.0.0/16 cluster on 0 "$info" >"$scratch/info"
	grep '^rail .*: udp on lan0: 10.99.0.1: ' "$scratch/info"
}

if [[ ${1-} == inside ]]; then
	"$2"
	exit
fi
within() {
	echo "${*: -1}"
	cluster run "${@:1:$#-1}" bash "$0" inside "${*: -1}"
}
within both_have_an_address
within -6 one_speaks_both
within -6 another_address_comes_first
within -6 the_address_is_tentative
within three_networks_lead_nowhere
within too_many
within the_last_of_many
