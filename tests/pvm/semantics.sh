#!/bin/bash
# SPDX-License-Identifier: MIT
# What a program sees of PVM is the same by PVM's own routes, with the glue
# inside a host, and between two hosts.
set -euo pipefail
here=${abs_top_srcdir:?}/tests/pvm
program=${abs_top_builddir:?}/tests/pvm/semantics
[[ -x $program ]] || { echo 'no PVM to build programs with'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# run NAME HOSTS KIND [HOST]: what it prints, to NAME; its counters, to NAME.err
run() {
	local name=$1 hosts=$2 kind=$3
	shift 3
	BCL_STATS=1 "$here/vm" "$hosts" "$kind" "$program" "$@" >"$name" \
		2>"$name.err" || {
		status=$?
		cat "$name" "$name.err"
		exit $status
	}
}

counted() {
	grep -Eq "stats: +[1-9][0-9]* $2 " "$1.err" || {
		echo "$1: $2 is 0"
		cat "$1.err"
		exit 1
	}
}

run stock 1 stock
run inside 1 glue
run between 2 glue node1
diff stock inside
diff stock between
counted inside core.peers_shared
counted inside shm.messages_received
counted between core.peers_card
counted between card.messages_delivered
