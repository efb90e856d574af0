#!/bin/bash
# SPDX-License-Identifier: MIT
# With a task that has another version of the glue one talks by PVM's routes,
# and says so once.
set -euo pipefail
# shellcheck source=tests/pvm/program.sh
. "${abs_top_srcdir:?}/tests/pvm/program.sh"

BCL_STATS=1 "$machine" 1 glue timeout "$limit" "$program" >seen 2>errors || {
	status=$?
	cat seen errors
	exit $status
}
grep -qx 'wrong answers: 0' seen
(($(grep -Ec '^bcl [0-9:.]{15} [^ ]+/t[0-9a-f]+: warning: pvm: .* has version 99 of the glue' errors) == 1)) || {
	cat errors
	exit 1
}
grep -q stats: errors		# the glue was there, and has
! grep core.peers_ errors	# no peer
