#!/bin/bash
# SPDX-License-Identifier: MIT
# 1,024 simulated nodes: how much memory a rank takes, its stack, its card and
# its part of everything included; what is told of the cluster. And that traffic
# that thin links between switches hold up keeps all of them as busy, and busy.
set -euo pipefail
sim=${abs_top_builddir:?}/tools/bcl-sim
clusters=${abs_top_srcdir:?}/sim/clusters

# Sanitizers have memory of their own.
if nm "$sim" | grep -E ' (__asan|__tsan|__ubsan)_' >/dev/null; then
	echo 'sanitizers take memory, too'
	exit 77
fi
output=$(mktemp)
cluster=$(mktemp)
trap 'rm -f "$output" "$cluster"' EXIT

# What sed finds in the output: at most so much.
at_most() { # NAME MOST EXPRESSION
	local value
	value=$(sed -n "s/$3/\\1/p" "$output")
	echo "$1: $value, at most $2"
	awk "BEGIN { exit !(\"$value\" != \"\" && $value <= $2) }"
}

"$sim" -b 0 -r 1 "$clusters/fat-tree-1k.cluster" barrier >"$output" 2>&1
at_most 'KB per rank' 520 '^bcl-sim: \([0-9]*\) KB of memory per rank.*'
at_most 'KB of a card' 300 '^card of a node, at most: \([0-9.]*\) KB.*'
at_most 'messages held' 16 '^card of a node.* \([0-9]*\) held$'
# What a barrier takes by itself: else it depends on who leaves the one before.
"$sim" --together -b 0 -r 1 "$clusters/fat-tree-1k.cluster" barrier \
	>"$output" 2>&1
at_most 'times the bound' 3.5 '^ *8 .* \([0-9.]*\)$'

# Messages that are announced, by all ranks of 128 nodes of four.
sed 's/nodes=1024/nodes=128 ranks=4/; s/down=16,8,8 up=16,8/down=16,8 up=16/' \
	"$clusters/fat-tree-1k.cluster" >"$cluster"
"$sim" -b 0 -r 1 "$cluster" alltoall 256 >"$output" 2>&1
at_most 'KB per rank, all to all' 1000 \
	'^bcl-sim: \([0-9]*\) KB of memory per rank.*'

thin='^thin links .*: \([0-9.]*\) %.* from \([0-9.]*\) to \([0-9.]*\)$'
# PATTERN LEAST BYTES...
keeps_busy() {
	local busy least most
	"$sim" -b 0 -r 1 "$clusters/fat-tree-thin.cluster" "$1" "${@:3}" \
		>"$output" 2>&1
	read -r busy least most < <(sed -n "s/$thin/\1 \2 \3/p" "$output")
	echo "$1 of ${*:3}: thin links $busy %, $least to $most, at least $2"
	awk "BEGIN { exit !($busy >= $2 && $most - $least <= 2) }"
}
keeps_busy alltoall 50 16K
# The last of 128 nodes ends a round, and chance which of its frames are lost: one
# round alone has 48 to 82 %.
keeps_busy far-shift 70 3400K 3700K 4M 4200K 4500K

# Who exchanges much is near.
"$sim" --together -r 3 -n 64 -k 1 "$clusters/dawning-3000.cluster" \
	allreduce 128K >"$output" 2>&1
at_most 'times the bound, allreduce of 128 KB' 2 '^ *131072 .* \([0-9.]*\)$'

# What a card's link can carry is sent, whether blocks come from one rank or
# from four. What waits before thin links is not lost, nor is it sent again.
"$sim" --together -r 1 -n 2 "$clusters/dawning-3000.cluster" alltoall 128K \
	>"$output" 2>&1
at_most 'times the bound, all to all of 128 KB' 1.2 '^ *131072 .* \([0-9.]*\)$'
"$sim" --together -r 1 -n 32 -k 1 "$clusters/dawning-3000.cluster" \
	alltoall 64K >"$output" 2>&1
at_most 'us, all to all of 64 KB' 63000 '^ *65536 *\([0-9.]*\) .*'
at_most 'frames sent again' 1500 '.* \([0-9]*\) frames sent again$'
