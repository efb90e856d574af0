#!/bin/bash
# SPDX-License-Identifier: MIT
# Who receives a short message copies it once, from shared memory, or from where
# the card has placed it, to where it belongs; and once more if it has to be kept
# until there is a receive. Where the card puts a message together from frames its
# own copy is counted, too; of a lone frame the checksum's pass is the copy.
# copies.c tells more.
set -euo pipefail
# shellcheck source=tests/mpich/program.sh
. "${abs_top_srcdir:?}/tests/mpich/program.sh"
PATH=$abs_top_srcdir/scripts:$PATH
mpicc -rdynamic -o "$dir/copies" "$abs_top_srcdir/tests/mpich/copies.c"

# copies_of LONGER COMMAND...: so many of what is longer than a frame of Ethernet
copies_of() {
	diff - <(timeout 60 "${@:2}") <<-EXPECTED
		1000 bytes: 1
		4000 bytes: $1
		8192 bytes: $1
		1000 bytes, late: 2
		4000 bytes, late: $(($1 + 1))
		8192 bytes, late: $(($1 + 1))
	EXPECTED
}

copies_of 1 mpiexec -n 2 "$dir/copies"
copies_of 1 cluster run -v cluster mpiexec 1 "$dir/copies" # in lone frames
if cluster run -m 1500 -o true 2>/dev/null; then
	copies_of 2 cluster run -m 1500 -o cluster mpiexec 1 "$dir/copies"
else
	echo "not tried: messages of several frames, which take namespaces"
fi
