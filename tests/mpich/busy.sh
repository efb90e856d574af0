#!/bin/bash
# SPDX-License-Identifier: MIT
# A rank that computes for 10 s between its sends holds up nobody, inside a node
# and between two, and is not thought dead: busy.c tells more.
set -euo pipefail
# shellcheck source=tests/mpich/program.sh
. "${abs_top_srcdir:?}/tests/mpich/program.sh"
PATH=$abs_top_srcdir/scripts:$PATH
mpicc -o "$dir/busy" "$abs_top_srcdir/tests/mpich/busy.c"
mkdir "$dir/through"
BCL_PEER_TIMEOUT=3s timeout 150 \
	cluster run cluster mpiexec 2 "$dir/busy" "$dir/through" 10
echo 'the others got through'
