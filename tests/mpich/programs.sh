#!/bin/bash
# SPDX-License-Identifier: MIT
# Programs of others, from the distribution's sources, on MPICH with ch3:bcl:
# four ranks on two nodes, and what they themselves find right or wrong:
#  hpcc     linear algebra, transposition, random updates, FFT, latencies: seven
#           benchmarks in one, and each checks what it has computed
#  tachyon  a ray tracer: lines of the image are farmed out and come back by
#           persistent requests; the image is the one that a single rank makes
#  fftw     transforms of distributed arrays, real and complex, of odd shapes,
#           which transpose them; checked by linearity and shifts. It takes a
#           minute to build: only where there is time
set -euo pipefail
# shellcheck source=tests/mpich/program.sh
. "${abs_top_srcdir:?}/tests/mpich/program.sh"
PATH=$abs_top_srcdir/scripts:$PATH
cluster run -r true || exit $?

# Leaves the working directory in the sources.
unpack() {
	local from
	from=$(fetch "$1" "$abs_top_builddir/mpich/programs" 2>"$dir/log") || {
		echo "the sources of $1 are not to be had: $(tail -n 1 "$dir/log")"
		exit 77
	}
	mkdir "$dir/$1"
	cd "$dir/$1"
	tar -xf "$from" --strip-components=1
}

quietly() {
	"$@" >"$dir/log" 2>&1 || { tail -n 30 "$dir/log"; exit 1; }
}

# sum COUNTER...: of all ranks
sum() {
	awk -v names=" $* " 'index(names, " " $7 " ") { sum += $6 }
		END { print sum + 0 }' "$dir/counted"
}

# The counters say that there were peers inside nodes and beyond.
on_nodes() {
	local inside between
	quietly env BCL_STATS=on BCL_LOG=warn,stats timeout 100 \
		cluster run -r cluster mpiexec 2 "$@"
	grep 'stats:' "$dir/log" >"$dir/counted"
	inside=$(sum shm.messages_line shm.messages_ring)
	between=$(sum udp.sendmsg packet.sends)
	echo "$1: messages inside nodes $inside, sends between them $between"
	((inside && between))
}

hpcc() {
	local make=hpl/setup/Make.LinuxIntelIA64Itan2_eccMKL
	unpack hpcc
	# shellcheck disable=SC2016 # for make
	sed 's/^\(LAlib *=\).*/\1 -lblas/; s/^\(LINKFLAGS *=\).*/\1/
		s/^\(CCFLAGS *=\).*/\1 $(HPL_DEFS) -O2/' $make >hpl/Make.bcl
	quietly make arch=bcl
	cp _hpccinf.txt hpccinf.txt
	on_nodes ./hpcc
	grep -E '^\|\|Ax-b.*PASSED|^ *[0-9]+ tests completed and passed' \
		hpccoutf.txt
	grep -x Success=1 hpccoutf.txt
}

tachyon() {
	local image=(compile/linux-mpi/tachyon scenes/balls.dat -res 400 300
		-format PPM -o)
	unpack tachyon
	quietly make -C unix linux-mpi MISCFLAGS=-O2 \
		MPIFLAGS='-DMPI -DUSE_MPI_IN_PLACE'
	quietly mpiexec -n 1 "${image[@]}" one.ppm
	on_nodes "${image[@]}" four.ppm
	cmp one.ppm four.ppm
}

fftw() {
	local sizes=(obc64x60 ibc17x19x23 irf32x30x16 ofr48x50 ofc128x128)
	unpack fftw3
	# nobody measures it, and without optimization it is built in a minute
	quietly ./configure --enable-mpi --disable-fortran --disable-doc \
		--enable-shared --disable-static CFLAGS=-O0
	quietly make -j2
	on_nodes mpi/mpi-bench -v1 -oestimate "${sizes[@]/#/--verify=}"
	grep -E '^[oi][bfr]' "$dir/log"
	(($(grep -cE '^[oi][bfr]' "$dir/log") == ${#sizes[@]}))
}

hpcc
tachyon
[[ ! ${LONG-} ]] || fftw
