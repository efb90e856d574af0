# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# For scripts that run the program of their own name on a PVM; in a scratch
# directory.
# shellcheck disable=SC2034 # for them
machine=${abs_top_srcdir:?}/scripts/pvm-machine
program=${abs_top_builddir:?}/tests/pvm/$(basename "$0" .sh)
[[ -x $program ]] || { echo 'no PVM to build programs with'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
