#!/bin/bash
# SPDX-License-Identifier: MIT
# bcl-pvm starts PVM's console and a machine whose tasks use BCL, and the console
# ends it. Its --check says of each host whether its tasks use BCL, by which path,
# and why not: on one host, on two, and where the other one lacks something.
set -euo pipefail
self=$(realpath "$0")
cluster=${abs_top_srcdir:?}/scripts/cluster

# shellcheck source=tests/await.bash
. "$abs_top_srcdir/tests/await.bash"

build=${abs_top_builddir:?}
glue=$build/.libs/libbcl-pvm.so
check=$build/pvm-glue/bcl-pvm-check
[[ -x $check ]] || { echo 'no PVM to build programs with'; exit 77; }

# says STATUS [LINE]...: --check ends so, and prints what matches the lines.
says() {
	local status=0 line
	timeout "$limit" ./bcl-pvm --check >seen 2>errors || status=$?
	((status == $1)) || fail "status $status"
	for line in "${@:2}"; do
		grep -Exq "$line" seen || fail "no line like: $line"
	done
}

fail() {
	echo "$*"
	cat seen errors
	exit 1
}

# instead FILE OTHER [LINE]...: what it says if the other host has FILE in place
# of OTHER.
instead() {
	local on_other=(env -u LD_PRELOAD "$cluster" on node1)
	"${on_other[@]}" mount --bind "$1" "$2"
	says 1 "$own" "${@:3}" '1 of 2 hosts do not use BCL'
	"${on_other[@]}" umount --lazy "$2"
}

# console LINE...: what a user types.
console() {
	printf '%s\n' "$@" | timeout "$limit" ./bcl-pvm >seen 2>errors
}

# The machine's log has so many lines like that, or more.
logged() {
	(($(grep -Ec "$2" "$PVM_TMP/pvml.$UID") >= $1))
}

begin='glue version 3, libpvm3 is known: BCL by'
own="node0: $begin shared memory, .*"

case ${1-} in
console)
	# as a user has it, with programs of his own
	unset PVM_ROOT PVM_PATH PVM_ARCH
	export PVM_ALLOW_ROOT=1 PVM_TMP=$PWD/vm HOME=$PWD BCL_STATS=1
	mkdir -p "$PVM_TMP" pvm3/bin
	ln -s "$build/tests/pvm" "pvm3/bin/$(pvmgetarch)"
	console conf "spawn early $PWD/now" 'spawn hello.pvm' quit ||
		fail 'the console does not end well'
	grep -q '^1 host' seen || fail 'no host'
	! command -v hello.pvm >/dev/null ||
		await "a package's program" logged 1 'hello, world'
	await 'answers' logged 3 '200 messages, 0 wrong$'
	await "all tasks' end" logged 4 'stats: +[1-9][0-9]* shm.messages_received '
	says 0 "$own"
	console halt || true # which ends the console, too
	await 'no daemon' test ! -e "$PVM_TMP/pvmd.$UID"
	exit
	;;
one)
	says 0 "$own"
	LD_PRELOAD=$build/tests/pvm/.libs/another.so says 1 \
		'node0: passive: this libpvm3 is not one it knows'
	BCL_SHM=off PVM_EXPORT=BCL_SHM says 0 \
		"node0: $begin UDP: switched off \(BCL_SHM\), udp/eth0; no \
packet ring inside a host"
	PVM_TMP=$PWD says 1
	grep -q 'no virtual machine' errors
	exit
	;;
two)
	says 0 "$own" "node1: $begin packet ring: .*, packet/eth0.*"
	BCL_RAILS=udp says 0 "$own" "node1: $begin UDP: .*, udp/eth0; no \
packet ring here: not in BCL_RAILS"
	BCL_RAILS=none says 1 "$own" 'node1: passive: no usable network here'
	: >empty
	instead empty "$glue" 'node1: passive: no glue: .*file too short'
	instead "$build/tests/pvm/.libs/newer.so" "$glue" \
		'node1: passive: version 99 of the glue, here is 3'
	instead empty "$check" \
		"node1: passive: cannot start $check there: .*"
	exit
	;;
esac

# shellcheck source=tests/pvm/scratch.sh
. "${abs_top_srcdir:?}/tests/pvm/scratch.sh"
sed "s,@pkglibdir@,$build/.libs,; s,@pkglibexecdir@,$build/pvm-glue," \
	"$abs_top_srcdir/pvm-glue/bcl-pvm.in" >bcl-pvm
chmod +x bcl-pvm
"$cluster" run -r -n 1 "$cluster" on node0 "$self" console
"$machine" 1 glue "$self" one
"$machine" 2 glue "$self" two
