#!/bin/bash
# SPDX-License-Identifier: MIT
# Into how many packets messages inside a node are cut: packets.c tells more.
set -euo pipefail
# shellcheck source=tests/mpich/program.sh
. "${abs_top_srcdir:?}/tests/mpich/program.sh"
mpicc -o "$dir/packets" "$abs_top_srcdir/tests/mpich/packets.c"
timeout 60 mpiexec -n 2 "$dir/packets"
