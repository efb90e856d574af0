#!/bin/bash
# SPDX-License-Identifier: MIT
# The card core compiles as a part of a kernel module, with the kernel's flags and
# all of its warnings, and needs nothing that the kernel does not have.
# KDIR names the headers of a kernel; otherwise the newest that are installed.
set -euo pipefail
top=${abs_top_srcdir:?}
kernel=${KDIR:-$(compgen -G '/usr/src/linux-headers-*/Module.symvers' |
	sort -V | tail -n 1 || true)}
kernel=${kernel%/Module.symvers}
[[ $kernel ]] || { echo 'no headers of a kernel'; exit 77; }
unset MAKEFLAGS MFLAGS MAKELEVEL # of the make that runs the tests
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cat >"$scratch/module.c" <<'MODULE'
#include <linux/module.h>
MODULE_DESCRIPTION("The card core, to be compiled only");
MODULE_LICENSE("GPL");
MODULE
objects=("$top"/nicfw/*.c)
objects=("${objects[@]##*/}")
cat >"$scratch/Kbuild" <<KBUILD
obj-m := core.o
core-y := module.o $(printf 'nicfw-%s ' "${objects[@]/%.c/.o}")
ccflags-y := -I$top/kmod/shim -I$top/include -I$top
KBUILD
# Kbuild writes objects beside sources, so each has one in $scratch.
for object in "${objects[@]}"; do
	echo "#include \"nicfw/$object\"" >"$scratch/nicfw-$object"
done

make -s -C "$kernel" M="$scratch" W=1 -j"$(nproc)" modules >"$scratch/said" 2>&1 || {
	cat "$scratch/said"
	exit 1
}
# The kernel was built by another compiler, perhaps; and it has no BTF here.
grep -v -e '^warning: the compiler differs' -e '^  The kernel was built by' \
	-e '^  You are using' -e '^Skipping BTF' "$scratch/said" && {
	echo "$kernel: warnings"
	exit 1
}
echo "${#objects[@]} files of the card core compile for ${kernel##*/}"
