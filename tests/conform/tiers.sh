#!/bin/bash
# SPDX-License-Identifier: MIT
# A unit test that makes threads is among those that the thread sanitizer looks at
# in both tiers. A test's time and verdict are told, also where it ends as none may;
# the slowest are named.
set -euo pipefail
top=${abs_top_srcdir:?}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
status=0

complain() {
	echo "$*"
	status=1
}

threads=$(sed -n '/^thread_tests +=/,/[^\\]$/p' "$top/tests/unit/local.mk")
while read -r source; do
	name=$(basename "$source" .c)
	grep -Eq "/$name( |\$)" <<<"$threads" ||
		complain "$name makes threads and is not in thread_tests"
done < <(grep -l 'pthread_create(' "$top"/tests/unit/test_*.c)

# told STATUS VERDICT RECHECK COPY: what is made of a test that ends so
told() {
	local said
	said=$("$top/tests/driver" --test-name some --log-file "$work/log" \
		--trs-file "$work/trs" --color-tests no \
		--enable-hard-errors yes --expect-failure no -- \
		sh -c "echo words; exit $1")
	[[ $said =~ ^$2:\ some,\ [0-9]+\ s$ ]] || complain "$1: it says $said"
	diff - <(sed 's/^\(:seconds:\) [0-9]*$/\1/' "$work/trs") <<-END ||
		:test-result: $2
		:global-test-result: $2
		:recheck: $3
		:copy-in-global-log: $4
		:seconds:
	END
		complain "$1: what automake is told differs"
	diff - "$work/log" <<-END || complain "$1: the log differs"
		words
		$2 some (exit status: $1)
	END
}
told 0 PASS no no
told 77 SKIP no yes
told 99 ERROR yes yes
told 1 FAIL yes yes
told 139 FAIL yes yes

# As tests leave them in a build: 20 that took 1 to 20 s.
mkdir -p "$work"/{scripts,build/tests}
cp "$top/scripts/totals" "$work/scripts"
for ((i = 1; i <= 20; i++)); do
	printf '%s\n' ':global-test-result: PASS' ":seconds: $i" \
		>"$work/build/tests/t$i.trs"
done
"$work/scripts/totals" >"$work/said" || complain 'all passed, and yet it fails'
diff "$work/said" <(echo 'the 15 slowest, in seconds:'
	for ((i = 20; i > 5; i--)); do
		printf '%6d  tests/t%d\n' $i $i
	done
	echo '20 passed, 0 failed, 0 skipped') || complain '^ totals'
echo ':global-test-result: ERROR' >"$work/build/tests/t3.trs"
! "$work/scripts/totals" >"$work/said" || complain 'one failed, and it does not'
exit $status
