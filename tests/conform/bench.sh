#!/bin/bash
# SPDX-License-Identifier: MIT
# bench/mpi-compare goes on after an operation in which a job fails, and says what
# is lost; made figures give known ratios, and a page that is well-formed, shows
# what misses its bar and names what was not measured.
set -euo pipefail
bench=${abs_top_srcdir:?}/bench
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

fail() {
	echo "$*"
	exit 1
}

# has PATTERN FILE
has() {
	grep -Eq -- "$1" "$2" || { cat "$2"; fail "no \"$1\" in $2"; }
}

# ---- options, and a job that fails --------------------------------------------

refuses() {
	local status=0
	"$bench/mpi-compare" "$@" >/dev/null 2>said || status=$?
	((status == 2)) || fail "mpi-compare $*: $status"
}

# An MPI whose ranks fail in one operation. There is no other.
mkdir -p build/mpich/install/bin other
touch build/Makefile
cat >build/mpich/install/bin/mpicc <<'END'
#!/bin/bash
cat >"${*: -1}" <<'RANK'
#!/bin/bash
for cell; do
	[[ $cell != gather:1024 ]] || { echo '=   EXIT CODE: 3'; exit 3; }
	echo "${cell%:*} ${cell#*:} 2.5 us"
done
RANK
chmod +x "${*: -1}"
END
printf '#!/bin/sh\nshift 2; exec "$@"\n' >build/mpich/install/bin/mpiexec.hydra
printf '#!/bin/sh\necho error: none; exit 1\n' >other/cc
chmod +x build/mpich/install/bin/* other/cc
cp other/cc other/mpicc.mpich
cp other/cc other/mpicc.openmpi
export CLUSTER_KIND=virtual CLUSTER_NODES=2 PATH=$PWD/other:$PATH

refuses
refuses build --no-such-option
refuses --collectives --rounds=none build
refuses --collectives --seconds=0 build
"$bench/mpi-compare" --help >said
has '--collectives ' said

"$bench/mpi-compare" --collectives --built --only=inside --rounds=2 \
	--output="$PWD/run" build >said 2>errors || { cat said errors; exit 1; }
# all operations of all lengths, in two rounds, but for the one that fails
operations=$(grep -c '^inside [a-z_]* [0-9]* us bcl 2.5$' run/samples)
((operations == 2 * (1 + 4 * 15 - 1))) || fail "$operations operations"
! grep -q '=' run/samples || fail 'a line that is no sample'
! grep -q ' gather 1024 ' run/samples || fail 'an operation that failed'
has '^inside bcl has no gather:1024 \(failed\)$' run/mpi.txt
"$bench/mpi-compare" --collectives --built --add --only=inside --rounds=1 \
	--output="$PWD/run" --test=barrier:0 build >said 2>errors
(($(grep -c '^inside barrier 0 ' run/samples) == 3)) || fail 'nothing added'

# ---- ratios ---------------------------------------------------------------------

mkdir made
{
	for value in 3 5 4; do
		echo "inside bcast 8 us bcl $value"
	done
	echo 'inside bcast 8 us openmpi 10'
	echo 'inside bcast 8 us coll 1'
	echo 'inside bcast 1024 us bcl 30'
	echo 'inside bcast 1024 us openmpi 20'
	echo 'inside bcast 65536 us bcl 30'
	echo 'inside bcast 65536 us openmpi 300'
	echo 'inside overlap-bcast 65536 % bcl -5'
} >made/samples
output=$PWD/made names=(bcl openmpi coll) titles=(ours 'Open MPI' coll.h)
# shellcheck disable=SC2034
beside=openmpi aside=coll
# shellcheck source=bench/compare/report.bash
. "$bench/compare/report.bash"
reports mpi >/dev/null
describe_machine 'MPI <1> & others'
report grid made/samples >grid.md
has '^inside,bcast,8,us,4,10,1,0.40,0.40$' made/mpi.csv
has '^\| bcast \| 0.40 \| \*\*1.50\*\* \| 0.10 \|$' grid.md
report spread made/samples >spread.txt
has 'inside +3 figures, x best: median 0.40 \(at most 0.4: met\), worst 1.50 \(at most 0.8: MISSED\): bcast 1024$' \
	spread.txt

# ---- the page -------------------------------------------------------------------

# What its tags open they close.
well_formed() {
	perl -0777 -ne '
		s/<!DOCTYPE html>//; s/<style>.*?<\/style>//s;
		my @open;
		while (/<(\/?)([a-z0-9]+)((?: [a-z0-9-]+="[^"<]*")*)(\/?)>/gi) {
			if ($1) { (pop(@open) // "") eq $2 or die "</$2>\n" }
			elsif (!$4) { push @open, $2 }
		}
		die "open: @open\n" if @open;
		s/<[^<>]*>//g;
		die "stray: $&\n" if /[<>].{0,20}|&(?!(amp|lt|gt);).{0,20}/;' "$1"
}

cat >made/perf.csv <<'END'
section,figure,unit,mean,stderr,p1,p50,p99,samples,reference,reference_p50,reference_drift,ratio,bar,met,unreliable,failure
"inside a host","ADI, 8 B, ""one"" way",ns,90,1,80,88,99,15,line,60,0.01,1.47,<=1.5,1,0,""
"inside a host","ADI, 64 KB",GB/s,9,1,8,9,10,15,copy,10,0.2,0.9,>=1,0,1,""
"inside a host","ADI, 1 KB",,0,0,0,0,0,0,,0,0,0,,,0,"no <right> to"
"LogGP","L inside a host",ns,50,1,40,50,60,15,,0,0,0,,,0,""
"LogGP","o_s inside a host",ns,20,1,10,20,30,15,,0,0,0,,,0,""
"LogGP","o_r inside a host",ns,30,1,20,30,40,15,,0,0,0,,,0,""
"LogGP","G inside a host",ns/KB,1024,1,40,1024,60,15,,0,0,0,,,0,""
END
mkdir messages
cat >messages/mpi.csv <<'END'
where,test,bytes,unit,bcl,nemesis,mpich,openmpi,x best,x nemesis
inside,latency,0,us,0.08,0.1,,0.2,0.80,0.80
inside,latency,8,us,0.09,0.1,,0.2,0.90,0.90
inside,latency,1024,us,0.2,0.3,,0.4,0.67,0.67
END
"$bench/report" --output=page made messages run >said
page=page/index.html
well_formed $page
has '<td class="miss">1.50</td>' $page
has 'median <b class="met">0.40</b>.*worst <b class="miss">1.50</b>' $page
has 'MPI &lt;1&gt; &amp; others' $page
has '>met<.*' $page
has '>missed \(reference drifted\)<' $page
has 'no &lt;right&gt; to' $page
has 'inside bcl, [12] measurements' $page
has 'Not here: PVM' $page
# 0.1 us and 1 ns for each byte: 1.124 us for 1 KB, far above the measured 0.2
has '>LogGP</text>' $page
[[ $(awk -f "$compare/perf.awk" -v as=model made/perf.csv) == 'inside 0.1 0.001' ]]
! grep -Eqi '<script|https?://' $page || fail 'the page asks for a network'
cmp made/mpi.csv page/collectives-1.csv
"$bench/report" --output=page messages >said
well_formed $page
has 'Not here: MPI collective operations' $page
has 'No model beside the messages' $page
