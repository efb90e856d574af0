# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# For scripts that run something on a PVM: in a scratch directory.
export machine=${abs_top_srcdir:?}/scripts/pvm-machine
# Seconds until a run hangs. Others may have the processors meanwhile.
export limit=240
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
