# SPDX-License-Identifier: MIT
# Medians of samples: awk -f report.awk -v as=text -v names="a b" -v titles=A,B
# -v beside=b SAMPLES, or as=csv, as=json, or as=plot, what gnuplot draws. A
# line of samples: where, test, bytes, unit, name, value. The first name is
# held against the best of the others (but for `aside`) and against `beside`.
# as=grid: of each place a table (Markdown) of times as multiples of the best,
# a row for each test, a column for each length; what is beyond the place's bar
# is bold (-v bars="PLACE MEDIAN WORST,..."). as=spread: their median and worst. Neither has tests that are no
# plain operation: those with a hyphen in the name.

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
		value = name[i] == aside ? "" : figure(key, name[i])
		if (value != "" && (best == "" || better(value, best, unit)))
			best = value
	}
	return best
}

function ratio(a, b) {
	return a == "" || b == "" || !b ? "" : sprintf("%.2f", a / b)
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

# ---- grid and spread -------------------------------------------------------

# Keeps the ratio of a cell for its place.
function keep(part, value,    where, test, bytes) {
	where = part[1]; test = part[2]; bytes = part[3]
	if (value == "" || part[4] != "us" || test ~ /-/)
		return
	if (!(where in ratios))
		places[++nplaces] = where
	ratios[where] = ratios[where] " " value
	if (worst[where] == "" || value + 0 > worst[where] + 0) {
		worst[where] = value
		worst_of[where] = test " " bytes
	}
	cell[where, test, bytes] = value
	if (!((where, test) in rows)) {
		rows[where, test] = 1
		row[where, ++nrows[where]] = test
	}
	if (bytes != 0 && !((where, bytes) in columns)) {
		columns[where, bytes] = 1
		column[where, ++ncolumns[where]] = bytes
	}
}

function marked(value, limit) {
	return limit && value + 0 > limit + 0 ? "**" value "**" : value
}

function grid(where,    i, j, test, value) {
	printf "\n| %s, x best |", where
	for (j = 1; j <= ncolumns[where]; j++)
		printf " %d B |", column[where, j]
	printf "\n|---|"
	for (j = 1; j <= ncolumns[where]; j++)
		printf "---|"
	for (i = 1; i <= nrows[where]; i++) {
		test = row[where, i]
		printf "\n| %s |", test
		for (j = 1; j <= ncolumns[where]; j++) {
			# what has no length stands in the first column
			value = cell[where, test, column[where, j]]
			if (j == 1 && value == "")
				value = cell[where, test, 0]
			printf " %s |", marked(value, worst_bar[where])
		}
	}
	print ""
}

function verdict(value, limit) {
	return sprintf("%.2f", value) (limit ? " (at most " limit ": " \
		(value + 0 > limit + 0 ? "MISSED" : "met") ")" : "")
}

function spread(where,    list) {
	printf "%-9s %3d figures, x best: median %s, worst %s: %s\n", where, \
		split(ratios[where], list, " "), \
		verdict(median(ratios[where]), median_bar[where]), \
		verdict(worst[where], worst_bar[where]), worst_of[where]
}

BEGIN {
	nbars = split(bars, bar, ",")
	for (i = 1; i <= nbars; i++) {
		split(bar[i], part, " ")
		median_bar[part[1]] = part[2]
		worst_bar[part[1]] = part[3]
	}
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
		else if (as == "plot")
			plot(i, part)
		else
			keep(part, ratio(mine, best))
	}
	if (as == "json")
		print "\n]"
	for (i = 1; i <= nplaces; i++)
		if (as == "grid")
			grid(places[i])
		else
			spread(places[i])
}
