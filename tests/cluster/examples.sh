#!/bin/bash
# SPDX-License-Identifier: MIT
# The examples give what they should, on one node and on two: psort what sort
# gives, heat the same field by messages, by remote memory and by one rank.
# outlive gives the same sum although a rank dies.
set -euo pipefail
PATH=${abs_top_srcdir:?}/scripts:$PATH
examples=${abs_top_builddir:?}/examples
command -v mpiexec.hydra >/dev/null || {
	echo 'no mpiexec.hydra (package mpich)'
	exit 77
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMP_NUM_THREADS=2

# A text of lines of all lengths, some equal, some empty, some not text.
{
	find "$abs_top_srcdir" -type f -name '*.[ch]' -exec cat {} +
	printf '\n\n\xff\xfe\nb\0a\nb\na\nno end'
} >"$work/text"
printf 'one line' >"$work/short"
: >"$work/empty"
for text in text short empty; do
	LC_ALL=C sort "$work/$text" >"$work/$text.sorted"
done
heat=("$examples/heat" -n 97 -s 50)
field=$("${heat[@]}" "$work/one.png" | grep -o 'field .*')
echo "$field"
# Its first part says PNG, 97 times 97, 8 bits a colour; a black one is less.
[[ $(od -An -v -tx1 -N 26 "$work/one.png" | tr -d ' \n') == \
	89504e470d0a1a0a0000000d4948445200000061000000610802 ]]
(($(wc -c <"$work/one.png") > 500))

# check JOB...: how to start it on some ranks
check() {
	local text way sum
	echo "$*"
	for text in text short empty; do
		"$@" "$examples/psort" "$work/$text" |
			cmp - "$work/$text.sorted"
		"$@" "$examples/psort" -o "$work/out" "$work/$text"
		cmp "$work/out" "$work/$text.sorted"
	done
	for way in '' --rma; do
		sum=$("$@" "${heat[@]}" $way "$work/heat.png" |
			grep -o 'field .*')
		[[ $sum == "$field" ]]
		cmp "$work/heat.png" "$work/one.png"
	done
	sum=$("$@" "$examples/hybrid" 100000)
	[[ $sum == '9592 primes below 100000, '* ]]
	sum=$("$@" "$examples/outlive")
	[[ $sum == '499999500000, added by '* ]]
	sum=$("$@" "$examples/hello" | sort -u | wc -l)
	[[ $sum == $("$@" "$examples/hello" | grep -o '[0-9]*$' | sed -n 1p) ]]
}

if [[ ${1-} == nodes ]]; then
	check cluster mpiexec 1
	check cluster mpiexec 2
	exit
fi
numbers='1 3'
[[ ! ${LONG-} ]] || numbers='1 2 3 4'
for ranks in $numbers; do
	check mpiexec.hydra -n $ranks
done
# The launcher's own status tells of the victim.
for victim in 0 2; do
	sum=$(mpiexec.hydra -disable-auto-cleanup -n 4 "$examples/outlive" \
		$victim) || true
	echo "$sum"
	grep -qx '499999500000, added by 3 of 4 ranks' <<<"$sum"
done
cluster run "$0" nodes
