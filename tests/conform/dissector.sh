#!/bin/bash
# SPDX-License-Identifier: MIT
# tools/bcl.lua shows the frames of a trace as they are: all kinds and
# operations by their names in wire.h, every frame of a real run without a
# complaint, and damaged ones with one.
set -euo pipefail
lua=${abs_top_srcdir:?}/tools/bcl.lua
talk=${abs_top_builddir:?}/tests/conform/card-cost
job=$abs_top_builddir/tests/cluster/job
PATH=$abs_top_srcdir/scripts:$PATH
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
command -v tshark >/dev/null || { echo 'no tshark (package tshark)'; exit 77; }

# names HEADER ENUM PREFIX TABLE: what an enum and the dissector call the same
# numbers
names() {
	diff --label "$1" --label bcl.lua -u \
		<(sed -n "/^enum $2 {/,/^}/s/^\s*BCL_$3_\([A-Z_]*\) = \([0-9]*\),.*/\2 \1/p" \
			"$abs_top_srcdir/$1" | grep -v '^0 ' | sort -n) \
		<(sed -n "/^local $4 = {/,/^}/p" "$lua" |
			grep -o '\[[0-9]*\] = "[A-Z_]*"' |
			sed 's/\[\(.*\)\] = "\(.*\)"/\1 \2/' |
			grep -v '^0 ' | sort -n)
}
names include/bcl/wire.h bcl_frame_kind FRAME kinds
names include/bcl/wire.h bcl_segment_op SEG ops
names wire/record.h bcl_record_kind RECORD records
names include/bcl/card_abi.h bcl_completion_kind CQ completions
names include/bcl/card_abi.h bcl_node_state NODE states

# count TRACE FILTER...: the number of frames for each filter. tshark reads the
# trace once, which takes many seconds for a long one.
count() {
	local IFS=,
	tshark -X lua_script:"$lua" -q -r "$1" -z "io,stat,0,${*:2}" \
		2>/dev/null |
		awk -F'|' '/<>/ { for (i = 3; i < NF; i += 2) print $i }' |
		xargs
}

# traced NAME COMMAND...: leaves its traces in $scratch/NAME-*
traced() {
	BCL_TRACE=$scratch/$1.pcapng "${@:2}"
}

expect() {
	echo "$1: $2"
	(($2))
}

# whole TRACE: every frame is one of BCL's, without a complaint
whole() {
	local bad known all
	read -r bad known all < <(count "$1" bcl.bad 'bcl || bcl_host' frame)
	expect 'bad frames' "$bad == 0"
	expect 'frames' "$known == $all"
	expect 'any frames' "$all > 0"
}

export BCL_RAILS=udp BCL_HELPER=0
traced clean "$talk" 100 lo lo
for trace in "$scratch"/clean-*; do
	whole "$trace"
	read -r messages requests deliveries unknown handshake proofs < <(
		count "$trace" 'bcl.op == 1 && bcl.length == 64' \
			'bcl_host.kind == 6 && bcl_host.length == 64' \
			'bcl_host.kind == 8 && bcl_host.length == 64' \
			bcl_host.bad 'bcl.kind <= 2' bcl.proof)
	expect 'messages' "$messages == 100"
	expect 'requests' "$requests == 50"
	expect 'deliveries' "$deliveries == 50"
	expect 'unknown records' "$unknown == 0"
	expect 'handshake' "$handshake >= 3"
	expect 'proofs' "$proofs >= 3"
done

# A simulated job's are the same frames.
sed 's/^cluster .*/cluster nodes=3/' \
	"$abs_top_srcdir/sim/clusters/ethernet-1g.cluster" >"$scratch/cluster"
"$abs_top_builddir/tools/bcl-sim" -r 2 -t "$scratch/simulated" \
	"$scratch/cluster" alltoall 4K >/dev/null
whole "$scratch/simulated"
expect 'simulated: messages' \
	"$(count "$scratch/simulated" 'bcl.kind && bcl.length > 1000') >= 6"

BCL_FAULT=corrupt:10%,seed:3 traced damaged \
	cluster run -v cluster mpiexec 1 "$job" +fault.corrupted
# Long traces: each is read once.
for trace in "$scratch"/damaged-*; do
	tshark -X lua_script:"$lua" -r "$trace" -Y 'bcl.bad || bcl.arrived' \
		-T fields -E separator=/s -E quote=d -e bcl.bad -e bcl.arrived \
		2>/dev/null >"$scratch/fields"
	expect 'damaged frames' "$(grep -c '^"' "$scratch/fields") > 5"
	expect 'acknowledged one by one' \
		"$(grep -c ' "' "$scratch/fields") > 0"
done

cluster run -r true >/dev/null 2>&1 || {
	echo 'no namespaces, so no packet sockets: their frames were not looked at'
	exit 0
}

# From a port that is known for another protocol.
# shellcheck disable=SC2016 # for the node
traced known cluster run -r -n 1 cluster on 0 bash -c \
	'echo 44818 44819 >/proc/sys/net/ipv4/ip_local_port_range && "$@"' \
	- "$talk" 20 lo lo
for trace in "$scratch"/known-*; do
	expect 'known port' "$(count "$trace" 'udp.port == 44818') > 0"
	whole "$trace"
done

export BCL_RAILS=packet
traced ring cluster run -r cluster mpiexec 1 "$job" +packet.received
for trace in "$scratch"/ring-*; do
	whole "$trace"
done
