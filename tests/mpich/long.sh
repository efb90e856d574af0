#!/bin/bash
# SPDX-License-Identifier: MIT
# Long messages take the channel's own rendezvous, inside a node and between
# two: long.c tells more.
set -euo pipefail
# shellcheck source=tests/mpich/program.sh
. "${abs_top_srcdir:?}/tests/mpich/program.sh"
mpicc -o "$dir/long" "$abs_top_srcdir/tests/mpich/long.c"
timeout 60 mpiexec -n 2 "$dir/long" node
BCL_SHM=off timeout 60 mpiexec -n 2 "$dir/long" card
