#!/bin/bash
# SPDX-License-Identifier: MIT
# What a stranger gets wrong: each mistake is answered by a line that names the
# setting, file, limit or call and its value, and says what would be right.
set -euo pipefail
build=${abs_top_builddir:?}
scripts=${abs_top_srcdir:?}/scripts
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset PMI_FD PMI_PORT PMI_RANK PMI_SIZE PMIX_RANK CLUSTER_KIND CLUSTER_NODES
cd "$scratch"
export BCL_RAILS=none
export hello=$build/examples/hello info=$build/tools/bcl-info
export perf=$build/bench/bcl-perf check=$build/tools/bcl-check
export sim="$build/tools/bcl-sim $abs_top_srcdir/sim/clusters/dawning-3000.cluster"
export cluster=$scripts/cluster mpich=$scripts/mpich
: >empty

status=0
# The status, what a line has (an extended expression), the command.
while IFS='|' read -r code text call; do
	got=0
	said=$(eval "timeout 60 env $call" 2>&1 </dev/null) || got=$?
	if [[ $got != "$code" ]] || ! grep -Eq -e "$text" <<<"$said"; then
		echo "$call: status $got, not $code with '$text':"
		echo "$said"
		status=1
	fi
done <<-'MISTAKES'
	1|BCL_SPIN=5 is wrong: it takes a time like .*, from 0ns? to 1s|BCL_SPIN=5 $hello
	1|BCL_EAGER_MAX=70000 is out of its range, 0 to 64k|BCL_EAGER_MAX=70000 $hello
	1|BCL_BLOCKS=3 is wrong: it takes a power of two, from 16 to 8192|BCL_BLOCKS=3 $hello
	1|BCL_SHM=maybe is wrong: it takes on or off|BCL_SHM=maybe $hello
	1|BCL_LOG=loud is wrong: it begins with error, warn|BCL_LOG=loud $hello
	1|BCL_RAILS=tcp is wrong: it takes any of udp,packet, or none|BCL_RAILS=tcp $hello
	0|BCL_NODES: there is no such variable \(bcl-info --config|BCL_NODES=2 $hello
	0|no address that is up fits "eth77"; it takes interfaces|BCL_RAILS=udp BCL_NET=eth77 $hello
	0|fits "10.1.0.0/99"; .* such as 10.0.0.0/8|BCL_RAILS=udp BCL_NET=10.1.0.0/99 $hello
	1|cannot read "drop:200%": it takes drop, dup|BCL_RAILS=udp BCL_NET=lo BCL_FAULT=drop:200% $hello
	1|trace: no/such-[0-9a-f]*: No such file|BCL_RAILS=udp BCL_NET=lo BCL_TRACE=no/such $hello
	1|BCL_BOOT asks for "mpd", .* it knows pmi.* and single|BCL_BOOT=mpd $hello
	1|pmi: no launcher: neither PMI_FD nor PMI_PORT is set|BCL_BOOT=pmi $hello
	1|pmi: PMI_FD: not the number of a descriptor|PMI_FD=x $hello
	1|PMI_FD is set: PMI_RANK or PMI_SIZE is not|PMI_FD=0 $hello
	1|host.invalid:9: .*[Nn]ame |PMI_PORT=host.invalid:9 $hello
	1|localhost:1: Connection refused|PMI_PORT=localhost:1 PMI_ID=0 $hello
	1|BCL_BOOT=fork:x is malformed|BCL_BOOT=fork:x $hello
	1|descriptor 77 of BCL_BOOT is not a job's memory|BCL_BOOT=fork:77:0 $hello
	1|memfd_create.*: File too large|prlimit --fsize=0 $hello
	1|no descriptor is left; raise ulimit -n|prlimit --nofile=7 $hello
	2|--pid: "x" is not the number of a process|$info --pid x
	1|process 99999999: there is none|$info --pid 99999999
	1|does not use bcl|$info --pid $$
	2|^usage: bcl-info|$info again
	2|--rounds: "x" is not a number from 1|$perf --rounds=x
	2|--rounds: "0" is not a number from 1|$perf --rounds=0
	2|"more" is not an option; see bcl-perf --help|$perf more
	2|see bcl-perf --help|$perf --more
	2|no/such: No such file|$perf --json=no/such
	2|--only: "nothing" is in no name of a figure|$perf --virtual --only=nothing
	2|"such" is no size, or above 1G|$sim alltoall such
	1|there are only 64 nodes, not 65|$sim -n 65 alltoall
	1|end within the time \(--limit\)|$sim -n 2 -l 1us alltoall
	2|see bcl-sim --help|$sim
	2|empty: no packets, so that nothing is checked|$check empty
	2|none: No such file|$check none
	2|not a number from 1 to 250|$cluster run -n x true
	2|-m 9k: not an MTU|$cluster run -m 9k true
	2|no command|$cluster run -n 2
	2|mpiexec is for a command of "cluster run"|$cluster mpiexec 2 $hello
	2|nodes are 0 to 1|$cluster run -v $cluster on 7 true
	2|two: not a number of ranks|$cluster run -v $cluster mpiexec two $hello
	2|mpiexec: no command|$cluster run -v $cluster mpiexec 2
	2|there is no none/Makefile|$mpich none
	1|none is not there|MPICH_SRC=none $mpich $build
MISTAKES

# A library that is not installed; a configured source refuses another place.
if [[ ! -e $abs_top_srcdir/config.status ]]; then
	! PKG_CONFIG_PATH='' PKG_CONFIG_LIBDIR=/none "$abs_top_srcdir/configure" \
		>seen 2>&1 || status=1
	grep -q "error: hwloc.* is missing: install Debian's libhwloc-dev" seen || {
		tail seen
		status=1
	}
fi
exit $status
