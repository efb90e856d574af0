#!/bin/bash
# SPDX-License-Identifier: MIT
# tablix2, which knows nothing of us, makes a timetable with three tasks beside
# the one that leads them, inside a host and on two: no teacher, class or room is
# in two places at a time.
set -euo pipefail
command -v tablix2 >/dev/null || { echo 'no tablix2 here'; exit 77; }
# shellcheck source=tests/pvm/scratch.sh
. "${abs_top_srcdir:?}/tests/pvm/scratch.sh"

option() {
	echo "<option name=\"resourcetype\">$1</option>"
}

module() {
	echo "<module name=\"$1.so\" weight=\"60\" mandatory=\"yes\">"
	printf '%s\n' "${@:2}" '</module>'
}

numbered() {
	echo "<resourcetype type=\"$1\"><linear name=\"#\" from=\"1\" to=\"6\"/>"
	echo '</resourcetype>'
}

# Each of six teachers is thrice with each of six classes: 108 of 150 places.
problem() {
	local teacher class
	echo '<ttm version="0.2.0"><modules>'
	module timeplace
	module sametime "$(option teacher)" "$(option class)"
	echo '</modules><resources><constant>'
	numbered teacher
	numbered class
	echo '</constant><variable><resourcetype type="time">'
	echo '<matrix width="5" height="5"/></resourcetype>'
	numbered room
	echo '</variable></resources><events>'
	for teacher in {1..6}; do
		for class in {1..6}; do
			echo "<event name=\"$teacher-$class\" repeats=\"3\">"
			echo "<resource type=\"teacher\" name=\"$teacher\"/>"
			echo "<resource type=\"class\" name=\"$class\"/>"
			echo '</event>'
		done
	done
	echo '</events></ttm>'
}

# All places of 108 events' teachers, classes and rooms are different.
check() {
	local places
	places=$(tr '\n' ' ' <"$1" | sed 's,<event ,\n&,g' | sed -nE '
		s,.*="teacher" name="([^"]*)",teacher \1\n,
		s,\n.*="class" name="([^"]*)",\nclass \1\n,
		s,\n[^\n]*="time" name="([^"]*)",\n\1\n,
		s,\n[^\n]*="room" name="([^"]*)".*,\nroom \1,
		s,(.*)\n(.*)\n(.*)\n(.*),\3: \1\n\3: \2\n\3: \4,p' | sort -u)
	(($(wc -l <<<"$places") == 3 * 108))
}

# solve HOSTS COUNTER
solve() {
	rm -f result*
	COUNTED=$2 "$machine" "$1" glue timeout "$limit" tablix2 -n 3 -o '' \
		problem.xml >log 2>&1 || {
		status=$?
		cat log
		exit $status
	}
	check result0.xml || { cat log result0.xml; exit 1; }
}

problem >problem.xml
solve 1 shm.messages_received
solve 2 card.messages_delivered
