#!/bin/bash
# SPDX-License-Identifier: MIT
# Operations on frozen groups give the same by PVM's own library, as BCL's
# collectives, and where a member has no glue, also when they are frozen again; a
# reduce takes as few messages as its tree has levels; and a member that has no
# memory lets nobody wait.
set -euo pipefail
# shellcheck source=tests/pvm/program.sh
. "${abs_top_srcdir:?}/tests/pvm/program.sh"

# run NAME HOSTS KIND ARGUMENT...: what it prints, to NAME; NAME.err
run() {
	local name=$1 hosts=$2 kind=$3
	shift 3
	"$machine" "$hosts" "$kind" timeout "$limit" "$program" "$@" >"$name" \
		2>"$name.err" || {
		status=$?
		cat "$name" "$name.err"
		exit $status
	}
}

# Not what the data of others than the root are, which PVM's own may change.
same() {
	diff <(grep -v '^changed' "$1") <(grep -v '^changed' "$2")
}

unchanged() {
	! grep '^changed' "$1" | grep -v ': 0$'
}

run stock 1 stock 5
export COUNTED='coll.barrier coll.reduce coll.gather coll.scatter'
for tasks in 2 5 8; do
	run glue 1 glue $tasks
	same stock glue
	unchanged glue
	levels=0
	while ((1 << levels < tasks)); do ((++levels)); done
	grep -Eq "^reduce: $levels messages at the root, chain [1-$levels]$" \
		glue.err || { echo "$tasks tasks:"; cat glue.err; exit 1; }
done
run hosts 2 glue 5
same stock hosts
unchanged hosts
export COUNTED='coll.barrier coll.reduce'
run starved 1 glue 5 starved
diff - <(grep -v '^changed' starved) <<-'EXPECTED'
	had no memory: 1
	had no memory: 1
	had nobody to wait for: 4
	bad sums: 0
	bad blocks: 0
EXPECTED
export COUNTED=shm.messages_received
run mixed 1 glue 5 mixed
same stock mixed
grep -q '^reduce: 4 messages' mixed.err
! grep -E 'stats: +[1-9][0-9]* coll\.' mixed.err
