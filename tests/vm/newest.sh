#!/bin/bash
# SPDX-License-Identifier: MIT
# The kernel module can be built, without a warning, for the newest kernel that the
# distribution offers.
set -euo pipefail
# shellcheck source=tests/vm/guest.sh
. "${abs_top_srcdir:?}/tests/vm/guest.sh"
unset MAKEFLAGS MFLAGS MAKELEVEL
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
newest=$(apt-cache search --names-only '^linux-headers-[0-9].*-cloud-amd64$' |
	sed 's/ .*//' | sort -V | tail -n 1)
[[ $newest ]] || vm_skip 'no list of packages'
mapfile -t parts < <(apt-cache depends "$newest" |
	sed -n 's/^ *Depends: \(linux-\(headers\|kbuild\).*\)/\1/p')
cd "$scratch"
apt-get -qq download "$newest" "${parts[@]}" 2>"$scratch/said" || {
	cat "$scratch/said"
	vm_skip "$newest cannot be had"
}
for package in *.deb; do
	dpkg-deb --extract "$package" files
done
headers=$scratch/files/usr/src/$newest
sed -i "s,/usr/src,$scratch/files/usr/src," "$headers/Makefile"
cp -r "$abs_top_srcdir"/{kmod,nicfw,card,include,base} .
vm_modules "$headers" "$scratch/kmod"
modinfo -F vermagic kmod/bcl.ko
