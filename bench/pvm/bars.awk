# SPDX-License-Identifier: MIT
# What PVM's programs are to gain: pvm.csv held against the bars, as far as it
# has the figures.

function have(where, test, bytes) {
	return (where, test, bytes) in ours
}

function bar(where, test, bytes, value, sign, limit, what) {
	printf "%-9s %-12s %8s %10.4g %s %-10.4g %-6s %s\n", where, test, \
		bytes, value, sign, limit, \
		(sign == "<=" ? value <= limit : value >= limit) ? \
			"met" : "MISSED", what
}

# As a multiple of the direct route's figure.
function beside(where, test, bytes, sign, factor) {
	if (have(where, test, bytes) && direct[where, test, bytes])
		bar(where, test, bytes, ours[where, test, bytes], sign, \
			factor * direct[where, test, bytes], \
			factor " x direct")
}

# A send to oneself is all that libpvm does for a message.
function alone(    floor, adi) {
	if (!have("inside", "packed", 8) || !have("inside", "self", 8) ||
	    !have("inside", "adi", 8))
		return
	floor = ours["inside", "self", 8]
	adi = ours["inside", "adi", 8]
	bar("inside", "packed", 8, ours["inside", "packed", 8], "<=", \
		floor + 1.5 * adi, \
		sprintf("floor %.4g + 1.5 x ADI %.4g", floor, adi))
}

function of_group(where, test,    least) {
	if (!have(where, test, 8))
		return
	least = direct[where, test, 8]
	if (!least || (daemon[where, test, 8] && daemon[where, test, 8] < least))
		least = daemon[where, test, 8]
	if (least)
		bar(where, test, 8, ours[where, test, 8], "<=", 0.25 * least, \
			"0.25 x best")
}

BEGIN {
	FS = ","
}

NR > 1 && $5 != "" {
	ours[$1, $2, $3] = $5
	direct[$1, $2, $3] = $6
	daemon[$1, $2, $3] = $7
}

END {
	print "\nbars (us; GB/s)"
	alone()
	beside("inside", "packed", 8, "<=", 0.2)
	beside("packet", "packed", 8, "<=", 0.35)
	beside("udp", "packed", 8, "<=", 0.6)
	for (bytes = 65536; bytes <= 1048576; bytes *= 16) {
		beside("inside", "psend-rate", bytes, ">=", 3)
		beside("inside", "packed-rate", bytes, ">=", 4)
		beside("hosts", "psend-rate", bytes, ">=", 2)
	}
	n = split("barrier bcast reduce gather scatter", test, " ")
	for (tasks = 4; tasks <= 8; tasks *= 2)
		for (i = 1; i <= n; i++)
			of_group("group" tasks, test[i])
	if (have("group4", "reduce", 8) && have("group16", "reduce", 8))
		bar("group16", "reduce", 8, ours["group16", "reduce", 8] / 16, \
			"<=", ours["group4", "reduce", 8] / 4, \
			"for each task: that of 4")
}
