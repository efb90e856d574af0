#!/bin/bash
# SPDX-License-Identifier: MIT
# A part of MPICH's suite over two nodes, with frames lost; where there is time,
# without, too.
set -euo pipefail
dir=${abs_top_srcdir:?}/tests/mpich
[[ ! ${LONG-} ]] || "$dir/run" -n "$dir"/nodes/*.mpich
BCL_FAULT=drop:2% "$dir/run" -n "$dir"/nodes/*.mpich
