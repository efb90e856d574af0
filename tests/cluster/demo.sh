#!/bin/bash
# SPDX-License-Identifier: MIT
# What "make demo" runs: the first results come before all is built, and MPICH; its
# summary says what ran, on which kind of nodes, over which paths, and what is
# better and what worse than with TCP, and nothing of bars. A part that fails is
# named there and makes the whole fail. (Packages: conform/setup.sh.)
set -euo pipefail
scripts=${abs_top_srcdir:?}/scripts
build=${abs_top_builddir:?}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset MAKEFLAGS MFLAGS MAKELEVEL CLUSTER_KIND

fail() {
	echo "$*"
	cat "$work/out"
	exit 1
}

# summary COMMAND...: its output is in $work/out, the end of it in $work/sum.
summary() {
	local status=0
	"$@" >"$work/out" 2>&1 </dev/null || status=$?
	sed -n '/^== demo: /,$p' "$work/out" >"$work/sum"
	return $status
}

# says PATTERN...: each is the beginning of a line of the summary.
says() {
	local pattern
	for pattern; do
		grep -Eq "^$pattern" "$work/sum" || fail "no line $pattern"
	done
}

goals=(all libbcl-pvm.la examples/{psort,heat,hybrid} tools/bcl-info)
# Each part of it, by programs that do nothing but what the demo looks for; the
# one whose name is $FAILS fails.
mkdir -p "$work"/{scripts,build/{examples,tools,bench,mpich/install/bin}}
cp "$scripts/demo" "$work/scripts"
stub() {
	{ printf '#!/bin/bash\n[[ ${0##*/} != "${FAILS-}" ]] || exit 1\n'; cat; } \
		>"$work/$1"
	chmod +x "$work/$1"
}
# shellcheck disable=SC2016 # for the programs
{
	stub scripts/cluster <<<'[[ $1 == mpiexec ]] && shift 2 && exec "$@"
		CLUSTER_KIND=virtual CLUSTER_NODES=2 exec "${@:2}"'
	stub scripts/mpich <<<'echo "MPICH in $1"'
	printf '%s:\n\t@echo "made $@"\n.PHONY: %s\n' \
		"${goals[*]}" "${goals[*]}" >"$work/build/Makefile"
	stub build/mpich/install/bin/mpicc <<<'cp "$(type -P true)" "$2"'
	stub build/examples/psort <<<'LC_ALL=C sort -o "$2" "$3"'
	stub build/examples/heat <<<'echo field'
	stub build/examples/hybrid <<<'echo primes'
	stub build/tools/bcl-info <<<'echo "0-1 a path"'
	stub build/bench/bcl-perf <<'PERF'
echo '1 of 1 lines unreliable'
name=${*: -1}
unit=GB/s
[[ $name != *'8 B'* ]] || unit=ns
echo "a figure, ${name#*=} $unit 1 +- 0 1 2 3 1.5 x tcp/bbr 3  UNRELIABLE"
PERF
}
summary "$work/scripts/demo" "$work/build" || fail 'a demo of nothing fails'
grep -qx "MPICH in $work/build" "$work/out" || fail 'it makes no MPICH'
says '== demo: 2 nodes as virtual, 2 ranks each' '0-1 a path' \
	'a figure, 8 B, one way +2 ns +1.5 x tcp/bbr 3 ' \
	'a figure +2 GB/s +tcp/bbr +3: better, 1.50 times as much' \
	'Long ones are better: '
! grep -iE 'bars|met|missed|unreliable' "$work/out" ||
	fail 'it speaks of bars'
diff - <(grep -oE '^made (examples/heat|all)|^== (heat|MPI):|^MPICH' \
	"$work/out") <<-'ORDER' || fail 'the order is another'
	made examples/heat
	== heat:
	made all
	MPICH
	== MPI:
ORDER
! grep FAILED "$work/sum" || fail 'it says that something fails'
while read -r name lines; do
	! FAILS=$name summary "$work/scripts/demo" "$work/build" ||
		fail "it does not fail with $name"
	said=$(grep -c FAILED "$work/sum") || true
	((said == lines)) || fail "$said parts fail with $name, not $lines"
	echo "without $name: $(grep -B 1 FAILED "$work/sum" |
		sed -n 's/ .*FAILED//p; /^FAILED/{x;p;}; h' | paste -sd ' ')"
done <<'PARTS'
psort 2
heat 2
hybrid 1
mpicc 2
bcl-info 1
bcl-perf 3
PARTS
FAILS=mpich summary "$work/scripts/demo" "$work/build" ||
	fail 'it wants MPICH'
grep -q 'no MPICH' "$work/out" || fail 'it does not say that there is none'

make -C "$build" -n demo >"$work/out" 2>&1 || fail 'make demo has an error'
grep -q '/scripts/demo \.$' "$work/out" ||
	fail 'that is not what make demo runs'

# The real one. MPICH is that of the build, if there is one.
command -v mpiexec.hydra >/dev/null || {
	echo 'no mpiexec.hydra (package mpich)'
	exit 77
}
summary env PATH="$scripts:$PATH" cluster run "$scripts/demo" "$build" ||
	fail "the demo ends with $?"
kind=namespaces
grep -q '^cluster: 2 nodes as namespaces' "$work/out" || kind=virtual
result=' +[0-9]+ ms  .'
says "== demo: 2 nodes as $kind, 2 ranks each; $(nproc) processors" \
	"psort +[0-9]+ ms  [1-9][0-9]* lines in [1-9][0-9]* bytes" \
	"sort$result*gives the same" "heat$result*4 ranks" \
	"RMA$result*4 ranks" "hybrid$result*4 ranks"
[[ ! -x $build/mpich/install/bin/mpicc ]] ||
	says "MPI$result*of 4" "MPI pi$result"
[[ $kind == virtual ]] || ! command -v gexample >/dev/null ||
	says "PVM$result*2 hosts"
says 'Paths between the four ranks' '0-1 +shared memory: ' \
	'2-3 +shared memory: ' '0-2 +card: .*udp/' '0-3 +card: .*udp/' \
	'1-2 +card: .*udp/' '1-3 +card: .*udp/'
figure='  .* [0-9.]+ (ns|GB/s) +[0-9.]+ x'
beside=' +[0-9.]+ [a-zA-Z/]+ +tcp/[a-z]+ +[0-9.]+: (better|worse), [0-9.]+ times as'
says "ADI, 8 B, one way$figure line [0-9.]+" 'ADI, 1 KB, packet ring ' \
	"ADI, 64 B, UDP$beside long" "ADI, 1 MB, UDP$beside much"
! grep FAILED "$work/sum" || fail 'a part of it fails'
sed '/^$/d' "$work/sum"
