# SPDX-License-Identifier: MIT
# The part of the page that shows one comparison: awk -f chart.awk -f page.awk
# -v bars="PLACE MEDIAN WORST,..." -v model="PLACE START SLOPE,..." FILE.csv, where
# FILE.csv is what report.awk wrote. For each place: its ratios with the bars, if
# it has any; a chart for each test of several lengths; all figures. A model
# predicts START us and SLOPE us for each byte.

function title_of(name) {
	return name == "bcl" ? "ch3:bcl" : name == "mpich" ? "MPICH" : \
		name == "openmpi" ? "Open MPI" : name == "coll" ? "coll.h" : name
}

function place_of(where) {
	if (where ~ /^crowd/)
		return substr(where, 6) " ranks of a node"
	if (where ~ /^group/)
		return substr(where, 6) " tasks of a host"
	if (where ~ /^between/)
		return "two nodes, " substr(where, 8) " ranks each"
	return where == "inside" ? "inside a node" : where == "square" ? \
		"two nodes, 2 ranks each" : where == "nodes" ? "two nodes" : \
		where == "udp" ? "two nodes, ours by UDP alone" : \
		where == "packet" ? "two nodes, ours by the packet ring alone" : \
		where == "cubic" ? "two nodes, the others' TCP with cubic" : where
}

function cell_class(ratio, where) {
	return where in worst_bar && ratio + 0 > worst_bar[where] + 0 ? \
		" class=\"miss\"" : ""
}

# ---- ratios ---------------------------------------------------------------

function sort_numbers(list, n,    i, j, x) {
	for (i = 2; i <= n; i++) {
		x = list[i]
		for (j = i - 1; j && list[j] > x; j--)
			list[j + 1] = list[j]
		list[j + 1] = x
	}
}

function bar_text(what, value, bar) {
	return sprintf("%s <b class=\"%s\">%.2f</b> (at most %s)", what, \
		value + 0 > bar + 0 ? "miss" : "met", value, bar)
}

# "1 K" and "8 ", to stand before B
function header_bytes(bytes) {
	return short_bytes(bytes) (bytes < 1024 ? " " : "")
}

function ratios(where,    i, j, k, list, n, test, r) {
	for (i = 1; i <= nrows; i++)
		if (row_where[i] == where && is_operation(i))
			list[++n] = row_best[i] + 0
	if (!n)
		return
	sort_numbers(list, n)
	printf "<p>Time as a multiple of the best of the others, %d figures: %s, %s.</p>\n", \
		n, bar_text("median", n % 2 ? list[(n + 1) / 2] : \
		(list[n / 2] + list[n / 2 + 1]) / 2, median_bar[where]), \
		bar_text("worst", list[n], worst_bar[where])
	printf "<div class=\"scroll\"><table><tr><th>operation</th>"
	for (j = 1; j <= nlengths[where]; j++)
		if (lengths[where, j] > 0)
			printf "<th>%sB</th>", header_bytes(lengths[where, j])
	print "</tr>"
	for (k = 1; k <= ntests[where]; k++) {
		test = tests[where, k]
		if (test ~ /-/)
			continue
		printf "<tr><td>%s</td>", test
		for (j = 1; j <= nlengths[where]; j++) {
			if (!lengths[where, j])
				continue
			r = best[where, test, lengths[where, j]]
			if (r == "" && ++shown[where, test] == 1)
				r = best[where, test, 0]
			printf "<td%s>%s</td>", cell_class(r, where), \
				r == "" ? "" : r
		}
		print "</tr>"
	}
	print "</table></div>"
}

function is_operation(i) {
	return row_unit[i] == "us" && row_test[i] !~ /-/ && row_best[i] != "" && \
		row_where[i] in worst_bar
}

# ---- charts ---------------------------------------------------------------

function add_model(where, test,    j, bytes) {
	if (test != "latency" || !(where in model_start))
		return
	for (j = 1; j <= nlengths[where]; j++) {
		bytes = lengths[where, j]
		if ((where, test, bytes) in best)
			chart_point("LogGP", "model", bytes, \
				model_start[where] + bytes * model_slope[where])
	}
}

function chart(where, test,    i, j, n, unit) {
	chart_begin()
	for (j = 1; j <= nnames; j++)
		for (i = 1; i <= nrows; i++)
			if (row_where[i] == where && row_test[i] == test && \
			    value[i, j] + 0 > 0) {
				chart_point(title_of(name[j]), "s" (j - 1), \
					row_bytes[i], value[i, j])
				unit = row_unit[i]
			}
	add_model(where, test)
	printf "<figure><figcaption><b>%s</b>, %s over bytes</figcaption>\n", \
		test, unit
	chart_draw(test ", " place_of(where), unit)
	print "</figure>"
}

function charts(where,    k, any) {
	for (k = 1; k <= ntests[where]; k++) {
		# a percentage may be negative, and has no logarithm
		if (lengths_of[where, tests[where, k]] < 3)
			continue
		if (!any++)
			print "<div class=\"charts\">"
		chart(where, tests[where, k])
	}
	if (any)
		print "</div>"
}

# ---- figures --------------------------------------------------------------

function figure_row(i, first,    j) {
	printf "<tr%s><td>%s</td><td>%s</td><td>%s</td>", \
		first ? " class=\"first\"" : "", first ? row_test[i] : "", \
		short_bytes(row_bytes[i]), row_unit[i]
	for (j = 1; j <= nnames; j++)
		printf "<td%s>%s</td>", j == 1 ? " class=\"ours\"" : "", \
			value[i, j] == "" ? "–" : row_unit[i] == "%" ? \
			sprintf("%.0f", value[i, j]) : short_number(value[i, j])
	printf "<td%s>%s</td></tr>\n", is_operation(i) ? \
		cell_class(row_best[i], row_where[i]) : "", \
		row_unit[i] == "%" || row_best[i] == "" ? "–" : row_best[i]
}

function figures(where,    i, j, k, first) {
	printf "<div class=\"scroll\"><table><tr><th>test</th><th>bytes</th><th>unit</th>"
	for (j = 1; j <= nnames; j++)
		printf "<th>%s</th>", title_of(name[j])
	print "<th>x best</th></tr>"
	for (k = 1; k <= ntests[where]; k++) {
		first = 1
		for (i = 1; i <= nrows; i++) {
			if (row_where[i] != where || row_test[i] != tests[where, k])
				continue
			figure_row(i, first)
			first = 0
		}
	}
	print "</table></div>"
}

BEGIN {
	FS = ","
	n = split(bars, list, ",")
	for (i = 1; i <= n; i++) {
		split(list[i], part, " ")
		median_bar[part[1]] = part[2]
		worst_bar[part[1]] = part[3]
	}
	n = split(model, list, ",")
	for (i = 1; i <= n; i++) {
		split(list[i], part, " ")
		model_start[part[1]] = part[2]
		model_slope[part[1]] = part[3]
	}
}

NR == 1 {
	nnames = NF - 6
	for (i = 1; i <= nnames; i++)
		name[i] = $(i + 4)
	next
}

{
	i = ++nrows
	row_where[i] = $1; row_test[i] = $2; row_bytes[i] = $3; row_unit[i] = $4
	for (j = 1; j <= nnames; j++)
		value[i, j] = $(j + 4)
	row_best[i] = $(nnames + 5)
	best[$1, $2, $3] = row_best[i]
	lengths_of[$1, $2]++
	if (!(($1) in place_seen))
		places[++nplaces] = $1
	place_seen[$1] = 1
	if (!(($1, $2) in test_seen))
		tests[$1, ++ntests[$1]] = $2
	test_seen[$1, $2] = 1
	if (!(($1, $3) in length_seen))
		lengths[$1, ++nlengths[$1]] = $3
	length_seen[$1, $3] = 1
}

END {
	for (p = 1; p <= nplaces; p++) {
		printf "<h3>%s</h3>\n", place_of(places[p])
		if (places[p] in worst_bar)
			ratios(places[p])
		charts(places[p])
		figures(places[p])
	}
}
