#!/bin/bash
# SPDX-License-Identifier: MIT
# MPICH on ch3:bcl says with which BCL it was built, and refuses another.
set -euo pipefail
# shellcheck source=tests/mpich/program.sh
. "${abs_top_srcdir:?}/tests/mpich/program.sh"

mpichversion >"$dir/version"
for line in 'Device:.*ch3:bcl' 'Custom.*BCL [0-9]+\.[0-9]+\.[0-9]+'; do
	grep -Eq "$line" "$dir/version" || {
		cat "$dir/version"
		exit 1
	}
done

cat >"$dir/program.c" <<'C'
#include <mpi.h>
int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	return MPI_Finalize();
}
C
echo 'const char *bcl_version(void) { return "77.1.2"; }' >"$dir/other.c"
mpicc -o "$dir/program" "$dir/program.c"
cc -shared -fPIC -o "$dir/other.so" "$dir/other.c"
"$dir/program"
if LD_PRELOAD=$dir/other.so "$dir/program" >"$dir/out" 2>&1; then
	echo 'it runs with a library of another version'
	exit 1
fi
grep -q 'was built with BCL .* and runs with 77\.1\.2' "$dir/out" || {
	cat "$dir/out"
	exit 1
}
