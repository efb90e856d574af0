# SPDX-License-Identifier: MIT
# Log-log charts as inline SVG. A line carries its name at its end; colours are
# classes of the page's style (page.css).
#
#	chart_begin()		forgets the chart before
#	chart_point(series, class, x, y)
#	chart_draw(description, unit)	prints the chart

function chart_begin() {
	nlines = npoints = 0
	delete line_of
	delete points_of
}

function chart_point(series, class, x, y) {
	if (!(series in line_of)) {
		line_of[series] = ++nlines
		line_name[nlines] = series
		line_class[nlines] = class
		points_of[nlines] = 0
	}
	# 0 bytes stand where 1 would
	px[++npoints] = log2(x < 1 ? 1 : x)
	bytes_of[npoints] = x
	py[npoints] = log2(y)
	point[line_of[series], ++points_of[line_of[series]]] = npoints
}

function log2(x) {
	return log(x) / log(2)
}

function limits(    i) {
	x_least = x_most = px[1]
	y_least = y_most = py[1]
	for (i = 2; i <= npoints; i++) {
		if (px[i] < x_least) x_least = px[i]
		if (px[i] > x_most) x_most = px[i]
		if (py[i] < y_least) y_least = py[i]
		if (py[i] > y_most) y_most = py[i]
	}
	# room for a mark, and never no height
	y_least -= 0.4
	y_most += 0.4
	if (x_most == x_least) x_most++
}

function at_x(value) {
	return LEFT + (WIDTH - LEFT - RIGHT) * (value - x_least) / (x_most - x_least)
}

function at_y(value) {
	return HEIGHT - BOTTOM - \
		(HEIGHT - TOP - BOTTOM) * (value - y_least) / (y_most - y_least)
}

# A length for people: 8, 1 K, 64 K, 4 M.
function short_bytes(bytes) {
	if (bytes >= 1048576 && bytes % 1048576 == 0)
		return bytes / 1048576 " M"
	return bytes >= 1024 && bytes % 1024 == 0 ? bytes / 1024 " K" : bytes ""
}

# With a comma before the last three digits.
function grouped(value,    text) {
	text = sprintf("%.0f", value)
	return length(text) < 5 ? text : substr(text, 1, length(text) - 3) \
		"," substr(text, length(text) - 2)
}

# Three digits, and no exponent.
function short_number(value) {
	if (value >= 99.95)
		return grouped(value)
	return sprintf(value >= 9.995 ? "%.1f" : \
		value >= 0.9995 ? "%.2f" : "%.3f", value)
}

function tick_y(value, y) {
	y = at_y(log2(value))
	printf "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>", \
		LEFT, WIDTH - RIGHT, y, y
	printf "<text class=\"tick\" x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", \
		LEFT - 6, y + 3.5, (value >= 1 ? grouped(value) : value "")
}

# Decades, and 2 and 5 between them where the chart spans few.
function ticks_y(    span, decade, value, step, steps, i) {
	span = (y_most - y_least) / log2(10)
	steps = split(span > 2.5 ? "1" : span > 1.2 ? "1 3" : "1 2 5", step, " ")
	for (decade = -6; decade <= 9; decade++)
		for (i = 1; i <= steps; i++) {
			value = step[i] * 10 ^ decade
			if (log2(value) >= y_least && log2(value) <= y_most)
				tick_y(value)
		}
}

# The lengths that there are, as far as they have room.
function ticks_x(    i, j, n, order, taken, x) {
	n = 0
	for (i = 1; i <= npoints; i++) {
		if (px[i] in taken)
			continue
		taken[px[i]] = 1
		for (j = ++n; j > 1 && px[order[j - 1]] > px[i]; j--)
			order[j] = order[j - 1]
		order[j] = i
	}
	for (i = 1; i <= n; i++) {
		x = at_x(px[order[i]])
		if (i > 1 && x - last_x < 34)
			continue
		last_x = x
		printf "<text class=\"tick\" x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s</text>\n", \
			x, HEIGHT - BOTTOM + 15, short_bytes(bytes_of[order[i]])
	}
}

function draw_line(line,    i, p) {
	printf "<g class=\"%s\"><polyline points=\"", line_class[line]
	for (i = 1; i <= points_of[line]; i++) {
		p = point[line, i]
		printf "%s%.1f,%.1f", (i > 1 ? " " : ""), at_x(px[p]), at_y(py[p])
	}
	printf "\"/>"
	for (i = 1; i <= points_of[line]; i++) {
		p = point[line, i]
		printf "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.2\"/>", \
			at_x(px[p]), at_y(py[p])
	}
	print "</g>"
}

# Names at the ends of their lines, moved apart: downwards from the highest, and
# all of them upwards if the lowest would leave the chart.
function draw_names(    i, j, order, y, over) {
	for (i = 1; i <= nlines; i++) {
		y[i] = at_y(py[point[i, points_of[i]]])
		for (j = i; j > 1 && y[order[j - 1]] > y[i]; j--)
			order[j] = order[j - 1]
		order[j] = i
	}
	for (i = 2; i <= nlines; i++)
		if (y[order[i]] < y[order[i - 1]] + 13)
			y[order[i]] = y[order[i - 1]] + 13
	over = y[order[nlines]] - (HEIGHT - BOTTOM)
	for (i = nlines; i && over > 0; i--) {
		y[order[i]] -= over
		over = i > 1 ? y[order[i - 1]] + 13 - y[order[i]] : 0
	}
	for (i = 1; i <= nlines; i++)
		printf "<text class=\"name %s\" x=\"%.1f\" y=\"%.1f\">%s</text>\n", \
			line_class[i], \
			at_x(px[point[i, points_of[i]]]) + 7, y[i] + 4, \
			line_name[i]
}

function chart_draw(description, unit,    i) {
	WIDTH = 360; HEIGHT = 230; LEFT = 48; RIGHT = 74; TOP = 14; BOTTOM = 26
	if (!npoints)
		return
	limits()
	printf "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">\n", \
		WIDTH, HEIGHT, description
	ticks_y()
	ticks_x()
	for (i = nlines; i; i--)
		draw_line(i)
	draw_names()
	print "</svg>"
}
