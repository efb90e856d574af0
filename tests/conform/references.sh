#!/bin/bash
# SPDX-License-Identifier: MIT
# Every reference program answers round after round, whatever the parameters
# were before, with as many positive samples as asked for; refuses what it does
# not know; and has nothing of the library.
set -euo pipefail
programs=${abs_top_builddir:?}/bench/ref
status=0

complain() {
	echo "$*"
	status=1
}

# answers PROGRAM UNIT ARGUMENTS REQUEST...: three samples for each request
answers() {
	local program=$1 unit=$2 arguments=$3 code=0 out line number
	shift 3
	# shellcheck disable=SC2086 # several words
	out=$(printf '%s samples=3\n' "$@" |
		timeout 60 "$programs/ref-$program" $arguments) || code=$?
	if ((code == 77)); then
		echo "$program $arguments: not permitted here"
		return
	fi
	((code == 0)) || complain "$program $arguments: exit status $code"
	number='[0-9.e+]*[1-9][0-9.e+]*'
	line="[a-z/-]+ $unit $number $number $number"
	(($(grep -cEx "$line" <<<"$out") == $#)) ||
		complain "$program $arguments: for $# requests: $out"
}

answers line ns '' lines=1 lines=2 lines=1 iterations=10
answers memcpy GB/s '' size=64K 'size=1M buffers=cold' size=5000
answers attach GB/s '' size=64K 'size=64K buffers=cold' \
	'size=64K buffers=rewritten' 'size=64K buffers=away' size=1M
answers udp ns port=17701 size=64 size=8 size=1472
answers ring ns interface=lo size=64 size=1000
answers udp-stream GB/s port=17711 size=64K size=1M size=1000
answers tcp ns port=17721 size=64 size=1000
answers tcp GB/s 'port=17731 congestion=reno mode=stream' size=64K size=1000
answers yield ns sides=3 '' iterations=50
answers wake us compute=100 job=0 job=1 job=0

out=$("$programs/ref-line" rounds=2 samples=1) || complain 'rounds=2 fails'
(($(wc -l <<<"$out") == 2)) || complain "rounds=2 gives: $out"
! "$programs/ref-line" rounds=1 colour=red 2>/dev/null ||
	complain 'an unknown parameter is taken'
! "$programs/ref-line" rounds=1 samples=ten 2>/dev/null ||
	complain 'a number need not be one'

for program in "$programs"/ref-*; do
	[[ -x $program ]] || continue
	symbols=$(nm "$program")
	grep -q ' main$' <<<"$symbols" || complain "$program: no symbols"
	! grep ' bcl_' <<<"$symbols" || complain "$program has them from the library"
done
exit $status
