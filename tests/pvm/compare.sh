#!/bin/bash
# SPDX-License-Identifier: MIT
# What bench/pvm-compare writes, as text, CSV, JSON and charts, agrees with its
# samples: those of a short run, and made ones that have all bars.
set -euo pipefail
build=${abs_top_builddir:?}
task=$build/bench/pvm/task
[[ -x $task ]] || { echo 'no PVM to build programs with'; exit 77; }

# shellcheck source=tests/pvm/scratch.sh
. "${abs_top_srcdir:?}/tests/pvm/scratch.sh"
bench=$abs_top_srcdir/bench

# is_image FILE
is_image() {
	[[ $(head -c 8 "$1" | od -An -tx1) == ' 89 50 4e 47 0d 0a 1a 0a' ]]
}

# agrees DIRECTORY BARS: so many are in the text
agrees() {
	local where test
	perl "$abs_top_srcdir/tests/pvm/compare.pl" "$@"
	command -v gnuplot >/dev/null || return 0
	cut -d ' ' -f 1,2 "$1/samples" | sort -u |
		while read -r where test; do
		is_image "$1/$where-$test.png"
	done
}

timeout "$limit" "$bench/pvm-compare" --only=inside --test=self,packed \
	--rounds=2 --output="$PWD/run" "$build" >said 2>errors || {
	cat said errors
	exit 1
}
# two rounds of self and of three lengths, by three ways
(($(wc -l <run/samples) == 2 * 4 * 3)) || { cat run/samples errors; exit 1; }
cmp <(head -n 5 said) <(head -n 5 run/pvm.txt)
agrees run 1

# A measurement that fails is an error.
mkdir -p broken/bench/pvm
printf '#!/bin/sh\nexit 1\n' >broken/bench/pvm/task
chmod +x broken/bench/pvm/task
if timeout "$limit" "$bench/pvm-compare" --only=inside --test=self \
	--rounds=1 --output="$PWD/none" broken >said 2>errors; then
	exit 1
fi
grep -q '^pvm-compare: inside direct:' errors

# made WHERE TEST BYTES UNIT GLUE DIRECT DAEMON: their samples, with commas
made() {
	local name list value
	for name in glue:$5 direct:$6 daemon:$7; do
		list=${name#*:}
		for value in ${list//,/ }; do
			echo "$1 $2 $3 $4 ${name%%:*} $value"
		done
	done
}

mkdir made
{
	made inside packed 8 us 0.5,0.3,0.4 30,2,9,4 ''
	made inside self 8 us 0.25 40 20
	made inside adi 8 us 0.04,0.06 '' ''
	made inside psend-rate 65536 GB/s 8,10 2,3 5
	made inside packed-rate 1048576 GB/s 1 2 0.5
	made packet packed 8 us 3,20,100 9 1e3
	made udp packed 8 us 3 4 5
	made hosts psend-rate 65536 GB/s '' 1 2
	made group4 reduce 8 us 3 40 20
	made group8 barrier 8 us 30 40 140
	made group16 reduce 8 us 20,13 40 20
} >made/samples
output=$PWD/made names=(glue direct daemon) titles=(glue direct daemon)
# shellcheck disable=SC2034
beside=direct
# shellcheck source=bench/compare/report.bash
. "$bench/compare/report.bash"
reports pvm >/dev/null
awk -f "$bench/pvm/bars.awk" made/pvm.csv >>made/pvm.txt
agrees made 9
