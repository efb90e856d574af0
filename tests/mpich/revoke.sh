#!/bin/bash
# SPDX-License-Identifier: MIT
# A communicator of MPICH on ch3:bcl is revoked while its processes wait in
# operations of it, over shared memory and over virtual nodes; revoke.c tells more.
set -euo pipefail
# shellcheck source=tests/mpich/program.sh
. "${abs_top_srcdir:?}/tests/mpich/program.sh"
mpicc -o "$dir/revoke" "$abs_top_srcdir/tests/mpich/revoke.c"

# check WHAT RANKS MPIEXEC-ARGUMENT...: so many ranks go on
check() {
	local out
	out=$(timeout 60 mpiexec "${@:3}" 2>&1) || true
	if (($(grep -c 'goes on$' <<<"$out") != $2)); then
		echo "$1: $out"
		exit 1
	fi
}

for what in barrier bcast recv ibarrier ibcast persistent; do
	check $what 4 -n 4 "$dir/revoke" $what
	check "$what on virtual nodes" 4 \
		-n 2 -env BCL_NODE a "$dir/revoke" $what : \
		-n 2 -env BCL_NODE b "$dir/revoke" $what
done
