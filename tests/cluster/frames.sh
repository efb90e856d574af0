#!/bin/bash
# SPDX-License-Identifier: MIT
# Nothing leaves a host that nobody has set: valgrind looks at each frame, also
# of a packet ring, when the trace writes it to its file. That it does so a
# program shows which sends such bytes.
set -euo pipefail
PATH=${abs_top_srcdir:?}/scripts:$PATH
programs=${abs_top_builddir:?}/tests/cluster
command -v valgrind >/dev/null || { echo 'no valgrind'; exit 77; }
cluster run -r true || exit $?
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export BCL_TRACE=$dir/trace.pcapng

# watch PROGRAM...: on two nodes
watch() {
	rm -f "$dir"/*
	timeout 60 cluster run -r cluster mpiexec 1 \
		valgrind --log-file="$dir/log.%p" "$@" >"$dir/out" 2>&1 || {
		cat "$dir"/{out,log.*}
		exit 1
	}
}

# clean PROGRAM...
clean() {
	local ranks
	watch "$@"
	ranks=$(grep -l 'ERROR SUMMARY: 0 errors' "$dir"/log.* | wc -l)
	echo "$BCL_RAILS, ${1##*/}: $ranks of 2 ranks are clean"
	((ranks == 2)) || { cat "$dir"/log.*; exit 1; }
}

# over RAIL EXPECTATION...
over() {
	export BCL_RAILS=$1
	clean "$programs/job" "${@:2}"
	BCL_STATS=on BCL_FAULT=drop:10%,dup:10%,seed:7 clean \
		"$abs_top_builddir/examples/heat" \
		--rma -n 97 -s 20 "$dir/heat.png"
	for counter in fault.dropped fault.duplicated card.retransmitted; do
		grep -E "stats: +[1-9][0-9]* $counter " "$dir/out" || {
			echo "$BCL_RAILS: no $counter"
			exit 1
		}
	done
	watch "$programs/gap"
	grep -q trace_transmit "$dir"/log.* || {
		echo "$BCL_RAILS: a gap is not found"
		exit 1
	}
}

over udp +udp.sendmsg -packet.sends
over packet +packet.sends -udp.sendmsg
