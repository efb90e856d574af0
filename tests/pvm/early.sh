#!/bin/bash
# SPDX-License-Identifier: MIT
# What children are sent before they know their own number comes whole and in
# order, as all that follows, by PVM's own routes and with the glue.
set -euo pipefail
# shellcheck source=tests/pvm/program.sh
. "${abs_top_srcdir:?}/tests/pvm/program.sh"

# run NAME HOSTS KIND [HOST]: what it prints, to NAME
run() {
	"$machine" "$2" "$3" timeout "$limit" "$program" "$PWD/$1.now" \
		"${@:4}" >"$1" 2>errors || {
		status=$?
		cat "$1" errors
		exit $status
	}
	diff "$1" - <<-'END'
	200 messages, 0 wrong
	200 messages, 0 wrong
	200 messages, 0 wrong
	END
}

run stock 1 stock
run stock_between 2 stock node1
COUNTED=shm.messages_received run inside 1 glue
COUNTED=card.messages_delivered run between 2 glue node1
