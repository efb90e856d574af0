#!/bin/bash
# SPDX-License-Identifier: MIT
# The examples of slang-pvm, scripts whose interpreter loads PVM late, give the
# same with the glue as without. PVM may lose the last line of a task that ends,
# with the glue or without, so they get three attempts.
set -euo pipefail
examples=/usr/share/doc/slang-pvm/examples
[[ -e $examples/master ]] || { echo 'no slang-pvm here'; exit 77; }
# shellcheck source=tests/pvm/scratch.sh
. "${abs_top_srcdir:?}/tests/pvm/scratch.sh"
cp $examples/* .
sed -i 's/"pirx"/"node0"/' hello_master

# run KIND COMMAND...: what it prints, to KIND
run() {
	local kind=$1
	HOST=here "$machine" 1 "$kind" timeout "$limit" "${@:2}" >raw 2>errors || {
		status=$?
		cat raw errors
		exit $status
	}
	sed -E '/stats:/d; s/^(my pid =|.* task-id) [0-9]+/\1 N/' raw >"$kind"
}

# alike COMMAND...: the same without the glue and with it
alike() {
	for _ in 1 2 3; do
		run stock "$@"
		BCL_STATS=1 run glue "$@"
		grep -q stats: errors	# the glue was there
		diff stock glue && return
	done
	return 1
}

alike ./master hostname 4
alike ./hello_master
grep -qx 'here says Hello World' glue
