#!/bin/bash
# SPDX-License-Identifier: MIT
# NetPIPE's program for PVM, which knows nothing of us, checks what it receives,
# to 1 MB, inside a host and between two.
set -euo pipefail
self=$(realpath "$0")
command -v NPpvm >/dev/null || { echo 'no netpipe-pvm here'; exit 77; }

# shellcheck source=tests/await.bash
. "${abs_top_srcdir:?}/tests/await.bash"

# is_task HOST: there is one
is_task() {
	"$machine" console 'ps -a' | grep "^ *$1 " >/dev/null
}

# On the first host: NPpvm on HOST waits, and one here transmits, once that one is
# there.
if [[ ${1-} == pair ]]; then
	"$machine" "$2" "timeout $limit NPpvm -i -n 3 -u 1048580 -p 0" \
		-o /dev/null >waiting 2>&1 &
	await "a task on $2" is_task "$2"
	timeout "$limit" NPpvm -i -n 3 -h "$2" -u 1048580 -p 0 -o /dev/null \
		>transmitting 2>&1
	grep stats: transmitting >&2
	wait $!
	exit
fi

# shellcheck source=tests/pvm/scratch.sh
. "$abs_top_srcdir/tests/pvm/scratch.sh"

# pair HOSTS HOST COUNTER
pair() {
	COUNTED=$3 "$machine" "$1" glue "$self" pair "$2" 2>errors || {
		status=$?
		cat waiting transmitting errors
		exit $status
	}
	grep -q '1048577 bytes .* Integrity check passed' transmitting || {
		cat transmitting
		exit 1
	}
	! grep -i 'failed' transmitting
}

pair 1 node0 shm.messages_received
pair 2 node1 card.messages_delivered
