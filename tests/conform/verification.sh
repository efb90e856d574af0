#!/bin/bash
# SPDX-License-Identifier: MIT
# doc/verification.md tells of each model and each harness, and its tables name
# what is there: in the model, in the code, and as many mutants.
set -euo pipefail
cd "${abs_top_srcdir:?}"
doc=doc/verification.md
code=(adi collectives nicfw sim tests/storm transport include)
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

for model in tests/model/*.pml; do
	section "$model" >"$scratch/section"
	grep -q '^| model | code |$' "$scratch/section" || {
		complain "$doc does not tell of $model"
		continue
	}
	while read -r word; do
		grep -qw -- "$word" "$model" ||
			complain "$model has no $word"
	done < <(quoted 1 <"$scratch/section")
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
