# SPDX-License-Identifier: MIT
# The project, installed below $scratch/root, which goes when the script ends; $pc
# is its bcl.pc, as if it had been installed where it is. To be included.
# shellcheck shell=bash
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
