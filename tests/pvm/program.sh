# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# For scripts that run a program on a PVM, that of their own name unless they
# set $program; in a scratch directory.
# shellcheck disable=SC2034 # for them
machine=${abs_top_srcdir:?}/scripts/pvm-machine
program=${abs_top_builddir:?}/tests/pvm/${program-$(basename "$0" .sh)}
[[ -x $program ]] || { echo 'no PVM to build programs with'; exit 77; }
# Seconds until a run hangs. Others may have the processors meanwhile.
export limit=240
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
