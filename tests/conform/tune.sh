#!/bin/bash
# SPDX-License-Identifier: MIT
# bcl-tune measures in a job and writes a file, and teams of a line's shape use
# the choices of this line.
set -euo pipefail
tools=${abs_top_builddir:?}/tools
cluster=${abs_top_srcdir:?}/scripts/cluster
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
file=$scratch/tuned
unset BCL_COLL BCL_COLL_FIXED

fail() {
	echo "$*"
	[[ ! -s $scratch/out ]] || cat "$scratch/out"
	exit 1
}

# job RANKS COMMAND...: on each of two nodes
job() {
	"$cluster" run -v "$cluster" mpiexec "$@" >"$scratch/out" 2>&1
}

# choice PATTERN [SHAPE]: such is the choice of a team of this shape
choice() {
	BCL_COLL_FILE=$file BCL_RAILS=none "$tools/bcl-info" --collectives \
		--team="${2-16x2}" >"$scratch/out" 2>&1 || fail "bcl-info: $?"
	grep -Eq -- "$1" "$scratch/out" || fail "no line like $1"
}

echo '# two shapes
16x2 allreduce:ring,broadcast:tree,broadcast:scatter_ring@64k
4x4 allreduce:halving' >"$file"

job 1 "$tools/bcl-tune" --output="$file" scatter || fail 'bcl-tune'
grep -Eq '^scatter +262144 +[a-z0-9_]+ +[0-9.]+ us' "$scratch/out" ||
	fail 'no time of 256 KB'
[[ $(wc -l <"$file") -eq 4 ]] || fail 'another number of lines'
grep -q '^4x4 allreduce:halving$' "$file" || fail 'a line is gone'
grep -Eq '^2x2 ([a-z_]+:[a-z0-9_]+@[0-9]+(,|$))*$' "$file" ||
	fail "no line for the job: $(<"$file")"
BCL_COLL_FILE=$file job 1 "$tools/bcl-info" --collectives allreduce 8 ||
	fail 'the file does not fit the job'
! grep -q 'is wrong' "$scratch/out" || fail 'the file is wrong'

choice '^broadcast +tree, scatter_ring over 49152$'
choice '^allreduce +ring'
choice '^broadcast +tree_2, ' 16x4 # the cost model's
BCL_COLL=allreduce:doubling choice '^allreduce +doubling'
BCL_COLL_FIXED=on choice '^allreduce +(flat_doubling|ring_by_rank)'
echo '16x2 allreduce:rings' >"$file"
choice "tuned: allreduce:rings is wrong: allreduce has no algorithm \"rings\""
rm "$file"
choice 'tuned cannot be read: No such file or directory; the cost model chooses'
! job 1 "$tools/bcl-tune" --output=/nowhere/tuned scatter ||
	fail 'a file that cannot be written'
grep -q 'bcl-tune: /nowhere/tuned: No such file' "$scratch/out" ||
	fail 'nothing says why'
status=0
"$tools/bcl-tune" nothing >"$scratch/out" 2>&1 || status=$?
((status == 2)) || fail "an operation that is none: $status"
