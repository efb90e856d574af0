#!/bin/bash
# SPDX-License-Identifier: MIT
# A barrier of 1,024 simulated nodes: how much memory a rank takes, its stack,
# its card and its part of everything included.
set -euo pipefail
sim=${abs_top_builddir:?}/tools/bcl-sim
most=400 # KB

# Sanitizers have memory of their own.
if nm "$sim" | grep -Eq ' (__asan|__tsan|__ubsan)_'; then
	echo 'sanitizers take memory, too'
	exit 77
fi
error=$(mktemp)
trap 'rm -f "$error"' EXIT
"$sim" -b 0 -r 1 "${abs_top_srcdir:?}/sim/clusters/fat-tree-1k.cluster" \
	barrier 2>"$error" >/dev/null
kb=$(sed -n 's/^bcl-sim: \([0-9]*\) KB of memory per rank.*/\1/p' "$error")
echo "$kb KB per rank, at most $most"
((kb <= most))
