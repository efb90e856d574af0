#!/bin/bash
# SPDX-License-Identifier: MIT
# A long message is copied no more often than it must: by pvm_psend() and
# pvm_precv() once, from task to task. Between hosts that copy is the card's
# own, which is not counted. The memory on its way stays the tasks'. A receiver
# that is late, because other programs have the processors, has the message
# copied for it; so a busy machine gets several attempts, some time apart.
set -euo pipefail
# shellcheck source=tests/pvm/program.sh
. "${abs_top_srcdir:?}/tests/pvm/program.sh"

# holds HOSTS ARGUMENT...: the program prints what standard input has
holds() {
	local expected hosts=$1
	expected=$(cat)
	shift
	for _ in 1 2 3 4 5; do
		"$machine" "$hosts" glue timeout "$limit" "$program" "$@" >copies
		diff <(echo "$expected") copies && return
		sleep 2
	done
	return 1
}

holds 1 <<-'EXPECTED'
	psend to precv: 1.0 times, in old memory, patient
	packed: 4.0 times, in old memory, patient
	several packed: 4.0 times, in old memory, patient
EXPECTED
holds 2 node1 <<-'EXPECTED'
	psend to precv: 0.0 times, in old memory, patient
	packed: 3.0 times, in old memory, patient
	several packed: 3.0 times, in old memory, patient
EXPECTED
