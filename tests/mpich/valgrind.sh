#!/bin/bash
# SPDX-License-Identifier: MIT
# valgrind finds no error and nothing lost in a program on MPICH with ch3:bcl,
# over shared memory and over the card.
set -euo pipefail
# shellcheck source=tests/mpich/program.sh
. "${abs_top_srcdir:?}/tests/mpich/program.sh"
command -v valgrind >/dev/null || { echo 'no valgrind'; exit 77; }
mpicc -g -o "$dir/program" "$abs_top_srcdir/tests/mpich/abi.c"

# hwloc's plugins ask the drivers of devices. Packets of ch3 come from its stack,
# with gaps between their fields; of gaps that were ours tests/cluster/frames.sh
# would tell.
cat >"$dir/suppressions" <<'TEXT'
{
   packets
   Memcheck:Param
   socketcall.sendto(msg)
   ...
   fun:bcl_udp_transmit
}
{
   plugins
   Memcheck:Leak
   ...
   fun:hwloc_topology_load
}
TEXT

for shm in on off; do
	rm -f "$dir"/log.*
	BCL_SHM=$shm timeout 100 mpiexec -n 2 \
		valgrind --leak-check=full --show-leak-kinds=definite \
		--errors-for-leak-kinds=definite --error-exitcode=1 \
		--suppressions="$dir/suppressions" --log-file="$dir/log.%p" \
		"$dir/program" || { cat "$dir"/log.*; exit 1; }
	clean=$(grep -l 'ERROR SUMMARY: 0 errors' "$dir"/log.* | wc -l)
	echo "shared memory $shm: $clean of 2 ranks are clean"
	((clean == 2))
done
