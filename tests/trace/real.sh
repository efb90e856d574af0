#!/bin/bash
# SPDX-License-Identifier: MIT
# Traces of real runs keep the rules, whatever happens to frames on the way and
# to processes: one rail and two, rings of the least size, losses, repetitions,
# damage, peers that die, several threads. Their counters say that it happened.
set -euo pipefail
built=${abs_top_builddir:?}
check=$built/tools/bcl-check
PATH=${abs_top_srcdir:?}/scripts:$PATH
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
status=0

# accepted COMMAND...: all that it writes keeps the rules
accepted() {
	rm -f "$scratch"/*
	echo "$*"
	BCL_TRACE="$scratch/t.pcapng" "$@" >"$scratch/output" 2>&1 || {
		tail -n 25 "$scratch/output"
		status=1
	}
	"$check" "$scratch"/t-*.pcapng >"$scratch/said" || status=1
	tail -n 25 "$scratch/said"
	# Else it was not a trace of what was to be checked.
	grep -q ' [1-9][0-9]* records: ' "$scratch/said" || status=1
	! grep 'not checked' "$scratch/said" || status=1
}

job=(cluster run -v cluster mpiexec 2 "$built/tests/cluster/job")
export BCL_RAILS=udp
lost=(+fault.dropped +card.retransmitted)
accepted env BCL_FAULT=drop:3%,dup:3%,reorder:3%,corrupt:3%,delay:3%,seed:1 \
	"${job[@]}" "${lost[@]}" +fault.duplicated +fault.reordered \
	+fault.corrupted +fault.delayed
accepted env BCL_BLOCKS=16 BCL_FAULT=drop:10%,reorder:10%,seed:2 \
	"${job[@]}" "${lost[@]}" +fault.reordered
accepted env BCL_NET=127.0.0.1/32,::1/128 BCL_FAULT=drop:5%,seed:3 \
	"${job[@]}" "${lost[@]}"
accepted "$built/tests/fault/test_death"
way=both
cluster run -r true >/dev/null 2>&1 || way=UDP # others need interfaces
if [[ ! ${LONG-} ]]; then
	accepted "$built/tests/fault/test_wire" "$RANDOM" "$way"
	exit $status
fi
accepted "${job[@]}"
accepted env BCL_BLOCKS=16 BCL_REQUESTS=16 "${job[@]}"
ways=()
[[ $way == both ]] || ways=("$way")
accepted "$built/tests/fault/test_wire" "$RANDOM" "${ways[@]}"
accepted "$built/tests/fault/test_threads"
exit $status
