#!/bin/bash
# SPDX-License-Identifier: MIT
# The glue's instructions for a short message are few: to send it, with the
# transport's, and, when it comes in order, with libpvm's memory for it, until
# libpvm has it.
set -euo pipefail
if [[ ! ${PVM_TMP-} ]]; then
	# shellcheck source=tests/pvm/program.sh
	. "${abs_top_srcdir:?}/tests/pvm/program.sh"
	"$machine" 1 glue "$abs_top_srcdir/tests/pvm/cost.sh"
	exit
fi
# shellcheck source=tests/conform/instructions.bash
. "${abs_top_srcdir:?}/tests/conform/instructions.bash" ../pvm/cost

# count FUNCTION MOST: instructions of a message in it
count() {
	local instructions messages each
	BCL_STATS=1 valgrind --tool=callgrind "--toggle-collect=$1" \
		--callgrind-out-file="${scratch:?}/out" "${program:?}" 3000 \
		2>"$scratch/said"
	instructions=$(sed -n 's/^.*Collected : //p' "$scratch/said")
	messages=$(sed -nE 's/.*stats: +([0-9]+) shm.messages_received .*/\1/p' \
		"$scratch/said")
	each=$((instructions / messages))
	echo "$1: $each instructions a message of $messages, at most $2"
	((messages > 100 && each > 100 && each <= $2))
}

count receive_event 550
count send_message 425
