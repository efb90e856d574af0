# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# For scripts that wait for what others do: to be included.

# await WHAT COMMAND...: until it succeeds
await() {
	local try
	for ((try = 0; try < 300; try++)); do
		! "${@:2}" || return 0
		sleep 0.1
	done
	echo "never: $1"
	return 1
}
