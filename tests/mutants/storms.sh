#!/bin/bash
# SPDX-License-Identifier: MIT
# Storms over cards that each lack a rule: they must break it. NAME.mutants is
# for the storms tests/storm/NAME; a rule behind the expression is that of
# bcl-check which must be told to be broken.
set -euo pipefail
top=${abs_top_srcdir:?}
built=${abs_top_builddir:?}
. "$top/tests/mutants.bash"

# variable NAME: as the program was built
variable() {
	sed -n "s/^$1 = //p" "$built/Makefile"
}

read -ra cc <<<"$(variable CC) $(variable CFLAGS)"
read -ra libs <<<"$(variable HWLOC_LIBS) $(variable PMIX_LIBS)"

# What they are linked from, but for the card.
cards=("$built"/tests/storm/{crew,oracle,cards}.o
	"$built"/tests/unit/card_{event,host,seal,user,world}.o)
nodes=("$built"/tests/storm/{crew,oracle,nodes,stream,cluster}.o
	"$built"/.libs/lib{sim,check,collectives,adi,transport}.a)

# compile FILE
compile() {
	"${cc[@]}" -std=gnu11 -D_GNU_SOURCE -w "${roots[@]/#/-I}" \
		-I"$top/include" -c "$(find_file "$1")" \
		-o "$(basename "$1" .c).o"
}

# What includes a header: all.
compile_changed() {
	local source
	cd mutant
	if [[ -n $(find . -name '*.c') ]]; then
		compile "$(find nicfw -name '*.c')"
	else
		for source in "$top"/nicfw/*.c; do
			compile "nicfw/$(basename "$source")"
		done
	fi
	cd ..
}

# build: ./storms, with the changed file
build() {
	roots[0]=$PWD/mutant
	compile_changed || return
	"${cc[@]}" -o storms mutant/*.o "${objects[@]}" \
		"$built/.libs/libnicfw.a" "${libs[@]}"
}

# catch [RULE]
catch() {
	local rule=${1-} status=0 how
	build || return
	timeout 100 ./storms --quick >log 2>&1 || status=$?
	((status != 0)) || return
	((status != 124)) || echo 'no end' >>log
	if [[ $rule ]]; then
		how=$(grep -m 1 ": $rule: " log) || {
			echo "not by $rule: $(head -n 1 log)"
			return 1
		}
	else
		how=$(grep -v '^failed\|^card ' log | head -n 1)
	fi
	echo "$(sed -n 's/^failed: .*--//p' log | head -n 1), ${how#*fd/*: }"
}

# told FILE SED RULE: of a storm that fails it is said how it is repeated and
# which faults it takes, fewer than there were; its trace is left, and so is a
# script of these, with which it fails by the same rule and leaves the same trace.
told() {
	local seed faults again
	change "$1" "$2" mutant || return
	roots=(mutant "${roots[@]}")
	build || return
	! ./storms --seeds 100 >log 2>&1 || return
	seed=$(sed -n 's/^failed: \.\/storms --seed //p' log | head -n 1)
	! ./storms --seed "$seed" >log 2>&1 || return
	faults=$(wc -l <"storm-$seed.faults")
	echo "told: seed $seed: $faults of $((seed % 60)) faults"
	((faults > 0 && faults < seed % 60)) || return
	grep -qx "seed $seed fails with $faults of its $((seed % 60)) faults.*" \
		log || return
	[[ $(grep -cxFf "storm-$seed.faults" log) == "$faults" ]] || return
	! "$built/tools/bcl-check" "storm-$seed.pcapng" >checked || return
	grep -q ": $3: " checked || return
	again=$(sed -n 's/^its trace: .*; again: //p' log)
	mv "storm-$seed.pcapng" before
	! $again >log 2>&1 || return
	grep -q "^storm-$seed.pcapng:[0-9]*: $3: " log || return
	cmp "storm-$seed.pcapng" before
}

tell() {
	told "$@" || {
		echo 'NOT TOLD:'
		tail -n 25 log
		return 1
	}
}

objects=("${cards[@]}")
mutants "$top/tests/mutants/cards.mutants"
objects=("${nodes[@]}")
mutants "$top/tests/mutants/nodes.mutants"
IFS=$'\t' read -r _ file expression _ \
	< <(grep $'\tendless$' "$top/tests/mutants/nodes.mutants")
begin tell "$file" "$expression" endless
finish
