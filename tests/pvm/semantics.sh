#!/bin/bash
# SPDX-License-Identifier: MIT
# What a program sees of PVM is the same by PVM's own routes, with the glue
# inside a host, and between two hosts.
set -euo pipefail
# shellcheck source=tests/pvm/program.sh
. "${abs_top_srcdir:?}/tests/pvm/program.sh"

# run NAME HOSTS KIND [HOST]: what it prints, to NAME
run() {
	local name=$1 hosts=$2 kind=$3
	shift 3
	"$machine" "$hosts" "$kind" timeout "$limit" "$program" "$@" >"$name" 2>errors || {
		status=$?
		cat "$name" errors
		exit $status
	}
}

run stock 1 stock
COUNTED='core.peers_shared shm.messages_received' run inside 1 glue
COUNTED='core.peers_card card.messages_delivered' run between 2 glue node1
diff stock inside
diff stock between
