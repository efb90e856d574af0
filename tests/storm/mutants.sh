#!/bin/bash
# SPDX-License-Identifier: MIT
# Storms over cards that each lack a rule: they must break it. A line of
# cards.mutants: a title, the file, a sed expression; between tabs.
set -euo pipefail
top=${abs_top_srcdir:?}
here=$top/tests/storm
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
sources=(storm/cards storm/storm storm/oracle unit/card_{world,seal,user})

# compile ROOT FILE TO: FILE of the copy or the tree
compile() {
	gcc -std=gnu11 -D_GNU_SOURCE -O1 -w -I"$1" -I"$top" -I"$top/include" \
		-c "$2" -o "$3"
}

# mutate ROOT FILE SED: into ROOT; fails if nothing changes
mutate() {
	cp -r "$top/nicfw" "$1"
	sed -i "$3" "$1/$2"
	! cmp -s "$top/$2" "$1/$2"
}

# cards ROOT: the program, with the card of ROOT
cards() {
	local source
	for source in "$1"/nicfw/*.c; do
		compile "$1" "$source" "$1/$(basename "$source" .c).o"
	done
	gcc -o "$1/cards" "$1"/*.o "$scratch"/*.o
}

# judge TITLE FILE SED: 1: it was not caught
judge() {
	local root status=0
	root=$(mktemp -d -p "$scratch")
	if ! mutate "$root" "$2" "$3"; then
		echo "$1: the mutation no longer applies"
		return 1
	fi
	cards "$root"
	timeout 100 "$root/cards" --seeds 2000 >"$root/log" 2>&1 || status=$?
	if ((status == 0)); then
		echo "$1: NOT CAUGHT"
		return 1
	fi
	((status != 124)) || echo 'no end' >>"$root/log"
	echo "$1: $(sed -n 's/^failed: .*--//p' "$root/log" | head -n 1)," \
		"$(grep -v '^failed\|^card ' "$root/log" | head -n 1)"
}

for source in "${sources[@]}"; do
	compile "$scratch" "$top/tests/$source.c" \
		"$scratch/$(basename "$source").o"
done
failed=0
while IFS=$'\t' read -r title file expression; do
	judge "$title" "$file" "$expression" || failed=1
done <"$here/cards.mutants"
exit $failed
