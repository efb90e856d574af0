#!/bin/bash
# SPDX-License-Identifier: MIT
# pvm_pmcast() does the same without the glue, inside a host, between two, and
# where some tasks do not have the glue.
set -euo pipefail
# shellcheck source=tests/pvm/program.sh
. "${abs_top_srcdir:?}/tests/pvm/program.sh"

# run NAME HOSTS KIND ARGUMENT...: what it prints, to NAME
run() {
	local name=$1
	"$machine" "$2" "$3" timeout 60 "$program" "${@:4}" >"$name" 2>errors || {
		status=$?
		cat "$name" errors
		exit $status
	}
}

run stock 1 stock -
COUNTED=shm.messages_received run inside 1 glue -
COUNTED=card.messages_delivered run between 2 glue node1
COUNTED=shm.messages_received run mixed 1 glue - bare
for name in inside between mixed; do
	diff stock $name
done
