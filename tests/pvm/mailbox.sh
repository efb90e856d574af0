#!/bin/bash
# SPDX-License-Identifier: MIT
# What a task leaves in PVM's mailbox another finds, the same by PVM's own routes,
# with the glue, and where only one of the two has it.
set -euo pipefail
# shellcheck source=tests/pvm/program.sh
. "${abs_top_srcdir:?}/tests/pvm/program.sh"

# run NAME KIND [bare]: what it prints, to NAME
run() {
	BCL_STATS=1 "$machine" 1 "$2" timeout "$limit" "$program" "${@:3}" >"$1" \
		2>errors || {
		status=$?
		cat "$1" errors
		exit $status
	}
}

run stock stock
if grep stats: errors; then exit 1; fi
for other in '' bare; do
	run glue glue $other
	grep -q stats: errors
	diff stock glue
done
grep -qx 'they found 20000' stock
