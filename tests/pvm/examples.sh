#!/bin/bash
# SPDX-License-Identifier: MIT
# PVM's own examples, in C and Fortran, with groups and contexts, say the same
# with the glue as without, but for numbers of tasks and the order of lines.
set -euo pipefail
machine=${abs_top_srcdir:?}/scripts/pvm-machine
command -v gexample >/dev/null || { echo 'no examples of PVM here'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

examples=(spmd hello.pvm gexample inherit1 inherit2 inherit3 'gexamp 4'
	'thb 4' 'tjl 4' 'tjf 4' 'tst 4' fmaster1 fspmd fgexample)

# What an example prints, and how it ends.
run() {
	local kind=$1 status=0
	shift
	"$machine" 1 "$kind" timeout 240 "$@" <numbers >raw 2>&1 || status=$?
	((status != 77)) || { cat raw; exit 77; }
	sed -E 's/\b(0x|t)?4[0-9a-f]{4}\b/TASK/g; s/\b262[0-9]{3}\b/TASK/g
		/^cluster: /d; s/from +[0-9]+/from N/; s/[0-9.]+ (\(|;)/\1/' \
		raw | sort
	echo "status $status"
}

printf '4\n4\n4\n' >numbers
failed=0
for example in "${examples[@]}"; do
	read -ra words <<<"$example"
	run stock "${words[@]}" >stock
	run glue "${words[@]}" >glue
	diff stock glue || { echo "$example differs"; failed=1; }
done
exit $failed
