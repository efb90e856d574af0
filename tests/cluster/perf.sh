#!/bin/bash
# SPDX-License-Identifier: MIT
# bcl-perf asks for every kind of figure and gets it, by the way that it
# claims (each figure is held against the counters): by itself, on nodes as
# namespaces and as virtual ones, and with the ranks of a launcher (of others, too,
# in the long tier). What it makes of its samples can be made of those in the JSON,
# and is in the CSV.
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

# Of the last: as many lines in the CSV, and the same figures of each
same_figures() {
	perl -MJSON::PP -MList::Util=sum -e '
		local $/;
		open my $in, "<", $ARGV[0] or die;
		for my $line (@{decode_json(<$in>)->{lines}}) {
			for my $series (grep { $_ } $line, $line->{reference}) {
				my $all = $series->{samples} or next;
				my $n = @$all;
				my $mean = sum(@$all) / $n;
				my $error = $n < 2 ? 0 : sqrt(
					sum(map { ($_ - $mean) ** 2 } @$all) /
					$n / ($n - 1));
				my ($p1, $p50, $p99) = map {
					$series->{$_} } qw(p1 p50 p99);
				abs($series->{mean} - $mean) <= 1e-4 * $mean &&
				abs($series->{stderr} - $error) <= 1e-4 * $mean &&
				$p1 <= $p50 && $p50 <= $p99 or
					die "$line->{figure}: @$all\n";
			}
			my $mean = $line->{mean};
			printf "%s,%g\n", $line->{figure}, $mean // 0;
		}' "$scratch/json" >"$scratch/figures"
	sed 1d "$scratch/csv" | perl -ne '
		/^"[^"]*","([^"]*)",[^,]*,([^,]*),/ and print "$1,$2\n"' |
		diff "$scratch/figures" -
}

figures 'namespaces' 12 "$perf" --only='1 KB' --csv="$scratch/csv"
same_figures || status=1
figures 'hot, cold and freshly written' 3 "$perf" --only='ADI, 64 KB'
! grep -E ' met|MISSED' "$scratch/text" || status=1 # nobody asked for bars
for buffers in hot cold rewritten; do
	grep -q "\"ADI, 64 KB, $buffers\"" "$scratch/json" || status=1
done
figures 'by line, ring and box' 14 "$perf" --only='B, one way'
figures 'virtual nodes' 12 "$perf" --virtual --only='1 KB'
figures 'bulk' 3 "$perf" --bars --only='1 MB, UDP'
grep -Eqx '[0-9]+ of [1-9][0-9]* bars met; .*' "$scratch/text" || {
	echo 'no bars, which were asked for'
	status=1
}
figures 'waiting' 2 "$perf" --only='foreign compute job'
figures 'LogGP' 10 "$perf" --only='LogGP'
figures 'over two nodes' 5 cluster run cluster mpiexec 2 "$perf" --only='1 KB'
[[ ${LONG-} ]] || exit $status
figures 'under mpiexec' 5 mpiexec.hydra -n 2 "$perf" --only='1 KB'
root=()
((EUID)) || root+=(--allow-run-as-root)
figures 'under mpirun' 5 mpirun.openmpi "${root[@]}" --oversubscribe -n 2 \
	"$perf" --only='1 KB'
exit $status
