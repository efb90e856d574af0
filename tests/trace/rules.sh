#!/bin/bash
# SPDX-License-Identifier: MIT
# bcl-check accepts good traces and rejects each bad one, by the rule that its
# name begins with; there is a bad one for each rule.
set -euo pipefail
here=${abs_top_srcdir:?}/tests/trace
compile=${abs_top_builddir:?}/tests/trace/compile
check=$abs_top_builddir/tools/bcl-check
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
status=0

for trace in good-damaged good-early good-lives good-rails good; do
	"$compile" "$here/$trace.trace" "$scratch/good.pcapng"
	"$check" "$scratch/good.pcapng" || status=1
done

# Its writer may have been killed.
head -c 20000 "$scratch/good.pcapng" >"$scratch/half.pcapng"
"$check" "$scratch/half.pcapng" || status=1

# Where there is nothing, or no text that could be right, nothing is kept.
head -c 28 "$scratch/good.pcapng" >"$scratch/head.pcapng"
for nothing in "$scratch/head.pcapng" /dev/null "$scratch" "$here/good.trace" \
	       "-p -5 $scratch/good.pcapng" "-p x $scratch/good.pcapng"; do
	code=0
	# shellcheck disable=SC2086
	"$check" $nothing >"$scratch/said" 2>"$scratch/error" || code=$?
	((code == 2)) && [[ -s $scratch/error ]] || {
		echo "$nothing: code $code, $(<"$scratch/said")"
		status=1
	}
done

# says TEXT FILE: why it is none
says() {
	! "$check" "$2" >/dev/null 2>"$scratch/error" &&
		grep -qF "$2: $1" "$scratch/error" || {
		echo "$2: $(<"$scratch/error")"
		status=1
	}
}
[[ $("$check" --help) == usage:* ]] || {
	echo 'no help'
	status=1
}
says 'not a trace' "$here/good.trace"
says 'not a trace' "$check"
says 'Is a directory' "$scratch"
says 'No such file' "$scratch/none"

for trace in "$here"/bad/*.trace; do
	rule=${trace##*/}
	rule=${rule%.trace}
	rule=${rule%%-*}
	also=$(sed -n 's/^# also //p' "$trace")
	cp "$here"/*.trace "$scratch"
	cp "$trace" "$scratch/this.trace"
	"$compile" "$scratch/this.trace" "$scratch/bad.pcapng"
	code=0
	"$check" "$scratch/bad.pcapng" >"$scratch/said" || code=$?
	broken=$(sed -n 's/^[^ ]*:[0-9]*: \([a-z]*\): .*/\1/p' "$scratch/said" |
		sort -u | tr '\n' ' ')
	wanted=$(printf '%s\n' "$rule" $also | sort -u | tr '\n' ' ')
	if ((code != 1)) || [[ $broken != "$wanted" ]]; then
		echo "${trace##*/}: code $code, broken rules: $broken"
		cat "$scratch/said"
		status=1
	fi
done

while read -r rule _; do
	compgen -G "$here/bad/$rule.trace" >/dev/null ||
		compgen -G "$here/bad/$rule-*.trace" >/dev/null || {
		echo "no bad trace for $rule"
		status=1
	}
done < <("$check" -l)
exit $status
