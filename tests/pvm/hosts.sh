#!/bin/bash
# SPDX-License-Identifier: MIT
# Tasks go on when a host is deleted and added again while they run, and find the
# tasks on it, by the routes of PVM and with the glue.
set -euo pipefail
# shellcheck source=tests/pvm/program.sh
. "${abs_top_srcdir:?}/tests/pvm/program.sh"

# run KIND: what it prints, to KIND
run() {
	"$machine" 2 "$1" timeout "$limit" "$program" node1 >"$1" 2>errors || {
		status=$?
		cat "$1" errors
		exit $status
	}
}

run stock
COUNTED=card.messages_delivered run glue
diff stock glue
