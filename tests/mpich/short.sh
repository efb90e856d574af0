#!/bin/bash
# SPDX-License-Identifier: MIT
# Short messages go where they belong, and nowhere else: short.c tells more.
set -euo pipefail
# shellcheck source=tests/mpich/program.sh
. "${abs_top_srcdir:?}/tests/mpich/program.sh"
mpicc -o "$dir/short" "$abs_top_srcdir/tests/mpich/short.c"
timeout 60 mpiexec -n 2 "$dir/short"
