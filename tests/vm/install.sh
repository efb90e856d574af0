#!/bin/bash
# SPDX-License-Identifier: MIT
# What "make install-kmod" and "make dkms-kmod" put below DESTDIR: the module where
# modprobe finds it, which says what it is and takes; the rule for its device; and
# sources that suffice to build it, also for DKMS.
set -euo pipefail
# shellcheck source=tests/vm/guest.sh
. "${abs_top_srcdir:?}/tests/vm/guest.sh"
headers=$(vm_headers)
unset MAKEFLAGS MFLAGS MAKELEVEL DESTDIR
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
PATH=$PATH:/usr/sbin:/sbin
release=${headers##*/linux-headers-}
version=$(sed -n 's/^AC_INIT(\[bcl\], \[\(.*\)\])/\1/p' "$abs_top_srcdir/configure.ac")
sources=$scratch/dkms/usr/src/bcl-$version

fail() {
	echo "$*"
	exit 1
}

# quietly COMMAND...: says what the command said if it fails
quietly() {
	"$@" >"$scratch/said" 2>&1 || { cat "$scratch/said"; fail "$* fails"; }
}

quietly make -f "$abs_top_srcdir/GNUmakefile" -C "$abs_top_srcdir" dkms-kmod \
	DESTDIR="$scratch/dkms"
[[ -e $sources/dkms.conf ]] || fail 'the sources for DKMS have another version'

# The sources are a tree of their own, in which nothing is built yet.
! find "$sources" -name '*.o' -o -name '*.mod*' | grep . || fail 'objects are sources'
quietly make -C "$sources/kmod" install KDIR="$headers" DESTDIR="$scratch/image"
modules=$scratch/image/lib/modules/$release
module=$(find "$modules" -name bcl.ko)
[[ $module ]] || fail 'no module is installed'
grep -q '/bcl\.ko:' "$modules/modules.dep" || fail 'depmod does not list the module'
grep -qx 'KERNEL=="bcl", SUBSYSTEM=="misc", MODE="0666"' \
	"$scratch/image/usr/lib/udev/rules.d/60-bcl.rules" || fail 'no rule for the device'
modprobe -d "$scratch/image" -S "$release" --show-depends bcl >"$scratch/said" ||
	fail 'modprobe does not find the module'

# field NAME EXPECTED
field() {
	local is
	is=$(modinfo -F "$1" "$module")
	[[ $is == "$2" ]] || fail "modinfo: $1 is \"$is\""
}
field version "$version"
field license 'Dual MIT/GPL'
field author ''
field description 'BCL: cards for message passing in the kernel'

# The manual page has all parameters.
modinfo -F parm "$module" | sed 's/:.*//' | sort >"$scratch/parameters"
sed -nE 's/^\.(It )?Cm ([a-z_]+) Ns = .*/\2/p' "$abs_top_srcdir/man/bcl.4" | sort |
	diff --label 'bcl.4' --label modinfo -u - "$scratch/parameters" ||
	fail 'bcl(4) has other parameters than the module'
(($(wc -l <"$scratch/parameters") > 0)) || fail 'the module has no parameters'

if [[ ! ${LONG-} ]]; then
	echo 'make check-long tries DKMS'
elif command -v dkms >/dev/null; then
	mkdir "$scratch/built"
	# A program for signing that is not there: DKMS makes no key for this machine.
	sign_file=/nonexistent quietly dkms build "bcl/$version" -k "$release" --kernelsourcedir "$headers" \
		--sourcetree "$scratch/dkms/usr/src" --dkmstree "$scratch/built"
	[[ $(find "$scratch/built" -name 'bcl.ko*') ]] || fail 'DKMS has built nothing'
	echo "dkms built bcl/$version for $release"
else
	echo 'dkms is not installed: its build was not tried'
fi
