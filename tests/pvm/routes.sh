#!/bin/bash
# SPDX-License-Identifier: MIT
# Of a task that has set PvmDontRoute nothing goes by BCL, whatever it calls, inside
# a host and between two; before and after it something does. And what a task
# sends comes, by whatever way, if the connection came up at its own end alone.
set -euo pipefail
# shellcheck source=tests/pvm/program.sh
. "${abs_top_srcdir:?}/tests/pvm/program.sh"

# run HOSTS [HOST]
run() {
	local status=0
	"$machine" "$1" glue timeout "$limit" "$program" "${@:2}" >seen \
		2>errors || status=$?
	! diff - seen >differ <<-'EXPECTED' || ((status)) || return 0
		not asked: by BCL none, all came: 1
		allowed: by BCL some, all came: 1
		forbidden: by BCL none, all came: 1
		still forbidden: by BCL none, all came: 1
		wanted: by BCL some, all came: 1
	EXPECTED
	((status != 77)) || { cat seen; exit 77; }
	cat errors ./*.log
	echo "hosts: $1, status: $status (124: not done in $limit s)"
	echo 'what was expected (<) and was not seen, and what was (>):'
	cat differ
	exit 1
}

run 1
run 2 node1

# deaf HOSTS COUNTER [HOST]
deaf() {
	COUNTED=$2 "$machine" "$1" glue timeout "$limit" "$program" deaf \
		"${@:3}" >seen 2>errors && grep -qx 'answers: 200' seen && return
	cat seen errors
	exit 1
}

deaf 1 core.peers_shared
deaf 2 core.peers_card node1
