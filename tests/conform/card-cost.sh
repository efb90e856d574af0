#!/bin/bash
# SPDX-License-Identifier: MIT
# Instructions of a short message between nodes, without those of the system:
# over UDP, and over packet sockets, which need a network of their own.
# The bars leave room for another compiler.
set -euo pipefail
own=(unshare --net)
((EUID == 0)) || own+=(--map-root-user)
if [[ ${1-} != inside ]]; then
	"${own[@]}" ip link add name probe type veth ||
		{ echo 'namespaces are not permitted here'; exit 77; }
	exec "${own[@]}" bash "$0" inside
fi
. "${abs_top_srcdir:?}/tests/conform/instructions.bash" card-cost
ip link set lo up
ip link add name near type veth peer name far
ip link set near up
ip link set far up
export BCL_HELPER=0

# cost RAIL NETS FUNCTION BAR
cost() {
	local less more each nets
	read -ra nets <<<"$2"
	export BCL_RAILS=$1
	less=$(collected --toggle-collect="$3*" 1000 "${nets[@]}")
	more=$(collected --toggle-collect="$3*" 5000 "${nets[@]}")
	each=$(((more - less) / 4000))
	echo "$1: $3: $each instructions, at most $4"
	((each > 100 && each <= $4))
}

cost udp 'lo lo' say 1950
cost udp 'lo lo' hear 1550
cost packet 'near far' say 1950
cost packet 'near far' hear 1400
