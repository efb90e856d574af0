#!/bin/bash
# SPDX-License-Identifier: MIT
# What tests/mpich/run makes of a suite's results, with one that is none but
# says what it is told to: a test that failed, was not run or cannot be built is
# a failure, also if it is so with one of several arguments only; and so what
# has passed elsewhere and does not here.
set -euo pipefail
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
run=${abs_top_srcdir:?}/tests/mpich/run
export abs_top_builddir=$dir MPICH_PREFIX=$dir MPICH_SUITE=$dir/suite
export MPICH_SOURCE=$dir/source
mkdir -p "$dir"/{bin,mpich,suite/coll,source/test/mpi/coll/below}
touch "$dir"/{bin/mpicc,suite/Makefile}
chmod +x "$dir/bin/mpicc"
cat >"$dir/source/test/mpi/coll/testlist" <<'LIST'
# a comment
one 2
two 4 arg=-a
two 4 arg=-b
long 2 timeLimit=600
below
LIST
echo 'deep 3' >"$dir/source/test/mpi/coll/below/testlist"
printf '%s\n' '# names' 'one 2' 'two 4' 'long 2 full' 'below/deep 3 long' \
	>"$dir/coll.mpich"

# Runs what it is given, and says of each test what stands in a file, or "ok".
cat >"$dir/suite/runtests" <<'SH'
#!/bin/bash
for word; do
	[[ $word != -tapfile=* ]] || tap=${word#*=}
done
walk() {
	while read -r test processes options; do
		if [[ -f $1$test/bcl.testlist ]]; then
			walk "$1$test/"
			continue
		fi
		said=$(sed -n "s,^$1$test $processes $options: ,,p" ../../said)
		case $said in
		none)	;;
		unbuilt) echo "not ok  - ./$1$test # time=1" ;;
		skip)	echo "ok  - ./$1$test $processes # SKIP xfail" ;;
		*)	echo "${said:-ok} - ./$1$test $processes # time=1" ;;
		esac
	done <"$1bcl.testlist"
}
walk '' >"$tap"
SH
chmod +x "$dir/suite/runtests"

# verdict pass|fail PATTERN SAID OPTION...: of run, SAID of the tests
verdict() {
	local status=pass
	printf '%s\n' "$3" >"$dir/said"
	"$run" "${@:4}" "$dir/coll.mpich" >"$dir/out" 2>&1 || status=fail
	if [[ $status != "$1" ]] || ! grep -Eq "$2" "$dir/out"; then
		echo "$3: $status"
		cat "$dir/out"
		exit 1
	fi
}

export LONG=
verdict pass 'coll +2 passed +0 failed' 'below/deep 3 : not ok'
LONG=1 verdict fail 'missing: below/deep 3' 'below/deep 3 : not ok'
LONG=1
verdict pass 'coll +3 passed +0 failed' ''
verdict pass 'coll +4 passed +0 failed' '' -f -o "$dir/all"
diff <(sort "$dir/all") - <<'RESULTS'
passed coll/below/deep 3
passed coll/long 2
passed coll/one 2
passed coll/two 4
RESULTS
verdict fail 'failed: two 4' 'two 4 arg=-b: not ok'
verdict fail 'missing: two 4' 'two 4 arg=-b: not ok'
verdict fail 'missing: below/deep 3' 'below/deep 3 : none'
verdict fail 'missing: one 2' 'one 2 : skip'
verdict fail 'missing: one 2' 'one 2 : unbuilt'
verdict pass 'coll +3 passed' 'long 2 timeLimit=600: not ok'
verdict fail 'missing: long 2' 'long 2 timeLimit=600: not ok' -f

# elsewhere
printf '%s\n' 'failed coll/two 4' 'passed coll/one 2' 'passed coll/two 4' \
	'passed other/three 3' >"$dir/there"
verdict pass 'coll +3 passed +1 failed' 'two 4 arg=-a: not ok' \
	-f -c "$dir/there"
verdict fail 'missing: one 2' 'one 2 : none' -f -c "$dir/there"
