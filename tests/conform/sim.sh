#!/bin/bash
# SPDX-License-Identifier: MIT
# bcl-sim runs every pattern, the same for the same seed; does what a script of
# faults says; writes scripts, traces and pictures that others can read; and
# says why it cannot.
set -euo pipefail
sim=${abs_top_builddir:?}/tools/bcl-sim
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
status=0

complain() {
	echo "$*"
	status=1
}

cluster=$scratch/two.cluster
cat >"$cluster" <<END
cluster nodes=4 ranks=2
host send=1us receive=1us trap=2us pio-write=0.2us copy=300MB/s
card mtu=4KB buffers=16 frame-sent=1us frame-received=1us \\
    read-start=2us read=200MB/s write-start=2us write=200MB/s
wire w bandwidth=160MB/s latency=10ns
crossbar x latency=0.5us queue=64KB forwarding=cut-through
ring r switches=2 cables=2 crossbar=x wire=w
END

for pattern in ping-pong shift random barrier broadcast reduce allreduce \
	       gather scatter allgather alltoall message tree-broadcast \
	       tree-reduce flat-scatter flat-gather; do
	"$sim" -r 3 "$cluster" $pattern 8 8k >"$scratch/$pattern" ||
		complain "$pattern: exit status $?"
	(($(grep -Ecx ' +(8|8192) +[0-9]+\.[0-9]{3}( +([0-9.]+|-)){0,3}' \
		"$scratch/$pattern") == 2)) ||
		complain "$pattern: $(<"$scratch/$pattern")"
	grep -q '^r\.\* > r\.\*  *4 ' "$scratch/$pattern" ||
		complain "$pattern shows no links"
done

"$sim" -r 3 "$cluster" alltoall 8 8k | diff -u "$scratch/alltoall" - ||
	complain 'another run is not the same'
! "$sim" -r 3 -s 2 "$cluster" random 8 8k |
	diff -q "$scratch/random" - >/dev/null ||
	complain 'another seed is the same'

# Of the first three nodes the first rank each: nothing inside nodes, and the
# last takes no part. A floor above adds to each message.
for pattern in shift broadcast tree-broadcast; do
	"$sim" -r 3 -n 3 -k 1 "$cluster" $pattern 4 >"$scratch/some" ||
		complain "$pattern: exit status $?"
	grep -q '^ *4 ' "$scratch/some" || complain "$pattern: $(<"$scratch/some")"
done
time_of() {
	"$sim" -n 2 -k 1 "$@" "$cluster" message 0 | awk '$1 == "0" { print $2 }'
}
[[ $(time_of -a 10us) == "$(awk -v us="$(time_of)" \
	'BEGIN { printf "%.3f", us + 10 }')" ]] || complain 'nothing above'

# Rounds of a broadcast overlap, unless all begin each together: then it takes
# what no broadcast can do without, or more.
read -r _ apart _ < <("$sim" -n 2 -k 1 "$cluster" broadcast | grep '^ *8 ')
read -r _ together _ _ times < <("$sim" -g -n 2 -k 1 "$cluster" broadcast |
	grep '^ *8 ')
awk "BEGIN { exit !($together > $apart && $times >= 1) }" ||
	complain "together $together us, $times times the bound, apart $apart us"

# The algorithm that was asked for, whatever would be chosen; and what else there
# is.
read -r _ chosen _ < <("$sim" -r 3 "$cluster" alltoall | grep '^ *8 ')
read -r _ pairs _ < <("$sim" -r 3 --algorithm=pairs "$cluster" alltoall |
	grep '^ *8 ')
awk "BEGIN { exit !($pairs > $chosen) }" ||
	complain "$pairs us by pairs, $chosen us by choice"

# One cable bounds what the nodes of two switches exchange; two have room for
# what their cards can send.
sed 's/cables=2/cables=1/' "$cluster" >"$scratch/thin.cluster"
for pattern in alltoall far-shift; do
	"$sim" -g -r 3 "$scratch/thin.cluster" $pattern 8 64k >"$scratch/thin"
	grep 'others pass' "$scratch/thin" | diff - <(echo 'bound us of' \
		'65536 bytes: between 2 nodes and 2 others pass 160.0 MB/s' \
		'each way') || complain "$pattern: which links bound it?"
	awk '$1 == 65536 { exit !($5 >= 1) }' "$scratch/thin" ||
		complain "$pattern takes less than its bound"
done
! grep 'others pass' "$scratch/alltoall" "$scratch/shift" ||
	complain 'links bound what they have room for'

# Frames that are lost are sent again.
echo 'drop frame=data from=0 to=3 nth=2 count=2' >"$scratch/script"
out=$("$sim" -f "$scratch/script" "$cluster" shift 8k)
grep -qx 'happened drop 2' <<<"$out" || complain "dropped: $out"
grep -q ' [1-9][0-9]* frames sent again$' <<<"$out" || complain "again: $out"

# A slow node is waited for.
echo 'slow node=2 times=10' >"$scratch/script"
"$sim" -r 3 -f "$scratch/script" "$cluster" alltoall 8 8k >"$scratch/slow" ||
	complain "slow: exit status $?"
! diff -q "$scratch/alltoall" "$scratch/slow" >/dev/null ||
	complain 'a slow node is as fast'

# What chance writes is a script that does the same.
"$sim" -f random:3:40 "$cluster" alltoall 4k >"$scratch/chance"
sed -n '/^faults$/,/^$/{//!p}' "$scratch/chance" >"$scratch/script"
(($(wc -l <"$scratch/script") == 40)) || complain 'chance has written less'
"$sim" -f "$scratch/script" "$cluster" alltoall 4k |
	diff -u "$scratch/chance" - || complain 'its script does something else'

# Faults that may end the job do so for everyone: nobody waits for ever.
for seed in {1..20}; do
	code=0
	"$sim" -f fatal:$seed:40 "$cluster" alltoall 4k \
		>"$scratch/fatal-$seed" 2>&1 || code=$?
	((code < 2)) && ! grep -q 'not come to their end' "$scratch/fatal-$seed" ||
		complain "fatal:$seed:40: $(tail -n 3 "$scratch/fatal-$seed")"
done
for kind in crash isolate unplug; do
	grep -q "^happened.* $kind " "$scratch"/fatal-* ||
		complain "chance never chose $kind"
done

# To the byte, in what cards did, too.
for run in 1 2; do
	"$sim" -f random:3:40 -t "$scratch/trace-$run" "$cluster" alltoall 4k \
		>/dev/null
done
cmp "$scratch/trace-1" "$scratch/trace-2" ||
	complain 'another run leaves another trace'
"$sim" -s 2 -f random:4:40 -t "$scratch/trace-2" "$cluster" alltoall 4k >/dev/null
! cmp -s "$scratch/trace-1" "$scratch/trace-2" ||
	complain 'other faults leave the same trace'

# Ranks of a node do not leave together. Who calls one that has left is told. They
# leave where a trace is to tell of it; else the run ends when all is done.
sed 's/nodes=32 ranks=32/nodes=4 ranks=16/' \
	"${abs_top_srcdir:?}/sim/clusters/ethernet-100g.cluster" \
	>"$scratch/many.cluster"
out=$("$sim" -r 1 -t "$scratch/left" "$scratch/many.cluster" barrier)
grep -Eq '^[0-9]{1,3}\.[0-9]+ ms simulated' <<<"$out" ||
	complain "leaving takes a second: $out"
for option in -n4 "-t$scratch/left"; do
	"$sim" -r 1 "$option" "$scratch/many.cluster" barrier
done >"$scratch/both"
(($(grep -Ex ' +8 .*' "$scratch/both" | sort -u | wc -l) == 1)) ||
	complain "leaving changes what was before: $(<"$scratch/both")"

# A long run says how far it is; it is ended when it has.
"$sim" -r 10000 "$cluster" alltoall 64k >"$scratch/out" 2>"$scratch/progress" &
long=$!
for ((i = 0; i < 600; i++)); do
	[[ ! -s $scratch/progress ]] || break
	sleep 0.1
done
kill $long 2>/dev/null || complain 'a long run is over too soon to be looked at'
wait $long || true
grep -Eqx 'bcl-sim: [1-9][0-9]*\.[0-9]{3} ms simulated, [1-9][0-9]* of 10002 rounds, 8 ranks left' \
	"$scratch/progress" || complain "no progress: $(<"$scratch/progress")"

# refuses STATUS TEXT ARGUMENT...
refuses() {
	local expected=$1 text=$2 code=0
	shift 2
	"$sim" "$@" >/dev/null 2>"$scratch/error" || code=$?
	((code == expected)) || complain "$*: exit status $code"
	grep -qF -- "$text" "$scratch/error" ||
		complain "$*: $(<"$scratch/error")"
}
echo 'crash node=1' >"$scratch/crash"
echo 'drop from=9' >"$scratch/nobody"
printf 'drop\nbreak node=1\n' >"$scratch/half"
for node in 0 1 2 3; do echo "stall node=$node"; done >"$scratch/rest"
echo 'cluster' >"$scratch/none.cluster"
{
	sed 's/nodes=4/nodes=2/; /^ring/d' "$cluster"
	echo 'switch s0 crossbar=x'
	for ((i = 1; i < 255; i++)); do
		echo "switch s$i crossbar=x"
		echo "cable s$((i - 1)) s$i wire=w"
	done
	echo 'cable node0 s0 wire=w'
	echo 'cable node1 s254 wire=w'
} >"$scratch/row.cluster"
refuses 1 'expected at most 254 switches in a row: join distant ones by a cable' \
	"$scratch/row.cluster" shift
refuses 2 'expected a cluster, a pattern' "$cluster"
refuses 2 'no pattern "gossip"' "$cluster" gossip
refuses 2 'alltoall has no algorithm "gossip", but: node bruck ' -A gossip \
	"$cluster" alltoall
refuses 2 'shift has no algorithms' -A pairs "$cluster" shift
refuses 1 '8 ranks had to give up: not supported' -A node "$cluster" alltoall
refuses 2 '"many" is no size' "$cluster" shift many
refuses 2 'stream takes less than 1024 bytes, not 1K' "$cluster" stream 1K
refuses 2 '-r: "0" is not a number from 1 to 10000' -r 0 "$cluster" shift
refuses 2 '-n: "x" is not a number from 1 on' -n x "$cluster" shift
refuses 2 '-l: "5" is not a time, such as' -l 5 "$cluster" shift
refuses 2 'unrecognized option' --sped=1 "$cluster" shift
refuses 1 'there are only 4 nodes' -n 5 "$cluster" shift
refuses 1 'there are only 2 ranks' -k 3 "$cluster" shift
refuses 1 'nobody: No such file' nobody shift
refuses 1 '/clusters/nobody.cluster' nobody shift
refuses 1 'none.cluster:1: expected nodes=, too' "$scratch/none.cluster" shift
refuses 1 'nobody:1: node 9' -f "$scratch/nobody" "$cluster" shift
refuses 1 'half:2: expected drop' -f "$scratch/half" "$cluster" shift
refuses 1 'Is a directory' -f "$scratch" "$cluster" shift
refuses 1 'Is a directory' "$scratch" shift
refuses 1 '8 ranks have not come to their end' -f "$scratch/rest" "$cluster" shift
refuses 1 '2 ranks have crashed' -f "$scratch/crash" "$cluster" shift
refuses 1 'ranks had to give up' -f "$scratch/crash" "$cluster" alltoall
refuses 1 'expected random:SEED' -f random:x "$cluster" shift
refuses 1 'expected random:SEED' -f random:-1 "$cluster" shift
refuses 1 'N at most 100000' -f random:1:100001 "$cluster" shift
refuses 1 'expected fatal:SEED' -f fatal:x "$cluster" shift
refuses 1 '8 ranks have not come to their end' -l 1us "$cluster" shift
refuses 1 'No such file' -t "$scratch/no/trace" "$cluster" shift
refuses 1 'No space left' -t /dev/full "$cluster" shift
(
	trap '' XFSZ
	ulimit -f 8192 # more than a node's shared memory, less than the trace
	status=0
	refuses 1 "$scratch/cut: not all could be written" -r 3 \
		-t "$scratch/cut" "$cluster" alltoall 64k
	exit $status
) || status=1
code=0
"$sim" "$cluster" shift 2>"$scratch/error" >/dev/full || code=$?
((code == 1)) && grep -q 'not all of the output' "$scratch/error" ||
	complain "a full disk: exit status $code, $(<"$scratch/error")"

# Who is alone sends to itself in no time.
"$sim" -n 1 -k 1 "$cluster" shift 8 >"$scratch/alone"
grep -Eqx ' +8 +0\.000 +- *[0-9. ]*' "$scratch/alone" ||
	complain "alone: $(<"$scratch/alone")"
[[ $("$sim" --help) == usage:* ]] || complain 'no help'

((status == 0)) || exit $status
for program in tshark gnuplot; do
	command -v $program >/dev/null ||
		{ echo "no $program: traces or pictures not looked at"; exit 77; }
done

# Each process has other addresses; nothing in a frame may be one, nor follow from
# one. Pieces of long broadcasts are put where others have granted it.
same_trace() {
	local file
	for file in once again; do
		"$sim" -r 3 -t "$scratch/$file" "$@" >"$scratch/out" ||
			complain "$*: exit status $?"
	done
	cmp "$scratch/once" "$scratch/again" ||
		complain "$*: another trace is not the same"
}
same_trace "$cluster" shift 8k
same_trace "$cluster" broadcast 256k
same_trace -f random:3:40 "$cluster" allreduce 64k

"$sim" -t "$scratch/trace" "$cluster" shift 8k >"$scratch/out"
"$abs_top_builddir/tools/bcl-check" "$scratch/trace" >"$scratch/out" ||
	complain "the trace breaks rules: $(<"$scratch/out")"
lua=$abs_top_srcdir/tools/bcl.lua
tshark -X lua_script:"$lua" -r "$scratch/trace" 2>/dev/null >"$scratch/frames"
[[ -s $scratch/frames ]] || complain 'no frames in the trace'
! grep -v ' BCL ' "$scratch/frames" || complain '^ not understood'

"$sim" -p "$scratch/load.png" "$cluster" alltoall 8 1k >"$scratch/out"
[[ $(head -c 4 "$scratch/load.png" | tail -c 3) == PNG ]] ||
	complain 'no picture'
refuses 1 'gnuplot does not draw' -p "$scratch/no/load.png" "$cluster" shift
exit $status
