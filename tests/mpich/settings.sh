#!/bin/bash
# SPDX-License-Identifier: MIT
# The library's settings are control variables of MPI_T, with the values that
# bcl-info prints, set or not.
set -euo pipefail
# shellcheck source=tests/mpich/program.sh
. "${abs_top_srcdir:?}/tests/mpich/program.sh"
mpicc -o "$dir/settings" "$abs_top_srcdir/tests/mpich/settings.c"
export BCL_SPIN=77us BCL_SHM=no BCL_EAGER_MAX=2048 BCL_NODE=here
diff <("${abs_top_builddir:?}/tools/bcl-info" --config | grep ^BCL_) \
	<(timeout 60 mpiexec -n 1 "$dir/settings")
