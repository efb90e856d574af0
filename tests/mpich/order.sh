#!/bin/bash
# SPDX-License-Identifier: MIT
# Messages sent in all ways arrive in order: order.c tells more. Another seed
# may be given. Over shared memory, over the card, and where what is longer than
# a few bytes is not sent unasked.
set -euo pipefail
# shellcheck source=tests/mpich/program.sh
. "${abs_top_srcdir:?}/tests/mpich/program.sh"
seed=${1-1}
echo "seed $seed"
mpicc -o "$dir/order" "$abs_top_srcdir/tests/mpich/order.c"
timeout 60 mpiexec -n 2 "$dir/order" "$seed"
BCL_SHM=off timeout 60 mpiexec -n 2 "$dir/order" "$seed"
MPIR_CVAR_CH3_EAGER_MAX_MSG_SIZE=64 \
	timeout 60 mpiexec -n 2 "$dir/order" "$seed" announced
