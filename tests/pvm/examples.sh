#!/bin/bash
# SPDX-License-Identifier: MIT
# PVM's own examples, in C and Fortran, say the same with the glue as without, on
# one host, or on so many (examples_hosts.sh), but for numbers of tasks, times, last
# digits and the order of lines.
# Not run: xep and mtile, which want a display, and srm.pvm, which has no end.
set -euo pipefail
self=$(realpath "$0")

# shellcheck source=tests/await.bash
. "${abs_top_srcdir:?}/tests/await.bash"

# In groups, with contexts, ... Those whom they start are examples, too.
alone=(spmd fspmd hello.pvm master1 fmaster1 gexample fgexample inherit1 inherit2
	inherit3 'gexamp 4' 'thb 4' 'tjl 4' 'tjf 4' 'tst 4' 'gs.pvm 4' 'ge 4'
	'joinleave 200' trsg frsg hitc timing)
# Of these one on each host.
pairs=(dbwtest rbwtest ibwtest pbwtest)

# What it prints is the same each time; but `ge` asks who is in a group that others
# leave, some ask until others have come, hitc's tasks are random, and one of frsg's
# two sums is any number on some processors, as without the glue.
clean() {
	sed -E '/stats:/d; /^cluster: /d; /^waiting on kids/d
		/ doesn.t match up!$/d; /^libpvm .*: pvm_get(tid|inst)\(\)/d
		/^ (sent|I got result) /d; /dhandles|free list/d
		s/T = [0-9]+ .*MB.s\)/TIME/; s/RTT Avg.*/TIME/
		s/^[ 0-9.]+$/NUMBERS/
		s/\bt[48][0-9a-f]{4}lmbi/TASK/g
		s/\b(0x|t)?[48][0-9a-f]{4}\b/TASK/g
		s/\b(262|524)[0-9]{3}\b/TASK/g
		s/context:? [0-9]+/context N/; s/ctx = +[0-9]+/ctx = N/g
		s/([0-9]\.[0-9]{12})[0-9]+/\1/
		s/(by Sum1 as) +[0-9]+/\1 N/
		s/from +[0-9]+/from N/; s/[0-9.]+ (\(|;)/\1/' | sort
}

# told NAME STATUS...: what it said, and how it ended
told() {
	{ clean <raw; echo "status ${*:2}"; } >"all/$1"
	grep stats: raw >"counters/$1" || true
}

# Ends when somebody tells it to.
there() {
	"$machine" "$other" "exec timeout $limit $*" >raw_there 2>&1 &
}

here() {
	timeout "$limit" "$@" >>raw 2>&1
}

# A mailbox has it.
offered() {
	gmbi "$1" | grep 'class name' >/dev/null
}

pair() {
	local status=0
	there "$1"
	here "$1" || status=$?
	wait $! || status+=" $?"
	cat raw_there >>raw
	told "$1" "$status"
}

service() {
	there task0 service
	await 'a service' offered service
	here task1 service
	here task_end service 0
	wait $!
	cat raw_there >>raw
	told service
}

# Whether a handler takes a message that comes before it is there, PVM leaves open.
handlers() {
	there stdbuf -oL mhf_server
	await 'a server of handlers' offered mhf_server
	# its handler 1 shall take messages of tag 5; one of them; no more
	{
		printf '%s\n' 0 1 5 0 1
		await 'a handler' grep -q 'LMH: AFTER' raw_there
		printf '%s\n' 4 5 0 1 'hello there' 2 99 9
	} | here mhf_tickle
	wait $!
	cat raw_there >>raw
	told handlers
}

mailbox() {
	local entry
	here lmbi 3 po e
	entry=$(sed -n 's/.*inserted entry <\(.*\)> .*/\1/p' raw | tail -n 1)
	here gmbi "$entry"
	here rme "$entry" 0
	here gmbi "$entry"
	told mailbox
}

# On the first host: all, with those on another host.
if [[ ${1-} == all ]]; then
	other=$2
	printf '4\n4\n4\n' >numbers
	for example in "${alone[@]}"; do
		read -ra words <<<"$example"
		status=0
		: >raw
		here "${words[@]}" <numbers || status=$?
		told "${words[0]}" $status
	done
	for example in "${pairs[@]}" service handlers mailbox; do
		: >raw
		case $example in
		*bwtest) pair "$example" ;;
		*)	$example ;;
		esac
	done
	exit
fi

command -v gexample >/dev/null || { echo 'no examples of PVM here'; exit 77; }
# shellcheck source=tests/pvm/scratch.sh
. "$abs_top_srcdir/tests/pvm/scratch.sh"

hosts=${1-1}
counter=shm.messages_received
((hosts == 1)) || counter=card.messages_delivered

# run KIND: what all say, in a directory of that name
run() {
	mkdir -p "$1"/{all,counters}
	cd "$1"
	BCL_STATS=1 "$machine" "$hosts" "$1" "$self" all "node$((hosts - 1))" \
		>said 2>&1 || { echo $? >failed; cat said raw; }
}

wrong() {
	echo "$*"
	touch failed
}

# They wait more than they work: both at once.
for kind in stock glue; do
	run $kind >$kind.said &
done
wait
cat ./*.said
[[ $(cat stock/failed 2>/dev/null) != 77 ]] || exit 77
for name in stock/all/*; do
	name=${name##*/}
	diff {stock,glue}/all/"$name" || wrong "$name differs"
done
# All had the glue, and those that talk for long did so by BCL.
! grep . stock/counters/* || wrong 'there was a glue'
for name in glue/counters/*; do
	[[ -s $name ]] || wrong "$name: no glue"
done
for name in "${pairs[@]}"; do
	grep -Eq "stats: +[1-9][0-9]* $counter " "glue/counters/$name" ||
		wrong "$name: no $counter"
done
[[ ! $(ls -d failed ./*/failed 2>/dev/null) ]]
