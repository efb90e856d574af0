#!/bin/bash
# SPDX-License-Identifier: MIT
# What bcl-ctl says to arguments, right and wrong, and where there is no module;
# tests/vm/kmod.sh tests its work.
set -euo pipefail
ctl=${abs_top_builddir:?}/tools/bcl-ctl
out=$(mktemp)
trap 'rm -f "$out"' EXIT

# ends STATUS PATTERN ARGUMENT...: bcl-ctl ends so, with such a line
ends() {
	local expected=$1 pattern=$2 status=0
	shift 2
	"$ctl" "$@" >"$out" 2>&1 || status=$?
	if ((status != expected)) || ! grep -Eq -- "$pattern" "$out"; then
		echo "bcl-ctl $*: status $status, and no line like $pattern:"
		cat "$out"
		exit 1
	fi
}

ends 0 '^usage: bcl-ctl ' --help
ends 0 '^bcl [0-9]+\.[0-9]+\.[0-9]+$' --version
for words in kards 'card' 'card 1 2' 'cards 1' 'isolate' 'faults all' --helps; do
	# shellcheck disable=SC2086 # several words
	ends 2 '^usage: bcl-ctl ' $words
done
if [[ -e /dev/bcl ]]; then
	echo 'the module is loaded here: nothing is tried without it'
	exit 0
fi
for words in '' cards 'card 12ab' 'faults all off' 'isolate 12ab' interfaces; do
	# shellcheck disable=SC2086
	ends 1 '/dev/bcl: the kernel module bcl is not loaded' $words
done
