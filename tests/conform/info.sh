#!/bin/bash
# SPDX-License-Identifier: MIT
# What bcl-info says, and the counters at exit.
set -euo pipefail
info=${abs_top_builddir:?}/tools/bcl-info
busy=$abs_top_builddir/tests/conform/cost
scratch=$(mktemp -d)
job=
trap 'kill $job 2>/dev/null; rm -rf "$scratch"' EXIT
unset PMI_FD PMI_PORT PMIX_RANK
export BCL_RAILS=none

fail() {
	echo "$*"
	[[ ! -s $scratch/out ]] || cat "$scratch/out"
	exit 1
}

# says PATTERN ARGUMENT...: one line of the output is like that.
says() {
	local pattern=$1
	shift
	"$info" "$@" >"$scratch/out" 2>&1 || fail "bcl-info $*: status $?"
	grep -Eq -- "$pattern" "$scratch/out" ||
		fail "bcl-info $*: no line like $pattern"
}

# ends STATUS ARGUMENT...
ends() {
	local expected=$1 status=0
	shift
	"$info" "$@" >"$scratch/out" 2>&1 || status=$?
	((status == expected)) || fail "bcl-info $*: status $status"
}

says '^bcl [0-9]+\.[0-9]+\.[0-9]+$' --version
says '^inside +shared memory'
BCL_SHM=off says '^inside .*BCL_SHM'
says '^processors +[0-9]+ of [0-9]+'
says '^rail +none wanted'
BCL_RAILS=udp BCL_NET=lo BCL_CARD=process says '^card +in the process: BCL_CARD'
says 'a job of one' --paths
says '^allreduce +doubling' --collectives
BCL_COLL=allreduce:ring says '^allreduce +ring$' --collectives
BCL_COLL=allreduce:ring says '^  ring .*  chosen$' --collectives=64
BCL_COLL=allreduce:ring@64k,allreduce:doubling@1M says \
	'^allreduce .*, ring over 49152, doubling over 786432 *$' --collectives
BCL_COLL=allreduce:ring@64k,allreduce:doubling says '^allreduce +doubling$' \
	--collectives
BCL_COLL=allreduce:ring@far ends 1 --collectives
grep -q '"far" is no number of bytes like 4096, 64k, 1M' "$scratch/out" ||
	fail 'nothing says what is wrong with a length'
BCL_COLL=allreduce:ring@ ends 1 --collectives
BCL_COLL=allreduce:rings ends 1 --collectives
grep -q 'has no algorithm "rings"; it has: .* ring ' "$scratch/out" ||
	fail 'nothing says which algorithms there are'
BCL_COLL=reduces:ring ends 1 --collectives
grep -q '"reduces" is no operation; these are: barrier ' "$scratch/out" ||
	fail 'nothing says which operations there are'
ends 2 --collectives=64x

# A team that is only described: which candidates, why one wins, what replaces it
says '^64 ranks on 16 nodes, at most 4 on one' --collectives --team=64x16
says '^allreduce of 60000 bytes, which counts as 65536$' \
	--collectives --team=64x16 allreduce 60000
[[ $(grep -c '  chosen$' "$scratch/out") == 1 ]] || fail 'not one is chosen'
grep -Eq '^  node +-  one node with shared memory only$' "$scratch/out" ||
	fail 'nothing says why node is no candidate'
grep -Eq '^  halving .* commutative operators only' "$scratch/out" ||
	fail 'nothing says what halving needs'
# The winner has the least time, and the next would take the difference.
awk '
	$2 ~ /^[0-9.]+$/ { us[$1] = $2; if ($NF == "chosen") chosen = $1 }
	/^the model takes/ { sub(":", "", $4); winner = $4; sub(",", "", $5)
		next_one = $5; more = $10 + $15 }
	END {
		for (name in us)
			if (us[name] < 0.999 * us[winner])
				exit 1
		difference = us[next_one] - us[winner] - more
		exit !(winner && winner == chosen && more > 0 &&
			difference < 0.03 && difference > -0.03)
	}' "$scratch/out" || fail 'the winner is not explained'
says '^  halving +-  only if all nodes have as many ranks$' \
	--collectives --team=63x16 allreduce 8
says '^  node .*  chosen$' --collectives --team=4x1 allreduce 8
BCL_SHM=off says '^  node +-  one node with' --collectives --team=4x1 allreduce 8
says '^  attached +[0-9]' --collectives --team=4x1 alltoall 1M
BCL_ATTACH=off says '^  attached +-  one node whose ranks may attach' \
	--collectives --team=4x1 alltoall 1M
BCL_SHM=off says '^  attached +-  one node whose ranks may attach' \
	--collectives --team=4x1 alltoall 1M
BCL_COLL=allreduce:ring says '^the settings take ring$' \
	--collectives --team=64x16 allreduce 8
grep -Eq '^  ring .*  chosen$' "$scratch/out" || fail 'BCL_COLL is not heard'
BCL_COLL_FIXED=on says '^the settings take flat_doubling$' \
	--collectives --team=64x16 allreduce 8
BCL_COLL_FIXED=on BCL_COLL=allreduce:ring says '^allreduce +flat_doubling' \
	--collectives
says '^allreduce of 1048576 bytes' --collectives --team=4x2 allreduce 1M
says '^  doubling +[0-9.]+ +[0-9.]+ +[0-9.]+ +[0-9.]+' --collectives --measure \
	allreduce 64k
grep -q '^measured, [a-z_]* is the fastest' "$scratch/out" ||
	fail 'nothing says what is fastest'
ends 1 --collectives --measure exchange 8
ends 2 --collectives --measure
ends 2 --collectives --measure --team=4x1 allreduce 8
ends 2 --measure
ends 2 --collectives --team=64x65 allreduce 8
ends 2 --collectives --team=64
ends 2 --collectives --team=4x0
ends 2 --team=64x16
ends 2 --collectives allreduces 8
ends 2 --collectives allreduce
ends 2 --collectives allreduce 8 8
BCL_SPIN=77us says '^BCL_SPIN=77us$' --config
BCL_SPIN=77us says 'default: 30us' --config
ends 2 --nonsense
ends 2 word
ends 2 --pid 12x
ends 1 --pid $$
BCL_SPIN=long ends 1

# Which path each pair of ranks would use, and why
PATH=${abs_top_srcdir:?}/scripts:$PATH
if command -v mpiexec.hydra >/dev/null; then
	BCL_RAILS=udp BCL_ATTACH=off timeout 60 cluster run -v \
		cluster mpiexec 2 "$info" --paths >"$scratch/out" 2>&1 ||
		fail 'bcl-info --paths fails in a job'
	for pair in 0-2 0-3 1-2 1-3; do
		grep -q "^$pair  card: another node, udp/" "$scratch/out" ||
			fail "no card between $pair"
	done
	for pair in 0-1 2-3; do
		grep -q "^$pair  shared memory: .*double copy" "$scratch/out" ||
			fail "no shared memory between $pair"
	done
fi

# Long messages are copied twice without attach, and once into frames.
copies() {
	local pid
	for pid in $(pidof "$talk"); do
		"$info" --pid "$pid" >"$scratch/out" 2>&1 &&
			grep -Eq ' (1\.9|2\.).* each byte: inside' "$scratch/out" &&
			grep -Eq ' (0\.9|1\.0).* byte: card, sent' "$scratch/out" &&
			grep -Eq ' [01]\.[0-9]+ .* byte: card, deliv' "$scratch/out" &&
			return
	done
	return 1
}

talk=$abs_top_builddir/tests/cluster/job
if command -v mpiexec.hydra >/dev/null; then
	# shellcheck source=tests/await.bash
	. "$abs_top_srcdir/tests/await.bash"
	JOB_UNTIL=$scratch/ended BCL_RAILS=udp BCL_ATTACH=off timeout 60 \
		cluster run -v cluster mpiexec 2 "$talk" &
	await 'copies are counted' copies
	touch "$scratch/ended"
	wait $! || fail 'the job fails'
fi

for variable in $(sed -n 's/^.*"\(BCL_[A-Z_]*\)", .*/\1/p' \
		"${abs_top_srcdir:?}/env/config.h"); do
	says "^$variable=" --config
done

"$busy" round 2000000000 &
job=$!
for ((i = 0; i < 100; i++)); do
	"$info" --pid $job >"$scratch/out" 2>&1 &&
		grep -q 'shm\.messages_line' "$scratch/out" && break
	sleep 0.1
done
says '^process [0-9]+: 1 contexts, 2 ports$' --pid $job
says '^ *[1-9][0-9]* shm\.messages_line +messages sent' --pid $job

BCL_STATS=on "$busy" round 1000 2>"$scratch/out" || fail 'cost failed'
grep -Eq 'stats: +2 core\.peers_shared' "$scratch/out" ||
	fail 'no counters at exit'
# 1000 to warm up, 1000 wanted
grep -Eq 'stats: +2000 shm\.messages_received' "$scratch/out" ||
	fail 'not all is counted at exit'
