#!/bin/bash
# SPDX-License-Identifier: MIT
# Published figures come out of the simulated cluster within their limits, but
# for those that are known not to.
set -euo pipefail
out=$("${abs_top_srcdir:?}/bench/reproduce") || { echo "$out"; exit 1; }
(($(wc -l <<<"$out") == 74)) || { echo "$out"; exit 1; }
