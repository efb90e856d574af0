#!/bin/bash
# SPDX-License-Identifier: MIT
# A program that was built with Debian's MPICH runs on ours, and one that was
# built with ours on Debian's: which library it is, it says itself. So does one of
# Fortran, where ours has it.
set -euo pipefail
# shellcheck source=tests/mpich/program.sh
. "${abs_top_srcdir:?}/tests/mpich/program.sh"
command -v mpicc.mpich >/dev/null || {
	echo 'no mpicc.mpich (package libmpich-dev)'
	exit 77
}
theirs=$(compgen -G '/usr/lib/*/libmpich.so.12')
ours=$(dirname "$(command -v mpicc)")/../lib
mkdir "$dir/debian"
ln -s "$theirs" "$dir/debian/libmpi.so.12"
mpicc.mpich -o "$dir/from-theirs" "$abs_top_srcdir/tests/mpich/abi.c"
mpicc -o "$dir/from-ours" "$abs_top_srcdir/tests/mpich/abi.c"

# check DEVICE LIBRARIES MPIEXEC PROGRAM
check() {
	local said
	said=$(LD_LIBRARY_PATH=$2 timeout 60 "$3" -n 3 "$4")
	echo "${4##*/}: $said"
	[[ $said == "$1" ]]
}

check ch3:bcl "$ours" mpiexec "$dir/from-ours"
check ch3:bcl "$ours" mpiexec "$dir/from-theirs"
check ch4:ucx "$dir/debian" mpiexec.mpich "$dir/from-theirs"
check ch4:ucx "$dir/debian" mpiexec.mpich "$dir/from-ours"

if [[ -e $ours/libmpifort.so.12 ]]; then
	mpif90.mpich -w -J "$dir" -o "$dir/fortran-from-theirs" \
		"$abs_top_srcdir/tests/mpich/abi.f90"
	check ch3:bcl "$ours" mpiexec "$dir/fortran-from-theirs"
	check ch4:ucx "$dir/debian" mpiexec.mpich "$dir/fortran-from-theirs"
	# nothing of the distribution's is beside it
	LD_LIBRARY_PATH=$ours ldd "$dir/fortran-from-theirs" |
		grep -q "libmpichfort.so.12 => $ours/"
elif [[ -L $ours/libmpichfort.so.12 ]]; then
	echo 'libmpichfort.so.12 leads nowhere'
	exit 1
fi
