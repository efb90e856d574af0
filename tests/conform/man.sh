#!/bin/bash
# SPDX-License-Identifier: MIT
# Manual pages: formatted without a warning; each installed program and each
# public function has one; references lead somewhere; synopses agree with the
# headers.
set -euo pipefail
cd "${abs_top_srcdir:?}"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
status=0

complain() {
	echo "$*"
	status=1
}

shopt -s nullglob
pages=(man/*.[1-9] "${abs_top_builddir:?}"/man/*.[1-9])
for page in "${pages[@]}"; do
	warnings=$(groff -mdoc -Tutf8 -ww -z "$page" 2>&1)
	[[ ! $warnings ]] || complain "$warnings"
	while read -r name section; do
		grep -q "^\.Nm $name\( ,\)\?\$" "${pages[@]}" ||
			complain "$page: no page $name($section)"
	done < <(sed -nE 's/^\.Xr (bcl[a-z_-]*) ([1-9]).*/\1 \2/p' "$page")
done

while read -r function; do
	count=$(sed '/^\.Sh SYNOPSIS/,$d' man/*.3 -s |
		grep -cE "^\.Nm $function( ,)?\$") || true
	((count == 1)) || complain "$function() is named in $count pages"
done < <(sed -n 's/^[[:space:]]*\(bcl_[a-z0-9_]*\);$/\1/p' libbcl.map)

for program in "$abs_top_builddir"/{tools,bench}/bcl-*; do
	[[ -f $program && -x $program ]] || continue
	[[ -e man/${program##*/}.1 ]] ||
		complain "no manual page for ${program##*/}"
done

# Declared twice with other types, a function is an error.
{
	printf '#include <bcl/%s.h>\n' bcl adi boot coll
	awk '	{ gsub(/"/, "") }
		/^\.Ft / { type = substr($0, 5) }
		/^\.Fo / { call = $2; separator = "(" }
		/^\.Fa / && call { call = call separator substr($0, 5)
			separator = ", " }
		/^\.Fc/ { print type " " call ");"; call = "" }' man/*.3
} >"$scratch/synopses.c"
gcc -std=gnu11 -Wall -Werror -fsyntax-only -Iinclude \
	-I"$abs_top_builddir/include" "$scratch/synopses.c" ||
	complain 'a synopsis differs from its header'
exit $status
