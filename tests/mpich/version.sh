#!/bin/bash
# SPDX-License-Identifier: MIT
# MPICH on ch3:bcl says with which BCL it was built, and refuses another.
set -euo pipefail
prefix=${MPICH_PREFIX:-${abs_top_builddir:?}/mpich/install}
[[ -x $prefix/bin/mpicc ]] || { echo 'no MPICH: make mpich'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$prefix/bin/mpichversion" >"$work/version"
for line in 'Device:.*ch3:bcl' 'Custom.*BCL [0-9]+\.[0-9]+\.[0-9]+'; do
	grep -Eq "$line" "$work/version" || {
		cat "$work/version"
		exit 1
	}
done

cat >"$work/program.c" <<'C'
#include <mpi.h>
int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	return MPI_Finalize();
}
C
echo 'const char *bcl_version(void) { return "77.1.2"; }' >"$work/other.c"
"$prefix/bin/mpicc" -o "$work/program" "$work/program.c"
cc -shared -fPIC -o "$work/other.so" "$work/other.c"
"$work/program"
if LD_PRELOAD=$work/other.so "$work/program" >"$work/out" 2>&1; then
	echo 'it runs with a library of another version'
	exit 1
fi
grep -q 'was built with BCL .* and runs with 77\.1\.2' "$work/out" || {
	cat "$work/out"
	exit 1
}
