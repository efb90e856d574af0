# SPDX-License-Identifier: MIT
# For tests that prove that they can fail. A mutant is a version of one of the
# tree's files that lacks one rule, and the test must catch each mutant. To be
# included.
#
# NAME.mutants has one mutant a line, fields separated by tabs: a title, the
# file, a sed expression that takes the rule away, and further fields for
# `catch`. The script that includes this file defines
#
#  catch FIELDS...: 0 if the test fails for the mutant, and prints how. The
#	changed file is in the first of $roots, all other files where they were
#
# Each mutant runs in a directory of its own, as many at a time as there are
# processors.
# shellcheck shell=bash
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
roots=("${abs_top_srcdir:?}") # each hides the files of those behind it
begun=0

# begin COMMAND...: start the command in a directory of its own, when a processor
# is free
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

# finish: wait for all commands that began, and print their output; 1: some failed
finish() {
	local i failed=0
	wait
	for ((i = 1; i <= begun; i++)); do
		cat "$scratch/run.$i/result"
		[[ ! -e $scratch/run.$i/failed ]] || failed=1
	done
	return $failed
}

# find_file FILE: print where the file is
find_file() {
	local root
	for root in "${roots[@]}"; do
		[[ ! -e $root/$1 ]] || break
	done
	echo "$root/$1"
}

# change FILE SED ROOT: write the changed file into another root; 1: no change, or
# of blank lines only
change() {
	local from
	from=$(find_file "$1")
	mkdir -p "$(dirname "$3/$1")"
	sed "$2" "$from" >"$3/$1" &&
		! diff -qB "$from" "$3/$1" >/dev/null
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

# applies TITLE FILE SED FIELDS...
applies() {
	change "$2" "$3" mutant || {
		echo "DOES NOT APPLY: $1"
		return 1
	}
}

# mutants TABLE: begin to judge the mutants of the table. In the short tier that is
# every third; the others must apply.
mutants() {
	local line fields n=0
	while read -r line; do
		IFS=$'\t' read -ra fields <<<"$line"
		if [[ ${LONG-} ]] || ((n++ % 3 == 0)); then
			begin judge "${fields[@]}"
		else
			begin applies "${fields[@]}"
		fi
	done <"$1"
}
