#!/bin/bash
# SPDX-License-Identifier: MIT
# The glue's instructions for a short message that comes in order are few, with
# libpvm's memory for it, until libpvm has it.
set -euo pipefail
if [[ ! ${PVM_TMP-} ]]; then
	# shellcheck source=tests/pvm/program.sh
	. "${abs_top_srcdir:?}/tests/pvm/program.sh"
	"$machine" 1 glue "$abs_top_srcdir/tests/pvm/cost.sh"
	exit
fi
# shellcheck source=tests/conform/instructions.bash
. "${abs_top_srcdir:?}/tests/conform/instructions.bash" ../pvm/cost

BCL_STATS=1 valgrind --tool=callgrind --toggle-collect=receive_event \
	--callgrind-out-file="${scratch:?}/out" "${program:?}" 3000 \
	2>"$scratch/said"
instructions=$(sed -n 's/^.*Collected : //p' "$scratch/said")
messages=$(sed -nE 's/.*stats: +([0-9]+) shm.messages_received .*/\1/p' \
	"$scratch/said")
each=$((instructions / messages))
echo "$each instructions a message of $messages, at most 750"
((messages > 100 && each > 100 && each <= 750))
