#!/bin/bash
# SPDX-License-Identifier: MIT
# What libtool links with MPICH needs is there, as MPICH's .la files name it, and
# no static library, for which all would be compiled twice.
set -euo pipefail
# shellcheck source=tests/mpich/program.sh
. "${abs_top_srcdir:?}/tests/mpich/program.sh"
lib=$(dirname "$(command -v mpicc)")/../lib
named=$(sed -n "s/^dependency_libs='\(.*\)'/\1/p" "$lib"/lib*.la)
for library in $named; do
	[[ $library != /* || -e $library ]] || {
		echo "$library is named, and not there"
		exit 1
	}
done
! compgen -G "$lib/*.a"
