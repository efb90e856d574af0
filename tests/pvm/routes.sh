#!/bin/bash
# SPDX-License-Identifier: MIT
# Of a task that has set PvmDontRoute nothing goes by BCL, whatever it calls, inside
# a host and between two; before and after it something does.
set -euo pipefail
# shellcheck source=tests/pvm/program.sh
. "${abs_top_srcdir:?}/tests/pvm/program.sh"

# run HOSTS [HOST]
run() {
	"$machine" "$1" glue timeout 60 "$program" "${@:2}" >seen 2>errors || {
		status=$?
		cat seen errors
		exit $status
	}
	diff - seen <<-'EXPECTED'
		not asked: by BCL none, all came: 1
		allowed: by BCL some, all came: 1
		forbidden: by BCL none, all came: 1
		still forbidden: by BCL none, all came: 1
		wanted: by BCL some, all came: 1
	EXPECTED
}

run 1
run 2 node1
