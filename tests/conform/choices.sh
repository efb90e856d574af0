#!/bin/bash
# SPDX-License-Identifier: MIT
# On the simulated Dawning-3000, whose links between switches are thin, what the
# library chooses takes at most a tenth more than the best of others. In the short
# tier every third case is tried.
set -euo pipefail
sim=${abs_top_builddir:?}/tools/bcl-sim
cluster=${abs_top_srcdir:?}/sim/clusters/dawning-3000.cluster
status=0 cases=0

# us NODES RANKS OPERATION BYTES [OPTION]...
us() {
	"$sim" --together --repeat=3 --busiest=0 --nodes="$1" --ranks="$2" \
		"${@:5}" "$cluster" "$3" "$4" 2>/dev/null |
		awk -v bytes="$4" '$1 == bytes && NF == 7 { print $2 }'
}

# hold NODES RANKS OPERATION BYTES ALGORITHM...
hold() {
	local chosen algorithm other
	[[ ${LONG-} ]] || ((cases++ % 3 == 0)) || return 0
	chosen=$(us "${@:1:4}")
	for algorithm in "${@:5}"; do
		other=$(us "${@:1:4}" --algorithm="$algorithm")
		awk -v chosen="$chosen" -v other="$other" 'BEGIN {
			exit !(chosen > 0 && other > 0 &&
			       chosen <= 1.1 * other) }' && continue
		echo "$3 of $4 bytes, $1 nodes of $2: $chosen us," \
			"by $algorithm $other"
		status=1
	done
}

hold 64 1 allreduce 8 doubling gathered_2 gathered_4
hold 64 4 allreduce 8 doubling gathered_2 gathered_4
hold 32 1 allreduce 131072 halving halving_far_1 halving_ring
hold 48 1 allreduce 131072 halving_far_2 trees
hold 63 1 allreduce 131072 halving halving_far_2 trees
hold 64 4 allreduce 131072 halving_leaders halving_leaders_far_2 \
	halving_leaders_ring
hold 64 1 gather 8 tree tree_2 tree_4 tree_8
hold 64 4 scatter 8 tree tree_2 tree_4 tree_8
hold 64 4 reduce 4096 tree pipeline trees
hold 32 4 reduce 8192 tree pipeline trees
hold 64 4 reduce 32768 tree_4 pipeline_8k trees
hold 64 4 broadcast 131072 tree_4 pipeline_8k trees
hold 32 1 alltoall 8 columns columns_4 columns_8
hold 40 4 alltoall 8 multileader_4 multileader_8 multileader_16 leaders_16
hold 64 4 alltoall 8 multileader_4 multileader_16 columns_4
hold 64 4 alltoall 64 multileader_4 multileader_16 columns_4
exit $status
