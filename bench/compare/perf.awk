# SPDX-License-Identifier: MIT
# What the page has of the CSV of bcl-perf: as=page, a table for each section;
# as=model, the times of a message by LogGP, for page.awk.

# Parts a line into field[]; a quoted field may have commas, and doubles quotes.
function part_line(line,    n, c, i, quoted) {
	delete field
	n = 1
	for (i = 1; i <= length(line); i++) {
		c = substr(line, i, 1)
		if (c == "\"" && quoted && substr(line, i + 1, 1) == "\"")
			field[n] = field[n] substr(line, ++i, 1)
		else if (c == "\"")
			quoted = !quoted
		else if (c == "," && !quoted)
			n++
		else
			field[n] = field[n] c
	}
}

function get(name) {
	return field[column[name]]
}

function safe(text) {
	gsub(/&/, "\\&amp;", text)
	gsub(/</, "\\&lt;", text)
	gsub(/>/, "\\&gt;", text)
	return text
}

function number(value) {
	return value >= 99.95 ? sprintf("%.0f", value) : value >= 9.995 ? \
		sprintf("%.1f", value) : sprintf("%.2f", value)
}

function begin_section() {
	if (section != "")
		print "</table></div>"
	section = get("section")
	printf "<h3>%s</h3>\n<div class=\"scroll\"><table><tr><th>figure</th>", \
		safe(section)
	print "<th>unit</th><th>median</th><th>1 %</th><th>99 %</th>" \
		"<th class=\"text\">reference</th><th>its median</th>" \
		"<th>ratio</th><th>bar</th><th class=\"text\"></th></tr>"
}

function page(    met) {
	if (get("section") != section)
		begin_section()
	printf "<tr><td>%s</td>", safe(get("figure"))
	if (get("failure") != "" || !get("samples")) {
		printf "<td class=\"text\" colspan=\"9\">%s</td></tr>\n", \
			safe(get("failure") != "" ? get("failure") : "no samples")
		return
	}
	printf "<td>%s</td><td class=\"ours\">%s</td><td>%s</td><td>%s</td>", \
		get("unit"), number(get("p50")), number(get("p1")), \
		number(get("p99"))
	if (get("reference") != "" && get("ratio") > 0)
		printf "<td class=\"text\">%s</td><td>%s</td><td>%.2f</td>", \
			safe(get("reference")), number(get("reference_p50")), \
			get("ratio")
	else
		printf "<td></td><td></td><td></td>"
	met = get("met") + 0
	printf "<td>%s</td>", safe(get("bar"))
	printf "<td class=\"text %s\">%s%s</td></tr>\n", \
		get("bar") == "" ? "" : met ? "met" : "miss", \
		get("bar") == "" ? "" : met ? "met" : "missed", \
		get("unreliable") + 0 ? " (reference drifted)" : ""
}

# Keeps L, o_s, o_r in us and G in us for a byte.
function keep_model(    parameter, where, value) {
	parameter = get("figure")
	sub(/ .*/, "", parameter)
	where = get("figure") ~ /inside a host/ ? "inside" : \
		get("figure") ~ /UDP/ ? "udp" : ""
	value = get("p50")
	if (where == "" || !get("samples"))
		return
	if (get("unit") ~ /^ns/)
		value /= 1000
	loggp[where, parameter] = value / (parameter == "G" ? 1024 : 1)
}

function print_model(where) {
	if (!((where, "L") in loggp) || !((where, "G") in loggp))
		return
	printf "%s%s %.6g %.6g", (nmodels++ ? "," : ""), where, \
		loggp[where, "L"] + loggp[where, "o_s"] + loggp[where, "o_r"], \
		loggp[where, "G"]
}

{
	part_line($0)
}

NR == 1 {
	for (i in field)
		column[field[i]] = i
	next
}

as == "page" {
	page()
}

as == "model" && get("section") == "LogGP" {
	keep_model()
}

END {
	if (as == "page" && section != "")
		print "</table></div>"
	if (as == "model") {
		print_model("inside")
		print_model("udp")
	}
}
