#!/bin/bash
# SPDX-License-Identifier: MIT
# System calls and allocations per message: none inside a host, one per send
# and none per receive on a packet ring; and of collective operations.
set -euo pipefail
calls=${abs_top_builddir:?}/tests/conform/calls
PATH=${abs_top_srcdir:?}/scripts:$PATH
export BCL_SPIN=1s
# An audit of a pair, an eighth of this time apart, makes a system call.
export BCL_PEER_TIMEOUT=600s

(($(nproc) > 1)) || { echo 'two ranks on one processor must yield'; exit 77; }
BCL_RAILS=none cluster run -v -n 1 cluster mpiexec 2 "$calls" shared
BCL_RAILS=none cluster run -v -n 1 cluster mpiexec 2 "$calls" collectives
cluster run -r true 2>/dev/null ||
	{ echo 'no packet ring without namespaces'; exit 77; }
BCL_RAILS=packet cluster run -r cluster mpiexec 1 "$calls" packet
