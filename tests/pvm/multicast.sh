#!/bin/bash
# SPDX-License-Identifier: MIT
# pvm_pmcast() does the same without the glue, inside a host, between several,
# where some tasks do not have the glue, and where one dies; and to the tasks of a
# host its sender sends a long buffer once, to hosts as often as its tree has
# levels.
set -euo pipefail
# shellcheck source=tests/pvm/program.sh
. "${abs_top_srcdir:?}/tests/pvm/program.sh"

# run NAME HOSTS KIND ARGUMENT...: what it prints, to NAME
run() {
	local name=$1
	"$machine" "$2" "$3" timeout "$limit" "$program" "${@:4}" >"$name" 2>errors || {
		status=$?
		cat "$name" errors
		exit $status
	}
}

# copied: the first task's card has sent the buffers, of so many bytes in all, less
# often than once for each of six tasks: they are no hosts of their own. It is more
# than the tree's once or twice, since tasks meet first, and on a loaded machine
# those in the middle of the tree are late.
copied() {
	local all=$((4 * (40 * 65536 + 6 * (300000 + 65536) + 7 * 6001))) bytes
	bytes=$(sed -nE 's/.*stats: +([0-9]+) card.bytes_sent .*/\1/p' errors)
	echo "$bytes of $all bytes"
	((2 * bytes < 9 * all))
}

run stock 1 stock plain
COUNTED=shm.messages_received run inside 1 glue plain
COUNTED=card.messages_delivered run between 2 glue plain node1
COUNTED=shm.messages_received run mixed 1 glue bare
for name in inside between mixed; do
	diff stock $name
done
run stock 1 stock dies
COUNTED=card.messages_delivered run between 2 glue dies node1
diff stock between

run stock 1 stock plain
COUNTED=card.messages_delivered run between 2 glue loads node1
diff stock between
copied
COUNTED=card.messages_delivered run between 4 glue loads node1 node2 node3
diff stock between
copied
