#!/bin/bash
# SPDX-License-Identifier: MIT
# A daemon that was killed and is started again in the same directory gives its
# tasks the same numbers once more: they find one another, not the old ones.
set -euo pipefail
self=$(realpath "$0")

# shellcheck source=tests/await.bash
. "${abs_top_srcdir:?}/tests/await.bash"

# On the host: tasks before and after.
if [[ ${1-} == twice ]]; then
	program=$2
	BCL_STATS=1 timeout "$limit" "$program" 3 50
	kill -KILL "$(pidof pvmd)"
	rm "$PVM_TMP/pvmd.$UID"
	pvmd >pvmd 2>&1 </dev/null &
	await 'the daemon says where it is' test -s "$PVM_TMP/pvmd.$UID"
	BCL_STATS=1 timeout "$limit" "$program" 3 50
	exit
fi

program=traffic
# shellcheck source=tests/pvm/program.sh
. "${abs_top_srcdir:?}/tests/pvm/program.sh"
"$machine" 1 glue "$self" twice "$program" >seen 2>errors || {
	status=$?
	cat seen errors
	exit $status
}
(($(grep -c ': 0 bad$' seen) == 2))
(($(grep -c 'stats: .* shm.messages_received' errors) >= 2)) || {
	cat errors
	exit 1
}
