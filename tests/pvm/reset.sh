#!/bin/bash
# SPDX-License-Identifier: MIT
# Groups of the same name are as before after the console has reset the virtual
# machine, by the routes of PVM and with the glue.
set -euo pipefail
# shellcheck source=tests/pvm/program.sh
. "${abs_top_srcdir:?}/tests/pvm/program.sh"

# run KIND: what it prints, to KIND
run() {
	"$machine" 1 "$1" timeout "$limit" "$program" >"$1" 2>errors || {
		status=$?
		cat "$1" errors
		exit $status
	}
}

run stock
BCL_STATS=1 run glue
diff stock glue
grep -q 'stats: .* shm.messages_received' node0.log # from member to member
