#!/bin/bash
# SPDX-License-Identifier: MIT
# A program in Fortran, with PVM's library for it: the same with the glue as
# without, and user to user.
set -euo pipefail
command -v gfortran >/dev/null || { echo 'no gfortran here'; exit 77; }
# shellcheck source=tests/pvm/scratch.sh
. "${abs_top_srcdir:?}/tests/pvm/scratch.sh"
echo '      end' >empty.f
gfortran empty.f -o empty -lfpvm3 -lpvm3 2>/dev/null ||
	{ echo 'no PVM for Fortran'; exit 77; }
gfortran -O2 -I/usr/include "$abs_top_srcdir/tests/pvm/fortran.f" -o fortran \
	-lfpvm3 -lpvm3

run() {
	"$machine" 1 "$1" timeout "$limit" "$work/fortran" >"$1" 2>"$1.err" || {
		status=$?
		cat "$1" "$1.err"
		exit $status
	}
}

run stock
COUNTED='shm.messages_received shm.bytes_pulled' run glue
grep -qx ' *bad ones: *0' stock
diff stock glue
