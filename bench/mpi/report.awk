# SPDX-License-Identifier: MIT
# Medians of what mpi-compare has measured: awk -f report.awk -v as=text SAMPLES,
# or as=csv, as=json, or as=plot, what gnuplot draws. A line of samples: where,
# test, bytes, unit, implementation, value.

function median(list,    value, n, i, j, x) {
	n = split(list, value, " ")
	for (i = 2; i <= n; i++) {
		x = value[i] + 0
		for (j = i - 1; j && value[j] + 0 > x; j--)
			value[j + 1] = value[j]
		value[j + 1] = x
	}
	return n % 2 ? value[(n + 1) / 2] : (value[n / 2] + value[n / 2 + 1]) / 2
}

# What is better: less time, or more of something.
function better(a, b, unit) {
	return unit == "us" ? a < b : a > b
}

function figure(key, who) {
	return (key, who) in samples ? median(samples[key, who]) : ""
}

function best_of_others(key, unit,    i, value, best) {
	for (i = 2; i <= nnames; i++) {
		value = figure(key, names[i])
		if (value != "" && (best == "" || better(value, best, unit)))
			best = value
	}
	return best
}

function ratio(a, b) {
	return a == "" || b == "" ? "" : sprintf("%.2f", a / b)
}

function text(i, part,    j, value) {
	printf "%-9s %-10s %8s %-5s", part[1], part[2], part[3], part[4]
	for (j = 1; j <= nnames; j++) {
		value = figure(keys[i], names[j])
		printf " %10s", value == "" ? "-" : sprintf("%.4g", value)
	}
	printf " %7s %9s\n", ratio(mine, best), \
		ratio(mine, figure(keys[i], "nemesis"))
}

function csv(i, part,    j) {
	printf "%s,%s,%s,%s", part[1], part[2], part[3], part[4]
	for (j = 1; j <= nnames; j++)
		printf ",%s", figure(keys[i], names[j])
	printf ",%s,%s\n", ratio(mine, best), \
		ratio(mine, figure(keys[i], "nemesis"))
}

function json(i, part,    j, list) {
	for (j = 1; j <= nnames; j++) {
		if (!((keys[i], names[j]) in samples))
			continue
		list = substr(samples[keys[i], names[j]], 2)
		gsub(" ", ", ", list)
		printf "%s{\"where\": \"%s\", \"test\": \"%s\", \"bytes\": %s, \"unit\": \"%s\", \"mpi\": \"%s\", \"median\": %s, \"samples\": [%s]}", \
			(nobjects++ ? ",\n" : ""), part[1], part[2], part[3], \
			part[4], names[j], figure(keys[i], names[j]), list
	}
}

function plot(i, part,    j, value) {
	printf "%s", part[3] ? part[3] : 1
	for (j = 1; j <= nnames; j++) {
		value = figure(keys[i], names[j])
		printf " %s", value == "" ? 0 : value
	}
	printf "\n"
}

BEGIN {
	nnames = split("bcl nemesis mpich openmpi", names, " ")
}

{
	key = $1 SUBSEP $2 SUBSEP $3 SUBSEP $4
	if (!(key in seen))
		keys[++nkeys] = key
	seen[key] = 1
	samples[key, $5] = samples[key, $5] " " $6
}

END {
	if (as == "text")
		printf "%-9s %-10s %8s %-5s %10s %10s %10s %10s %7s %9s\n", \
			"where", "test", "bytes", "unit", "ch3:bcl", \
			"nemesis", "MPICH", "Open MPI", "x best", "x nemesis"
	else if (as == "csv")
		print "where,test,bytes,unit,bcl,nemesis,mpich,openmpi,to_best,to_nemesis"
	else if (as == "json")
		print "["
	for (i = 1; i <= nkeys; i++) {
		split(keys[i], part, SUBSEP)
		mine = figure(keys[i], "bcl")
		best = best_of_others(keys[i], part[4])
		if (as == "text")
			text(i, part)
		else if (as == "csv")
			csv(i, part)
		else if (as == "json")
			json(i, part)
		else
			plot(i, part)
	}
	if (as == "json")
		print "\n]"
}
