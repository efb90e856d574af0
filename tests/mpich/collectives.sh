#!/bin/bash
# SPDX-License-Identifier: MIT
# Collective operations over teams, of MPICH on ch3:bcl: collectives.c,
# nonblocking.c, persistent.c, requests.c, reductions.c and beside.c tell more. Each that there is is used,
# unless one rank is without; also by ranks of which one has several threads.
set -euo pipefail
# shellcheck source=tests/mpich/program.sh
. "${abs_top_srcdir:?}/tests/mpich/program.sh"
for program in collectives nonblocking persistent requests reductions beside; do
	mpicc -pthread -o "$dir/$program" "$abs_top_srcdir/tests/mpich/$program.c" -lm
done

# check WHAT PATTERN ARGUMENT...: what rank 0 says of a run
check() {
	local what=$1 pattern=$2 out
	shift 2
	out=$(timeout 120 mpiexec "$@" 2>&1) || {
		echo "$what: $out"
		exit 1
	}
	[[ $out =~ ^$pattern$ ]] || {
		echo "$what: $out"
		exit 1
	}
}

all='ours: barrier broadcast reduce allreduce gather scatter allgather'
all+=' alltoall alltoallv reduce_scatter scan exscan'
all+=' gatherv scatterv allgatherv reduce_scatterv'
for program in collectives nonblocking persistent; do
	# neighbours exchange
	[[ $program != nonblocking ]] || all+=' exchange'
	for ranks in 2 3 5; do
		check "$program, $ranks ranks" "$all" -n $ranks "$dir/$program"
	done
	check "$program, virtual nodes" "$all" \
		-n 2 -env BCL_NODE a "$dir/$program" : \
		-n 3 -env BCL_NODE b "$dir/$program"
	# MPICH's own persistent operations pack their data once
	[[ $program == persistent ]] ||
		check "$program, one without" 'ours:' -n 2 "$dir/$program" : \
		-n 1 -env MPIR_CVAR_CH3_BCL_COLLECTIVES 0 "$dir/$program"
	check "$program, threads" "$all" -n 2 "$dir/$program" : \
		-n 1 -env MPIR_CVAR_DEFAULT_THREAD_LEVEL MPI_THREAD_MULTIPLE \
		"$dir/$program"
done

requests='ours: barrier allreduce'
for ranks in 2 3; do
	check "requests, $ranks ranks" "$requests" -n $ranks "$dir/requests"
done
check 'requests, virtual nodes' "$requests" -n 1 -env BCL_NODE a "$dir/requests" : \
	-n 2 -env BCL_NODE b "$dir/requests"
check 'requests, threads' "$requests" -n 2 \
	-env MPIR_CVAR_DEFAULT_THREAD_LEVEL MPI_THREAD_MULTIPLE "$dir/requests"

beside='ours: barrier broadcast allreduce alltoall'
check 'threads' "$beside" -n 3 "$dir/beside"
check 'threads on virtual nodes' "$beside" -n 1 -env BCL_NODE a "$dir/beside" : \
	-n 2 -env BCL_NODE b "$dir/beside"

reductions='ours: reduce allreduce reduce_scatter scan exscan reduce_scatterv'
for ranks in 2 5; do
	check "reductions, $ranks ranks" "$reductions" -n $ranks "$dir/reductions"
done

# listed WHAT PATTERN LIST LIST: of two ranks
listed() {
	check "$1" "$2" \
		-n 1 -env MPIR_CVAR_CH3_BCL_COLLECTIVES "$3" "$dir/reductions" : \
		-n 1 -env MPIR_CVAR_CH3_BCL_COLLECTIVES "$4" "$dir/reductions"
}

listed 'some operations' 'ours: allreduce scan' scan,allreduce scan,allreduce
listed 'all but some' 'ours: allreduce reduce_scatter reduce_scatterv' \
	-reduce,^scan,exscan,-exscan all,-scan,-exscan,^reduce
listed 'ranks differ' 'ours: allreduce' 1,-exscan allreduce,exscan
listed 'nothing' 'ours:' reduce,none,-reduce all
known='all none barrier [a-z_ ]*'
warning="MPIR_CVAR_CH3_BCL_COLLECTIVES: there is no bcats, but $known; "
warning+='-NAME leaves one out'$'\n'
listed 'a wrong name' "${warning}ours: scan" -bcats,all,-all,scan bcats,scan
check 'some operations that do not block' 'ours: broadcast' \
	-env MPIR_CVAR_CH3_BCL_COLLECTIVES bcast -n 2 "$dir/nonblocking"
