#!/bin/bash
# SPDX-License-Identifier: MIT
# Traces of simulated jobs keep the rules. SEEDS: other seeds than these.
set -euo pipefail
built=${abs_top_builddir:?}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

seeds='1 2'
[[ ! ${LONG-} ]] || seeds='1 2 3 4 5 6 7 8 9 10 11 12'
for seed in ${SEEDS:-$seeds}; do
	echo "seed $seed"
	"$built/tests/trace/simulated" "$seed" "$scratch/t.pcapng"
	"$built/tools/bcl-check" "$scratch/t.pcapng"
done
