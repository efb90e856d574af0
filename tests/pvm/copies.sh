#!/bin/bash
# SPDX-License-Identifier: MIT
# A long message is copied no more often than it must: by pvm_psend() and
# pvm_precv() once, from task to task. Between hosts that copy is the card's
# own, which is not counted. The memory on its way stays the tasks'.
set -euo pipefail
# shellcheck source=tests/pvm/program.sh
. "${abs_top_srcdir:?}/tests/pvm/program.sh"

"$machine" 1 glue timeout "$limit" "$program" >inside
"$machine" 2 glue timeout "$limit" "$program" node1 >between
diff - inside <<-'EXPECTED'
	psend to precv: 1.0 times, in old memory, awake
	packed: 4.0 times, in old memory, awake
	several packed: 4.0 times, in old memory, awake
EXPECTED
diff - between <<-'EXPECTED'
	psend to precv: 0.0 times, in old memory, awake
	packed: 3.0 times, in old memory, awake
	several packed: 3.0 times, in old memory, awake
EXPECTED
