#!/bin/bash
# SPDX-License-Identifier: MIT
# A task whose libpvm3 has messages of another layout talks by PVM's routes, and
# says so; the others are not disturbed.
set -euo pipefail
another=${abs_top_builddir:?}/tests/pvm/.libs/another.so
program=traffic
# shellcheck source=tests/pvm/program.sh
. "${abs_top_srcdir:?}/tests/pvm/program.sh"

# shellcheck disable=SC2016 # for the host's shell
"$machine" 1 glue sh -c 'BCL_STATS=1 LD_PRELOAD=$LD_PRELOAD:$1 \
	timeout "$limit" "$2" 3 50' sh "$another" "$program" >seen 2>errors || {
	status=$?
	cat seen errors
	exit $status
}
grep -q ': 0 bad$' seen
grep -q "this libpvm3 is not one it knows: messages go by PVM's own" errors
! grep stats: errors
