#!/bin/bash
# SPDX-License-Identifier: MIT
# MPI_Recv() and MPI_Isend() without requests: direct.c tells more. And such
# messages do pass by ch3's queues: of 1,000 round trips hardly one is matched
# there.
set -euo pipefail
# shellcheck source=tests/mpich/program.sh
. "${abs_top_srcdir:?}/tests/mpich/program.sh"
mpicc -o "$dir/direct" "$abs_top_srcdir/tests/mpich/direct.c"
for shm in on off; do
	BCL_SHM=$shm timeout 100 mpiexec -n 3 "$dir/direct"
done

command -v valgrind >/dev/null || { echo 'no valgrind'; exit 77; }
mpicc -o "$dir/pingpong" "$abs_top_srcdir/tests/mpich/pingpong.c"
timeout 100 mpiexec -n 2 valgrind -q --tool=callgrind --compress-strings=no \
	--callgrind-out-file="$dir/calls.%p" "$dir/pingpong" 1000
# calls FUNCTION: by both ranks
calls() {
	awk -v name="cfn=$1" '
		$1 == name { getline; sub("calls=", "", $1); n += $1 }
		END { print n + 0 }' "$dir"/calls.*
}
for function in bcl_ch3_recv bcl_ch3_isend MPIDI_CH3U_Recvq_FDP_or_AEU; do
	echo "$function: called $(calls $function) times"
done
(($(calls bcl_ch3_recv) >= 2000))
(($(calls bcl_ch3_isend) >= 2000))
(($(calls MPIDI_CH3U_Recvq_FDP_or_AEU) < 200))
