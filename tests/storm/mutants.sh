#!/bin/bash
# SPDX-License-Identifier: MIT
# Storms over cards that each lack a rule, cards.mutants: they must break it.
set -euo pipefail
top=${abs_top_srcdir:?}
. "$top/tests/mutants.bash"
sources=(storm/crew storm/cards storm/oracle unit/card_{world,seal,user})

# compile FILE
compile() {
	gcc -std=gnu11 -D_GNU_SOURCE -O1 -w "${roots[@]/#/-I}" \
		-I"$top/include" -c "$(find_file "$1")" \
		-o "$(basename "$1" .c).o"
}

catch() {
	local source status=0
	for source in "$top"/nicfw/*.c; do
		compile "nicfw/$(basename "$source")" || return
	done
	gcc -o cards ./*.o "$scratch"/*.o || return
	timeout 100 ./cards --seeds 2000 >log 2>&1 || status=$?
	((status != 0)) || return
	((status != 124)) || echo 'no end' >>log
	echo "$(sed -n 's/^failed: .*--//p' log | head -n 1)," \
		"$(grep -v '^failed\|^card ' log | head -n 1)"
}

cd "$scratch"
for source in "${sources[@]}"; do
	compile "tests/$source.c"
done
mutants "$top/tests/storm/cards.mutants"
finish
