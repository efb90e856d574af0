# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# What mpi-compare and pvm-compare make of $output/samples. The caller sets
#	output	the directory
#	names	array: all that can be compared, ours first
#	titles	array: for people
#	beside	the name that has a column of ratios of its own
#	aside	a name that is no rival of the first, or nothing
compare=$(dirname "${BASH_SOURCE[0]}")

# At most so many times the best of the others: the median, and the worst
collective_bars='inside 0.4 0.8,crowd8 0.5 0.9,crowd16 0.5 0.9'
collective_bars+=',square 0.5 0.9,between4 0.5 0.9'

report() {
	awk -f "$compare/report.awk" -v as="$1" -v names="${names[*]}" \
		-v titles="$(IFS=,; echo "${titles[*]}")" \
		-v beside="$beside" -v aside="${aside-}" \
		-v bars="$collective_bars" "${@:2}"
}

# describe_machine TEXT...: $output/machine, what the figures depend on
describe_machine() {
	{
		date -u '+%Y-%m-%d %H:%M UTC'
		echo "$(nproc) x $(sed -n 's/^model name[^:]*: //p' \
			/proc/cpuinfo | sort | uniq | paste -sd /)"
		uname -sr
		. /etc/os-release && echo "$PRETTY_NAME"
		printf '%s\n' "$@"
	} >"$output/machine"
}

# What gnuplot is to draw with of the columns that have samples.
columns() {
	local how=$1 i
	for ((i = 0; i < ${#names[@]}; i++)); do
		! grep -Eq "^([^ ]* ){4}${names[i]}( |\$)" "$output/samples" ||
			printf "file using %s%d %s title '%s', " "${how%%,*}" \
				$((i + 2)) "${how#*,}" "${titles[i]}"
	done
}

# A chart for each place and test: over the bytes, or bars.
charts() {
	local where test unit scale
	cut -d ' ' -f 1,2,4 "$output/samples" | sort -u |
		while read -r where test unit; do
		scale=xy
		[[ $unit != % ]] || scale=x # may be negative
		awk -v where="$where" -v test="$test" \
			'$1 == where && $2 == test' "$output/samples" |
			report plot - >"$output/plot"
		gnuplot <<-END
		set terminal pngcairo size 800,500
		set output '$output/$where-$test.png'
		set title '$test, $where'
		set ylabel '$unit'
		set key top left
		set grid
		file = '$output/plot'
		if ($(wc -l <"$output/plot") > 1) {
			set logscale $scale
			set xlabel 'bytes (0 as 1)'
			plot $(columns '1:,with linespoints')
		} else {
			set style data histogram
			set style fill solid
			set yrange [0:*]
			set format x ''
			plot $(columns ',')
		}
		END
	done
}

# NAME.txt, .csv, .json, and charts; prints the first.
reports() {
	local name=$1 as
	for as in text csv json; do
		report $as "$output/samples" >"$output/$name.${as/text/txt}"
	done
	! command -v gnuplot >/dev/null || charts
	cat "$output/$name.txt"
	echo "All of it is in $output"
}
