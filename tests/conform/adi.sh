#!/bin/bash
# SPDX-License-Identifier: MIT
# The ADI over shared memory and over cards of virtual nodes: adi.c.
set -uo pipefail
program=${abs_top_builddir:?}/tests/conform/adi
unset PMI_FD PMI_PORT PMIX_RANK BCL_BOOT BCL_NODE
failed=0

# try CASE PATH [VARIABLE=VALUE]...
try() {
	local case=$1 path=$2
	shift 2
	timeout 100 env "$@" "$program" "$case" "$path" || {
		echo "$case over $path $*: failed"
		failed=1
	}
}

for path in shared card both; do
	for case in sizes huge traffic threads flood death fork; do
		# cases of two ranks know two paths only
		[[ $path$case == both@(huge|flood|fork) ]] ||
			try "$case" "$path"
	done
	[[ $path == both || ${LONG-} ]] || continue
	try traffic "$path" BCL_EAGER_MAX=0
	try traffic "$path" BCL_UNEXPECTED=64k BCL_HELPER=0
done
try sizes shared BCL_ATTACH=off
try huge shared BCL_ATTACH=off
try traffic shared BCL_ATTACH=off
try traffic card BCL_FAULT=drop:5%,dup:5%,reorder:5%,corrupt:5%,seed:7
exit $failed
