#!/bin/bash
# SPDX-License-Identifier: MIT
# A task that dies in the middle of a message leaves no part of one, and all that
# it had sent before, be it unread; one that
# does not listen costs its sender little memory, one that waits sleeps; and those
# who remain go on, also when a host has gone.
set -euo pipefail
# shellcheck source=tests/pvm/program.sh
. "${abs_top_srcdir:?}/tests/pvm/program.sh"

# run HOSTS COUNTER EXPECTED ARGUMENT...
run() {
	local hosts=$1 counter=$2
	printf '%b' "$3" >expected
	COUNTED=$counter "$machine" "$hosts" glue timeout "$limit" "$program" \
		"${@:4}" >seen 2>errors || {
		status=$?
		cat seen errors
		exit $status
	}
	diff expected seen || { cat errors; exit 1; }
}

whole='streams cut between messages: 8\nmore after it: 0\n'
run 1 shm.bytes_pulled "$whole" killed
run 2 card.messages_delivered "$whole" killed node1
words='of its last words came: 6\n'
run 1 shm.messages_received "$words" unread
run 2 card.messages_delivered "$words" unread node1
run 1 shm.messages_received 'slept until it came: 1\ngave others a turn: 1\n'\
'kept too much: 0\nwrong ones: 0\n' asleep
BCL_PEER_TIMEOUT=3s run 2 core.peers_lost 'others go on: 1\n' gone node1
