#!/bin/bash
# SPDX-License-Identifier: MIT
# Short collective operations on the simulated Dawning-3000 take no more times
# their bounds than doc/reproduction.md says, and a tenth.
set -euo pipefail
sim=${abs_top_builddir:?}/tools/bcl-sim
cluster=${abs_top_srcdir:?}/sim/clusters/dawning-3000.cluster
status=0 checked=0

# times NODES RANKS OPERATION
times() {
	"$sim" --together --repeat=3 --nodes="$1" --ranks="$2" "$cluster" \
		"$3" 8 2>/dev/null | awk '$1 == 8 && NF == 5 { print $5 }'
}

# The table: ranks, nodes, and "us, times" of each operation.
table=$(sed -n '/^### 8 bytes$/,/^## /p' \
	"$abs_top_srcdir/doc/reproduction.md" | grep '^|' | tr -d ' ')
IFS='|' read -ra operations < <(head -n 1 <<<"$table")
while IFS='|' read -ra row; do
	[[ ${row[2]} =~ ^(2|8|16)$ ]] || continue
	for ((i = 3; i < ${#row[@]}; i++)); do
		now=$(times "${row[2]}" "${row[1]}" "${operations[i]}")
		checked=$((checked + 1))
		awk -v now="$now" -v then="${row[i]#*,}" 'BEGIN {
			exit !(now != "" && then > 0 && now <= 1.1 * then) }' &&
			continue
		echo "${operations[i]}, ${row[2]} nodes of ${row[1]}: $now" \
			"times its bound, ${row[i]#*,} in the table"
		status=1
	done
done <<<"$table"
((checked == 48)) || { echo "$checked cells of 48"; status=1; }
exit $status
