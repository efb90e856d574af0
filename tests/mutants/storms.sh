#!/bin/bash
# SPDX-License-Identifier: MIT
# Storms over cards that each lack a rule: they must break it. NAME.mutants is
# for the storms tests/storm/NAME; a rule behind the expression is that of
# bcl-check which must be told to be broken. units.mutants is for what happens
# too rarely in storms: the unit test of that name must fail.
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
read -ra check_libs <<<"$(variable CHECK_LIBS)"

# What they are linked from, but for what is changed and the card.
cards=("$built"/tests/storm/{crew,trial,oracle,cards,weather}.o
	"$built"/tests/unit/card_{event,host,seal,user,world}.o
	"$built/.libs/libsim.a")
world=("$built"/tests/unit/card_{event,host,seal,user,world}.o)
nodes=("$built"/tests/storm/{crew,trial,oracle,nodes,stream,cluster}.o
	"$built"/.libs/lib{sim,check,collectives,adi,transport}.a)
ranks=("$built"/tests/storm/{crew,trial,ranks,cluster}.o
	"$built/tests/unit/adi_traffic.o"
	"$built"/.libs/lib{sim,check,collectives,adi,transport}.a)

# compile FILE
compile() {
	"${cc[@]}" -std=gnu11 -D_GNU_SOURCE -w "${roots[@]/#/-I}" \
		-I"$top/include" -I"$built/include" -c "$(find_file "$1")" \
		-o "$(basename "$1" .c).o"
}

# What includes a header: all.
compile_changed() {
	local source
	cd mutant
	if [[ -n $(find . -name '*.c') ]]; then
		compile "$(find nicfw adi -name '*.c' 2>/dev/null)"
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

# catch [RULE]: the storms go on after one that broke other rules only
catch() {
	local rule=${1-} from=1 seed how
	build || return
	while ((from < 100)); do
		! ./storms --quick --seeds 3000 --from "$from" >log 2>&1 || return
		seed=$(sed -n 's/^failed: .*--seed //p' log | sed -n 1p)
		from=$((seed + 1))
		if [[ $rule ]]; then
			how=$(grep -m 1 ": $rule: " log) || continue
		else
			how=$(grep -v '^failed\|^card ' log | sed -n 1p)
		fi
		echo "seed $seed, ${how#*fd/*: }"
		return
	done
	echo "not by $rule: $(head -n 1 log)"
	return 1
}

# all_rules: each rule of bcl-check has a mutant
all_rules() {
	diff <("$built/tools/bcl-check" -l | awk '{ print $1 }' | sort) \
		<(awk -F '\t' 'NF == 4 { print $4 }' \
			"$top/tests/mutants/nodes.mutants" | sort)
}

# told FILE SED SAID: of a storm that fails it is said how it is repeated and
# which faults it takes, fewer than there were; and with the script of these that
# is left, so that SAID is said, too.
told() {
	local seed faults all again
	change "$1" "$2" mutant || return
	roots=(mutant "${roots[@]}")
	build || return
	! ./storms --seeds 300 >log 2>&1 || return
	seed=$(sed -n 's/^failed: .* --seed //p' log | sed -n 1p)
	! ./storms --seed "$seed" >log 2>&1 || return
	all=$(sed -n "s/^seed $seed fails with .* of its \(.*\) faults.*/\1/p" log)
	faults=$(wc -l <"storm-$seed.faults")
	echo "told: seed $seed: $faults of $all faults"
	((faults > 0 && faults < all)) || return
	[[ $(grep -cxFf "storm-$seed.faults" log) == "$faults" ]] || return
	again=$(sed -n 's/^again: //p' log)
	sed "1,/^seed $seed fails with/d" log | grep "$3" >first || return
	[[ ! -e storm-$seed.pcapng ]] || mv "storm-$seed.pcapng" before
	! $again >log 2>&1 || return
	grep "$3" log | cmp first || return
	# Its trace is the same, and breaks the same rule.
	[[ -e before ]] || return 0
	cmp "storm-$seed.pcapng" before || return
	! "$built/tools/bcl-check" before >log || return
	grep -q "$3" log
}

tell() {
	told "$@" || {
		echo 'NOT TOLD:'
		tail -n 25 log
		return 1
	}
}

# tell_of TABLE TITLE SAID: of this mutant
tell_of() {
	local file expression
	IFS=$'\t' read -r _ file expression _ \
		< <(grep "^$2"$'\t' "$top/tests/mutants/$1")
	begin tell "$file" "$expression" "$3"
}

begin all_rules
objects=("${cards[@]}")
mutants "$top/tests/mutants/cards.mutants"
tell_of cards.mutants 'a late HELLO takes a connection over' ' came to life '
objects=("${nodes[@]}")
mutants "$top/tests/mutants/nodes.mutants"
tell_of nodes.mutants 'a time-out that neither waits nor grows' ': endless: '
objects=("${ranks[@]}")
mutants "$top/tests/mutants/ranks.mutants"

# catch UNIT: by the unit test of that name
catch() {
	roots[0]=$PWD/mutant
	compile_changed || return
	compile "tests/unit/test_$1.c" || return
	"${cc[@]}" -o unit mutant/*.o "test_$1.o" "${world[@]}" \
		"$built/.libs/libnicfw.a" "${check_libs[@]}" || return
	! ./unit >log 2>&1 || return
	sed -n 's/^.*\.c:[0-9]*:[EF]:[^:]*:\([^:]*\):.*/by \1/p' log | sed -n 1p
}
mutants "$top/tests/mutants/units.mutants"
finish
