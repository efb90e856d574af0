#!/bin/bash
# SPDX-License-Identifier: MIT
# Instructions of a short collective operation inside a host, at a rank that
# need not wait: a persistent operation takes fewer than the same call, and hardly
# more if it is started. Operations on blocks of different lengths take not much
# more than those on equal blocks. The bars leave room for another compiler.
set -euo pipefail
. "${abs_top_srcdir:?}/tests/conform/instructions.bash" coll-cost
export BCL_RAILS=none BCL_HELPER=0
unset PMI_FD PMI_PORT PMIX_RANK BCL_NODE
rounds=640

# each OPERATION FORM: instructions of an operation, the sum over all processes
each() {
	local count total=0
	while read -r count; do
		total=$((total + count))
	done < <(collected '--toggle-collect=measured*' "$1" "$2" $rounds)
	echo $((total / rounds))
}

failed=0
# compare OPERATION BAR PERSISTENT-BAR STARTED-BAR
compare() {
	local plain persistent started
	plain=$(each "$1" plain)
	persistent=$(each "$1" persistent)
	started=$(each "$1" started)
	echo "$1: $plain instructions, at most $2;" \
		"persistent: $persistent, at most $3;" \
		"started: $started, at most $4"
	((plain <= $2 && persistent <= $3 && started <= $4)) || failed=1
	((persistent > 20 && persistent < plain && started > 20)) || failed=1
}
compare barrier 190 175 200
compare allreduce 315 280 305
# limit OPERATION BAR
limit() {
	local plain
	plain=$(each "$1" plain)
	echo "$1: $plain instructions, at most $2"
	((plain > 20 && plain <= $2)) || failed=1
}
limit scatter 190
limit gatherv 540
limit scatterv 405
limit allgatherv 540
limit alltoallv 540
limit reduce_scatterv 360
exit $failed
