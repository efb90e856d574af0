# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# For scripts that run a program on a PVM, that of their own name unless they
# set $program; in a scratch directory.
program=${abs_top_builddir:?}/tests/pvm/${program-$(basename "$0" .sh)}
[[ -x $program ]] || { echo 'no PVM to build programs with'; exit 77; }
# shellcheck source=tests/pvm/scratch.sh
. "${abs_top_srcdir:?}/tests/pvm/scratch.sh"
