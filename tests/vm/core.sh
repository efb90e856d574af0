#!/bin/bash
# SPDX-License-Identifier: MIT
# The unit tests of the card core run inside a kernel, in a guest whose allocator
# watches what is written where.
set -euo pipefail
# shellcheck source=tests/vm/guest.sh
. "${abs_top_srcdir:?}/tests/vm/guest.sh"
vm_begin

world=(event host seal user world)
# The others would take minutes in a guest.
suites=(blind burst conn end evict hostile liar long loss order rails)

# Kbuild writes objects beside sources, so each has one in $scratch.
source_of() {
	echo "#include \"$1\"" >>"$scratch/$2.c"
	objects+=("$2.o")
}
objects=()
source_of tests/vm/core.c core
for file in nicfw/*.c; do
	source_of "$file" "nicfw_$(basename "$file" .c)"
done
for name in "${world[@]}"; do
	source_of "tests/unit/card_$name.c" "card_$name"
done
for name in "${suites[@]}"; do
	printf '#define main test_card_%s\nint main(void);\n' "$name" >"$scratch/test_card_$name.c"
	source_of "tests/unit/test_card_$name.c" "test_card_$name"
	echo "SUITE(test_card_$name)" >>"$scratch/suites.h"
done
cat >"$scratch/Kbuild" <<KBUILD
obj-m := card_core.o
card_core-y := ${objects[*]}
ccflags-y := -I$PWD/tests/vm/check -I$PWD/kmod/shim -I$PWD/include -I$PWD \
	-I$PWD/tests/unit -I$scratch
KBUILD
vm_modules "$headers" "$scratch"

vm_root "$scratch/guest"
cp "$scratch/card_core.ko" "$scratch/guest/"
echo "insmod card_core.ko seeds=$((${LONG:+2} + 2))" >"$scratch/guest/run"
vm_boot "$scratch/guest" "$image" "$scratch/console" 280 || exit
grep -ao '[0-9]* checks, 0 failures' "$scratch/console"
