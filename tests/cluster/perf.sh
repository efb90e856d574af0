#!/bin/bash
# SPDX-License-Identifier: MIT
# bcl-perf asks for every kind of figure and gets it, by the way that it
# claims (each figure is held against the counters): by itself, on nodes as
# namespaces and as virtual ones, and with the ranks of either launcher.
set -euo pipefail
PATH=${abs_top_srcdir:?}/scripts:$PATH
perf=${abs_top_builddir:?}/bench/bcl-perf
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
status=0

# figures NAME LINES COMMAND...: at least so many, and none fails
figures() {
	local name=$1 lines=$2 good bad skipped
	shift 2
	"$@" --rounds=1 --json="$scratch/json" >"$scratch/text" 2>&1 || {
		cat "$scratch/text"
		status=1
		return
	}
	good=$(grep -c '^{"section".*"samples":\[[0-9]' "$scratch/json") || true
	bad=$(grep -c '"failure":' "$scratch/json") || true
	skipped=$(grep -c '"skipped":' "$scratch/json") || true
	echo "$name: $good figures, $bad failed, $skipped not possible here"
	((good >= lines && bad == 0)) || {
		cat "$scratch/text"
		status=1
	}
}

figures 'namespaces' 12 "$perf" --only='1 KB'
figures 'virtual nodes' 12 "$perf" --virtual --only='1 KB'
figures 'bulk' 3 "$perf" --only='1 MB, UDP'
figures 'waiting' 2 "$perf" --only='foreign compute job'
figures 'LogGP' 10 "$perf" --only='LogGP'
figures 'under mpiexec' 5 mpiexec.hydra -n 2 "$perf" --only='1 KB'
root=()
((EUID)) || root+=(--allow-run-as-root)
figures 'under mpirun' 5 mpirun.openmpi "${root[@]}" --oversubscribe -n 2 \
	"$perf" --only='1 KB'
figures 'over two nodes' 5 cluster run cluster mpiexec 2 "$perf" --only='1 KB'
exit $status
