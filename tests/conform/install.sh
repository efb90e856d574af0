#!/bin/bash
# SPDX-License-Identifier: MIT
# What "make install" puts into DESTDIR suffices to build the README's program
# with pkg-config, against the shared and the static library; the shared one
# exports all that libbcl.map lists.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset MAKEFLAGS MFLAGS MAKELEVEL

make -C "${abs_top_builddir:?}" --no-print-directory install \
	DESTDIR="$scratch/root" >"$scratch/log" 2>&1 || {
	cat "$scratch/log"
	exit 1
}

pc=$(find "$scratch/root" -name bcl.pc)
sed -i "s|^prefix=|prefix=$scratch/root|" "$pc"
export PKG_CONFIG_PATH=${pc%/*}
libdir=${PKG_CONFIG_PATH%/pkgconfig}
sed -n '/^```c$/,/^```$/{//!p}' "${abs_top_srcdir:?}/README.md" \
	>"$scratch/program.c"
cd "$scratch"
read -ra flags < <(pkg-config --cflags --libs bcl)
gcc program.c -o shared "${flags[@]}"
read -ra flags < <(pkg-config --static --cflags --libs bcl)
gcc program.c -o static "${flags[@]/#-lbcl/-l:libbcl.a}"

expected='rank 0 of 1 counts 1'
[[ $(LD_LIBRARY_PATH=$libdir ./shared) == "$expected" ]]
[[ $(./static) == "$expected" ]]

exported() {
	nm -D --defined-only "$libdir/libbcl.so" |
		sed -n 's/^.* T \(bcl_[a-z0-9_]*\)@.*/\1/p' | sort
}
sed -n 's/^[[:space:]]*\(bcl_[a-z0-9_]*\);$/\1/p' "$abs_top_srcdir/libbcl.map" |
	sort | diff --label libbcl.map --label libbcl.so -u - <(exported)
