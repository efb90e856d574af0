#!/bin/bash
# SPDX-License-Identifier: MIT
# Mutants that are not caught are told of, those that change nothing, too.
set -euo pipefail
. "${abs_top_srcdir:?}/tests/mutants.bash"
status=0

# The test is that a line `rule` is there.
catch() {
	! grep -q '^rule$' "$(find_file file)" && echo "no $1"
}

# gives STATUS LINES: of the mutants in the table
gives() {
	local code=0 told
	told=$(mutants "$scratch/table" && finish) || code=$?
	[[ $code == "$1" && $told == "$2" ]] || {
		echo "expected $1, $2; got $code, $told"
		status=1
	}
	rm -r "$scratch"/run.*
	begun=0
}

roots=("$scratch")
printf 'rule\nother\n' >"$scratch/file"
printf 'without\tfile\t/rule/d\trule\n' >"$scratch/table"
gives 0 'caught: without: no rule'
printf 'another\tfile\t/other/d\trule\n' >"$scratch/table"
gives 1 'NOT CAUGHT: another'
printf 'same\tfile\t/third/d\trule\n' >"$scratch/table"
gives 1 'DOES NOT APPLY: same'
printf 'blank\tfile\ts/^rule$/&\\n/\trule\n' >"$scratch/table"
gives 1 'DOES NOT APPLY: blank'

# In the short tier the second and the third mutant need only apply.
printf 'without\tfile\t/rule/d\trule\n' >"$scratch/table"
printf 'another\tfile\t/other/d\trule\n' >>"$scratch/table"
LONG='' gives 0 'caught: without: no rule'
LONG=1 gives 1 $'caught: without: no rule\nNOT CAUGHT: another'
printf 'same\tfile\t/third/d\trule\n' >>"$scratch/table"
LONG='' gives 1 $'caught: without: no rule\nDOES NOT APPLY: same'
exit $status
