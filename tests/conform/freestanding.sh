#!/bin/bash
# SPDX-License-Identifier: MIT
# The card core compiles for 64 bits, 32 bits and the LANai, there also for a host
# of the other byte order; it needs nothing but memcpy and memset (on the LANai
# also the compiler's helpers for multiplication and 32-bit division), and has
# small stack frames.
set -euo pipefail
frame_limit=512	# bytes
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
status=0

flags=(-std=gnu11 -Wall -Wextra -Werror -O2 -ffreestanding
	-fno-pie -fno-stack-protector "-Wframe-larger-than=$frame_limit"
	-I"${abs_top_srcdir:?}/include" -I"$abs_top_srcdir" -c)

# target NAME ALLOWED-SYMBOLS COMPILER...
target() {
	local name=$1 allowed=$2 objects=() source object
	shift 2
	mkdir "$scratch/$name"
	for source in "$abs_top_srcdir"/nicfw/*.c; do
		object=$scratch/$name/$(basename "$source" .c).o
		"$@" "${flags[@]}" "$source" -o "$object" || { status=1; return; }
		objects+=("$object")
	done
	# What one object leaves undefined another may define.
	nm "${objects[@]}" | awk 'NF == 3 { print $3 }' | sort -u \
		>"$scratch/$name/defined"
	nm -u "${objects[@]}" | awk 'NF == 2 { print $2 }' | sort -u |
		comm -23 - "$scratch/$name/defined" |
		grep -Evx "$allowed" >"$scratch/$name/foreign" || true
	if [[ -s $scratch/$name/foreign ]]; then
		echo "$name: undefined symbols that no card has:"
		cat "$scratch/$name/foreign"
		status=1
	else
		echo "$name: ${#objects[@]} objects, frames <= $frame_limit bytes"
	fi
}

memory='memcpy|memset'
target gcc64 "$memory" gcc
target gcc32 "$memory" gcc -m32
divide='__mul[sd]i3|__u?(div|mod)si3'
target lanai "$memory|$divide" clang --target=lanai
target lanai-foreign "$memory|$divide" clang --target=lanai -DBCL_HOST_FOREIGN
exit $status
