#!/bin/bash
# SPDX-License-Identifier: MIT
# What doc/glossary.md names is in the code: files, identifiers, members of structs.
set -euo pipefail
cd "${abs_top_srcdir:?}"
rooms=(include nicfw env wire card transport adi collectives pvm-glue)
status=0

missing() {
	echo "doc/glossary.md: $1 is not in the code"
	status=1
}

named() {
	grep -o '`[^`]*`' doc/glossary.md | tr -d '`' | sort -u
}

exists() {
	[[ -e $1 ]] || [[ $(find "${rooms[@]}" tests -path "*/$1" -print -quit) ]]
}

spoken() {
	grep -rqw --include='*.[ch]' -e "$1" "${rooms[@]}"
}

(($(named | wc -l) > 80))
while read -r name; do
	case $name in
	*' '*|MPI_*|process_vm_readv|doc/*) ;;
	*.[ch]|*/) exists "$name" || missing "$name" ;;
	*'()') spoken "${name%()}" || missing "$name" ;;
	*.*) spoken "${name%%.*}" && spoken "${name##*.}" || missing "$name" ;;
	*'('*) ;;
	*) spoken "$name" || missing "$name" ;;
	esac
done < <(sed 's/^struct //' < <(named) | sed 's/^\.\([a-z]\)/\1/')
# The line above a table's rule is its head, which names nothing in the code.
while read -r entry; do
	echo "doc/glossary.md: an entry in place of the head: $entry"
	status=1
done < <(grep -B1 '^|---' doc/glossary.md | grep '`' || true)
exit $status
