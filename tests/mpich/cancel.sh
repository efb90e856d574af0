#!/bin/bash
# SPDX-License-Identifier: MIT
# Sends are cancelled, long ones too, over shared memory and over the card. What
# is withdrawn takes none of the few offers from those that come later: none of
# them has to be called for.
set -euo pipefail
# shellcheck source=tests/mpich/program.sh
. "${abs_top_srcdir:?}/tests/mpich/program.sh"
mpicc -o "$dir/cancel" "$abs_top_srcdir/tests/mpich/cancel.c"

for shm in on off; do
	BCL_SHM=$shm BCL_STATS=on BCL_LOG=info,stats timeout 60 \
		mpiexec -n 2 "$dir/cancel" >"$dir/out" 2>&1 || {
		cat "$dir/out"
		exit 1
	}
	announced=$(awk '/ adi\.sent_announced / { n += $6 } END { print n + 0 }' \
		"$dir/out")
	called=$(awk '/ adi\.called / { n += $6 } END { print n + 0 }' "$dir/out")
	echo "shared memory $shm: $announced announced, $called called for"
	((announced > 300 && called == 0))
done
