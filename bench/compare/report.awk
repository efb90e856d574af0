# SPDX-License-Identifier: MIT
# Medians of samples: awk -f report.awk -v as=text -v names="a b" -v titles=A,B
# -v beside=b SAMPLES, or as=csv, as=json, or as=plot, what gnuplot draws. A
# line of samples: where, test, bytes, unit, name, value. The first name is
# held against the best of the others and against `beside`.

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
	for (i = 2; i <= n; i++) {
		value = figure(key, name[i])
		if (value != "" && (best == "" || better(value, best, unit)))
			best = value
	}
	return best
}

function ratio(a, b) {
	return a == "" || b == "" ? "" : sprintf("%.2f", a / b)
}

function head(first, column, last, list,    j) {
	printf first, "where", "test", "bytes", "unit"
	for (j = 1; j <= n; j++)
		printf column, list[j]
	printf last last "\n", "x best", "x " beside
}

function text(i, part,    j, value) {
	printf "%-9s %-12s %8s %-5s", part[1], part[2], part[3], part[4]
	for (j = 1; j <= n; j++) {
		value = figure(keys[i], name[j])
		printf " %10s", value == "" ? "-" : sprintf("%.4g", value)
	}
	printf " %9s %9s\n", ratio(mine, best), \
		ratio(mine, figure(keys[i], beside))
}

function csv(i, part,    j) {
	printf "%s,%s,%s,%s", part[1], part[2], part[3], part[4]
	for (j = 1; j <= n; j++)
		printf ",%s", figure(keys[i], name[j])
	printf ",%s,%s\n", ratio(mine, best), \
		ratio(mine, figure(keys[i], beside))
}

function json(i, part,    j, list) {
	for (j = 1; j <= n; j++) {
		if (!((keys[i], name[j]) in samples))
			continue
		list = substr(samples[keys[i], name[j]], 2)
		gsub(" ", ", ", list)
		printf "%s{\"where\": \"%s\", \"test\": \"%s\", \"bytes\": %s, \"unit\": \"%s\", \"name\": \"%s\", \"median\": %s, \"samples\": [%s]}", \
			(nobjects++ ? ",\n" : ""), part[1], part[2], part[3], \
			part[4], name[j], figure(keys[i], name[j]), list
	}
}

function plot(i, part,    j, value) {
	printf "%s", part[3] ? part[3] : 1
	for (j = 1; j <= n; j++) {
		value = figure(keys[i], name[j])
		printf " %s", value == "" ? 0 : value
	}
	printf "\n"
}

BEGIN {
	n = split(names, name, " ")
	split(titles, title, ",")
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
		head("%-9s %-12s %8s %-5s", " %10s", " %9s", title)
	else if (as == "csv")
		head("%s,%s,%s,%s", ",%s", ",%s", name)
	else if (as == "json")
		print "["
	for (i = 1; i <= nkeys; i++) {
		split(keys[i], part, SUBSEP)
		mine = figure(keys[i], name[1])
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
