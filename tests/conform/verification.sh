#!/bin/bash
# SPDX-License-Identifier: MIT
# doc/verification.md tells of each model and each harness, and its tables name
# what is there: all of the model, what it stands for in the code, and as many
# mutants.
set -euo pipefail
cd "${abs_top_srcdir:?}"
doc=doc/verification.md
code=(adi card collectives env nicfw sim tests/storm transport wire include)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
status=0

complain() {
	echo "$*"
	status=1
}

# Every word of the sources, and every file, once.
grep -rhoEw '[A-Za-z_][A-Za-z_0-9]*' --include='*.[ch]' "${code[@]}" |
	sort -u >"$scratch/words"
find "${code[@]}" -type f >"$scratch/files"

# section FILE: what is said of it
section() {
	awk -v file="\`$1\`" '/^## / { on = index($0, file) } on' $doc
}

# quoted COLUMN: the words in backquotes there, of a table on standard input
quoted() {
	awk -F ' *[|] *' -v column="$1" '/^\| / { print $(column + 1) }' |
		grep -oE '`[^`]*`' | tr -d '`' |
		grep -oE '[A-Za-z_][A-Za-z_0-9]*' | sort -u
}

# parts MODEL: its states, steps, processes and variables
parts() {
	sed -nE 's/^mtype = \{(.*)\};.*/\1/p' "$1" | tr ',' '\n'
	sed -nE -e 's/^inline ([a-z_]+)\(.*/\1/p' \
		-e 's/^(active .*)?proctype ([a-z_]+)\(.*/\2/p' "$1"
	sed -nE 's/^[a-z_]+ ([a-z_]+(( = |[[,])[^;]*)?);.*/\1/p' "$1" |
		sed -E 's/\{.*//; s/\[[^]]*\]//g; s/ = [^,]*//g' | tr ',' '\n'
}

for model in tests/model/*.pml; do
	grep -qP '\tends\b' "${model%.pml}.mutants" ||
		complain "no mutant of $model fails by its formula"
	section "$model" >"$scratch/section"
	grep -q '^| model | code |$' "$scratch/section" || {
		complain "$doc does not tell of $model"
		continue
	}
	quoted 1 <"$scratch/section" >"$scratch/told"
	while read -r word; do
		grep -qx -- "$word" "$scratch/told" ||
			complain "$doc does not say what $word of $model is"
	done < <(parts "$model")
	while read -r word; do
		grep -qw -- "$word" "$model" ||
			complain "$model has no $word"
	done <"$scratch/told"
	while read -r word; do
		grep -qx -- "$word" "$scratch/words" ||
			complain "$model stands for $word, which there is not"
	done < <(quoted 2 <"$scratch/section")
	while read -r file; do
		grep -qE "(^|/)$file\$" "$scratch/files" ||
			complain "$model stands for $file, which there is not"
	done < <(grep '^| ' "$scratch/section" |
		grep -oE '[a-z_/-]+\.[ch]\b' | sort -u)
done

for mutants in tests/weak/*.mutants; do
	name=$(basename "$mutants" .mutants)
	said=$(awk -F ' *[|] *' -v name="\`$name\`" \
		'$2 == name { print $6 }' $doc)
	[[ $said == "$(wc -l <"$mutants")" ]] ||
		complain "$doc: ${said:-no} mutants of $name"
done
exit $status
