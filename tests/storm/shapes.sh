#!/bin/bash
# SPDX-License-Identifier: MIT
# Jobs on clusters of odd shapes, while faults drawn by chance befall them, also
# such as a job may not survive. Every rank must come to its end, whatever the
# pattern: done, or with an error. What the cards did must keep the rules of
# bcl-check(1). SEEDS says how many times each pattern runs on each shape, FROM
# with which seed they begin.
set -euo pipefail
sim=${abs_top_builddir:?}/tools/bcl-sim
check=$abs_top_builddir/tools/bcl-check
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
seeds=${SEEDS:-1} from=${FROM:-1}
status=0 runs=0 ended=0

# shape NAME CLUSTER QUEUE BUFFERS NETWORK...: a line of NETWORK is a statement
shape() {
	local name=$1 cluster=$2 queue=$3 buffers=$4
	shift 4
	{
		cat <<-HERE
		cluster $cluster
		host send=0.2us receive=0.2us trap=0.5us copy=2GB/s line=60ns
		card mtu=2KB buffers=$buffers frame-sent=0.3us \\
		    frame-received=0.3us read-start=0.5us read=1GB/s \\
		    write-start=0.5us write=1GB/s
		wire fast bandwidth=400MB/s latency=100ns
		wire slow bandwidth=40MB/s latency=2us
		crossbar x latency=0.3us queue=$queue forwarding=cut-through
		HERE
		printf '%s\n' "$@"
	} >"$scratch/$name.cluster"
}

star='star s crossbar=x wire=fast'
shape three-of-one 'nodes=3' 64KB 16 "$star"
shape three-of-three 'nodes=3 ranks=3' 64KB 16 "$star"
shape five-switches 'nodes=5 ranks=2' 64KB 16 \
	'ring r switches=5 cables=1 crossbar=x wire=fast'
shape unequal-rails 'nodes=4 rails=2' 64KB 16 \
	'star s crossbar=x wire=fast rail=0' 'star t crossbar=x wire=slow rail=1'
shape four-rails 'nodes=2 ranks=2 rails=4' 64KB 16 "$star"
shape thin-links 'nodes=8' 64KB 16 'tree t down=2,4 up=1 crossbar=x wire=fast'
shape short-queues 'nodes=4 ranks=2' 8KB 4 "$star"
shape slow-wires 'nodes=4' 64KB 8 'star s crossbar=x wire=slow'
shape seventeen 'nodes=17' 64KB 16 "$star"
shape two 'nodes=2' 16KB 4 'ring r switches=2 cables=2 crossbar=x wire=slow'

patterns=(ping-pong shift far-shift random barrier broadcast reduce allreduce
	  gather scatter allgather alltoall message tree-broadcast tree-reduce
	  flat-scatter flat-gather)

# run SHAPE PATTERN SEED
run() {
	local code=0 what="$1, $2, fatal:$3:40"
	"$sim" -r 3 -s "$3" -f "fatal:$3:40" -t "$scratch/trace" \
		"$scratch/$1.cluster" "$2" 8 8k >"$scratch/out" 2>&1 || code=$?
	runs=$((runs + 1))
	ended=$((ended + (code == 0)))
	if ((code > 1)) || grep -q 'not come to their end' "$scratch/out"; then
		echo "$what: status $code, $(tail -n 1 "$scratch/out")"
		status=1
	fi
	"$check" "$scratch/trace" >"$scratch/rules" || {
		echo "$what: $(head -n 2 "$scratch/rules")"
		status=1
	}
}

seed=$from
for ((n = 0; n < seeds; n++)); do
	for cluster in "$scratch"/*.cluster; do
		for pattern in "${patterns[@]}"; do
			run "$(basename "$cluster" .cluster)" "$pattern" "$seed"
			seed=$((seed + 1))
		done
	done
done
echo "$runs jobs, $ended of them without a loss"
# Faults that nobody feels, or that nobody survives, would show little.
((ended > runs / 20 && ended < runs * 19 / 20)) || {
	echo 'the faults are too weak or too strong'
	status=1
}
exit $status
