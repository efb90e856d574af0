#!/bin/bash
# SPDX-License-Identifier: MIT
# A task whose libpvm3 has messages of another layout talks by PVM's routes, and
# says so; the others are not disturbed.
set -euo pipefail
machine=${abs_top_srcdir:?}/scripts/pvm-machine
program=${abs_top_builddir:?}/tests/pvm/traffic
another=${abs_top_builddir:?}/tests/pvm/.libs/another.so
[[ -x $program ]] || { echo 'no PVM to build programs with'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# shellcheck disable=SC2016 # for the host's shell
"$machine" 1 glue sh -c 'BCL_STATS=1 LD_PRELOAD=$LD_PRELOAD:$1 \
	timeout 60 "$2" 3 50' sh "$another" "$program" >seen 2>errors || {
	status=$?
	cat seen errors
	exit $status
}
grep -q ': 0 bad$' seen
grep -q "this libpvm3 is not one it knows: messages go by PVM's own" errors
! grep stats: errors
