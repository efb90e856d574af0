#!/bin/bash
# SPDX-License-Identifier: MIT
# A part of MPICH's suite over two nodes, then once more with frames lost.
set -euo pipefail
dir=${abs_top_srcdir:?}/tests/mpich
"$dir/run" -n "$dir"/nodes/*.mpich
BCL_FAULT=drop:2% "$dir/run" -n "$dir"/nodes/*.mpich
