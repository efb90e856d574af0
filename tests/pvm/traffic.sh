#!/bin/bash
# SPDX-License-Identifier: MIT
# Whatever tasks send one another comes once and in order: on one host, on two,
# with routes that change, and with frames that are lost. SOAK=SECONDS: for so
# long instead, with 2 to 8 tasks, each time other traffic.
set -euo pipefail
# shellcheck source=tests/pvm/program.sh
. "${abs_top_srcdir:?}/tests/pvm/program.sh"

# run HOSTS COUNTER ARGUMENT...: the counter is not 0
run() {
	local hosts=$1 counter=$2
	shift 2
	COUNTED=$counter "$machine" "$hosts" glue timeout "$limit" "$program" "$@" 2>errors || {
		status=$?
		cat errors
		exit $status
	}
}

# Inside a host and between two, in turn.
for ((i = 0; SECONDS < ${SOAK-0}; i++)); do
	hosts=$((i % 2 + 1)) tasks=$((i % 7 + 2)) flip=()
	counters=(shm.messages_received card.messages_delivered)
	((i % 3)) || flip=(flip)
	echo "$i: $tasks tasks, $hosts hosts ${flip[*]}"
	run $hosts "${counters[hosts - 1]}" $tasks $((1000 + i)) "${flip[@]}"
done
[[ ! ${SOAK-} ]] || exit 0

run 1 shm.messages_received 2 300
run 1 shm.messages_received 6 200
run 1 shm.messages_received 64 20
run 1 shm.messages_received 4 200 flip
run 2 card.messages_delivered 4 200
run 2 card.messages_delivered 4 200 flip
BCL_FAULT=drop:2%,dup:2%,seed:5 run 2 card.retransmitted 4 300
