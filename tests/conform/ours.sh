#!/bin/bash
# SPDX-License-Identifier: MIT
# Short collective operations on the simulated Dawning-3000 take no more times
# their bounds than doc/reproduction.md says, and a tenth. Nor do they, or long
# ones on 64 nodes, take more than 1.3 times that of the published figures.
set -euo pipefail
sim=${abs_top_builddir:?}/tools/bcl-sim
cluster=${abs_top_srcdir:?}/sim/clusters/dawning-3000.cluster
status=0 checked=0

# times NODES RANKS OPERATION BYTES: the bound of the cluster as described, and
# of its messages as measured
times() {
	"$sim" --together --repeat=3 --nodes="$1" --ranks="$2" "$cluster" \
		"$3" "$4" 2>/dev/null |
		awk -v bytes="$4" '$1 == bytes && NF == 7 { print $5, $7 }'
}

# table HEADING: the rows under it, without spaces
table() {
	sed -n "/^### $1\$/,/^##/p" "$abs_top_srcdir/doc/reproduction.md" |
		grep '^|' | tr -d ' '
}

# hold WHAT NOW MOST MORE: at most MORE times MOST
hold() {
	checked=$((checked + 1))
	awk -v now="$2" -v most="$3" -v more="$4" 'BEGIN {
		exit !(now != "" && most > 0 && now <= more * most) }' && return
	echo "$1: $2 times its bound, more than $4 * $3"
	status=1
}

# Ranks, nodes, and "us, times" of each operation; bytes, ranks, nodes, times.
described=$(table '8 bytes')
declare -A measured
while IFS='|' read -ra row; do
	[[ ${row[1]} == 8 ]] || continue
	measured[${row[2]},${row[3]}]=${row[*]:4}
done < <(table 'Against the published figures of LogGP')
IFS='|' read -ra operations < <(head -n 1 <<<"$described")
while IFS='|' read -ra row; do
	[[ ${row[2]} =~ ^[0-9]+$ ]] || continue
	read -ra published <<<"${measured[${row[1]},${row[2]}]}"
	for ((i = 3; i < ${#row[@]}; i++)); do
		now=() what="${operations[i]}, ${row[2]} nodes of ${row[1]}"
		read -ra now < <(times "${row[2]}" "${row[1]}" \
			"${operations[i]}" 8) || true
		hold "$what" "${now[0]:-}" "${row[i]#*,}" 1.1
		hold "$what, measured" "${now[1]:-}" \
			"${published[i - 3]:-0}" 1.1
		hold "$what, measured" "${now[1]:-}" 1.3 1
	done
done <<<"$described"
for ranks in 1 4; do
	for operation in broadcast reduce allreduce scatter gather shift; do
		now=()
		read -ra now < <(times 64 "$ranks" "$operation" 131072) || true
		hold "long $operation, 64 nodes of $ranks" "${now[1]:-}" 1.3 1
	done
done
((checked == 300)) || { echo "$checked cells of 300"; status=1; }
exit $status
