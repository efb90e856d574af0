#!/bin/bash
# SPDX-License-Identifier: MIT
# What the documents name in the tree is there: files, functions,
# constants, and the rows and fields of the page about collectives.
set -euo pipefail
cd "${abs_top_srcdir:?}"
rooms=(doc include base nicfw kmod env wire card transport adi collectives pvm-glue sim tools
	bench tests)
status=0

missing() {
	echo "$1: $2 is not in the tree"
	status=1
}

# named DOCUMENT: the words in backquotes that have no blank
named() {
	grep -o '`[^` ]*`' "$1" | tr -d '`' | sort -u
}

# A document may leave out the first directories.
exists() {
	[[ -e $1 ]] || [[ $(find "${rooms[@]}" -path "*/$1" -print -quit) ]]
}

spoken() {
	grep -rqw --include='*.[ch]' -e "$1" "${rooms[@]}"
}

checked=0
for document in README.md CONTRIBUTING.md doc/*.md; do
	while read -r name; do
		case $name in
		*[*\<\>$=:]*|/*|-*|*NAME*|*NOUN*) continue ;;
		*/*.[ch]|*/*.md|*/*.sh)
			exists "$name" || missing "$document" "$name" ;;
		bcl_*'()'|build_*'()'|cost_*'()'|*_all'()')
			spoken "${name%()}" || missing "$document" "$name" ;;
		BCL_[A-Z]*)
			spoken "$name" || missing "$document" "$name" ;;
		*) continue ;;
		esac
		checked=$((checked + 1))
	done < <(named "$document")
done
echo "$checked names"
((checked > 150)) || status=1

# The rows that the page about collectives puts into its table are rows.
while read -r row; do
	grep -rq "{ \"$row\"," collectives || missing doc/collectives.md "the row $row"
done < <(sed -n '/^| operation | rows/,/^$/p' doc/collectives.md |
	cut -d '|' -f 3 | grep -o '`[^`]*`' | tr -d '`')
exit $status
