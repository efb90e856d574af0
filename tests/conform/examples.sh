#!/bin/bash
# SPDX-License-Identifier: MIT
# What a newcomer does with an installed example: each says what it does and how
# it is started, answers wrong arguments with that and status 2, and is compiled
# from its installed sources, by the line in its head, to a program that works.
set -euo pipefail
# shellcheck source=tests/conform/installed.bash
. "${abs_top_srcdir:?}/tests/conform/installed.bash"
export LD_LIBRARY_PATH=${pc%/pkgconfig/*}
export OMP_NUM_THREADS=2
sources=$(find "$scratch/root" -path '*/doc/bcl/examples')
programs=$(find "$scratch/root" -path '*/libexec/bcl/examples')
cd "$scratch"
printf '%s\n' b c a >text
echo 'b c a' | tr ' ' '\n' | sort >sorted

status=0
complain() {
	echo "$*"
	status=1
}

# A line each: the program, arguments, what the last line of its answer has.
right='hello	rank 0 of 1 counts 1
psort text	c
heat -n 16 -s 3	16 x 16 cells, 1 ranks: .* field
heat --rma -n 16 -s 3 plate.png	16 x 16 cells, 1 ranks: .* field
hybrid 100	25 primes below 100
outlive	499999500000, added by 1 of 1'
wrong='hello again
hello -x
psort
psort one two
psort -x text
psort -o out
heat -n
heat -n x
heat -n 1
heat -n 0
heat -n 16385
heat -n 16z
heat -s -1
heat -s 0
heat -s 99999999999999999999
heat -x
heat one.png two.png
hybrid x
hybrid -1
hybrid 1 2
hybrid 99999999999999999999
outlive x
outlive -1
outlive 1 2
outlive 1x'

# runs DIRECTORY: its programs do what they should
runs() {
	while IFS=$'\t' read -r call answer; do
		# shellcheck disable=SC2086 # words of a call
		timeout 60 "$1"/$call >seen 2>&1 || complain "$1/$call: status $?"
		[[ $(tail -n 1 seen) =~ ^$answer ]] ||
			complain "$1/$call: $(<seen)"
	done <<<"$right"
}

for source in "$sources"/*.c; do
	program=$(basename "$source" .c)
	line=$(grep -m 1 '^ \* cc ' "$source" || true)
	if [[ ! $line ]]; then
		# a part of another one
		grep -q " ${source##*/} " "$sources"/*.c ||
			complain "$source does not say how it is compiled"
		continue
	fi
	(cd "$sources" && sh -ec "${line# \* }") || complain "$source: ${line# \* }"
	grep -Eq "^$program(\s|\$)" <<<"$right" ||
		complain "$program is not tried here"
	for way in "$programs" "$sources"; do
		"$way/$program" --help >seen 2>errors ||
			complain "$way/$program --help: status $?"
		grep -q "^usage: mpiexec -n RANKS $program" seen ||
			complain "$way/$program --help: $(<seen)"
		[[ ! -s errors ]] || complain "$way/$program: $(<errors)"
		[[ $(awk 'length > 80' seen) == '' && $(wc -l <seen) -gt 1 ]] ||
			complain "$way/$program --help: $(<seen)"
	done
done
runs "$programs"
runs "$sources"
[[ -s plate.png ]] || complain 'heat writes no picture'

while read -r call; do
	code=0
	# shellcheck disable=SC2086 # words of a call
	"$programs"/$call >seen 2>errors || code=$?
	[[ $code == 2 && ! -s seen ]] || complain "$call: status $code"
	grep -q "^usage: mpiexec -n RANKS ${call%% *}" errors ||
		complain "$call: $(<errors)"
done <<<"$wrong"

for program in "$programs"/*; do
	[[ -e $sources/${program##*/}.c ]] || complain "$program has no source"
done
exit $status
