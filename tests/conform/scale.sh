#!/bin/bash
# SPDX-License-Identifier: MIT
# 1,024 simulated nodes: how much memory a rank takes, its stack, its card and
# its part of everything included; what is told of the cluster; and that all
# links between switches are as busy when everyone sends to the next node.
set -euo pipefail
sim=${abs_top_builddir:?}/tools/bcl-sim
cluster=${abs_top_srcdir:?}/sim/clusters/fat-tree-1k.cluster

# Sanitizers have memory of their own.
if nm "$sim" | grep -Eq ' (__asan|__tsan|__ubsan)_'; then
	echo 'sanitizers take memory, too'
	exit 77
fi
output=$(mktemp)
trap 'rm -f "$output"' EXIT

# What sed finds in the output: at most so much.
at_most() { # NAME MOST EXPRESSION
	local value
	value=$(sed -n "s/$3/\\1/p" "$output")
	echo "$1: $value, at most $2"
	awk "BEGIN { exit !(\"$value\" != \"\" && $value <= $2) }"
}

"$sim" -b 0 -r 1 "$cluster" barrier >"$output" 2>&1
at_most 'KB per rank' 600 '^bcl-sim: \([0-9]*\) KB of memory per rank.*'
at_most 'KB of a card' 300 '^card of a node, at most: \([0-9.]*\) KB.*'
at_most 'messages held' 16 '^card of a node.* \([0-9]*\) held$'
at_most 'times the bound' 3 '^ *8 .* \([0-9.]*\)$'
