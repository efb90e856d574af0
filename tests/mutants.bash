# SPDX-License-Identifier: MIT
# For tests that prove that they can fail: versions of the tree's files that
# lack one rule, mutants, each of which the test must catch. To be included.
#
# NAME.mutants has one mutant a line, fields separated by tabs: a title, the
# file, a sed expression that takes the rule away, and what `catch` wants
# besides. Whoever includes this defines
#
#  catch FIELDS...: 0 if the test fails for the mutant, having printed how. The
#	changed file is in the first of $roots, all others where they were
#
# Everything runs in directories of its own, as many at a time as there are
# processors.
# shellcheck shell=bash
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
roots=("${abs_top_srcdir:?}") # each hides the files of those behind it
begun=0

# begin COMMAND...: in a directory of its own, when a processor is free
begin() {
	local place=$scratch/run.$((begun += 1))
	while (($(jobs -rp | wc -l) >= $(nproc))); do
		wait -n || true
	done
	mkdir "$place"
	(
		cd "$place" || exit
		"$@" >result 2>&1 || touch failed
	) &
}

# finish: wait for all that began, print what they did; 1: some failed
finish() {
	local i failed=0
	wait
	for ((i = 1; i <= begun; i++)); do
		cat "$scratch/run.$i/result"
		[[ ! -e $scratch/run.$i/failed ]] || failed=1
	done
	return $failed
}

# find_file FILE: where it is
find_file() {
	local root
	for root in "${roots[@]}"; do
		[[ ! -e $root/$1 ]] || break
	done
	echo "$root/$1"
}

# change FILE SED ROOT: into another root; 1: nothing changed
change() {
	local from
	from=$(find_file "$1")
	mkdir -p "$(dirname "$3/$1")"
	sed "$2" "$from" >"$3/$1" && ! cmp -s "$from" "$3/$1"
}

# judge TITLE FILE SED FIELDS...
judge() {
	local how
	if ! change "$2" "$3" mutant; then
		echo "DOES NOT APPLY: $1"
		return 1
	fi
	roots=(mutant "${roots[@]}")
	if ! how=$(catch "${@:4}"); then
		echo "NOT CAUGHT: $1${how:+: $how}"
		return 1
	fi
	echo "caught: $1: $how"
}

# mutants TABLE: begin to judge them
mutants() {
	local line fields
	while read -r line; do
		IFS=$'\t' read -ra fields <<<"$line"
		begin judge "${fields[@]}"
	done <"$1"
}
