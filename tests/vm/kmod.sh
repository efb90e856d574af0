#!/bin/bash
# SPDX-License-Identifier: MIT
# The kernel module, in a guest: its calls, right and wrong, its messages over the
# loopback interface and over a pair of Ethernet interfaces, what is left when its
# processes are killed, the limits of its users, what administrators see and change,
# memory that processes unmap or copy, pins that are kept, also by a slow process, and
# random calls and frames by a seed (SEED).
set -euo pipefail
# shellcheck source=tests/vm/guest.sh
. "${abs_top_srcdir:?}/tests/vm/guest.sh"
vm_begin
veth=$(vm_loadable "$headers" veth)
fuse=$(vm_loadable "$headers" fuse)

vm_bcl
for program in admin cache copy kmod limits slow unmap veth; do
	gcc -O1 -Wall -Wextra -Werror -static -Iinclude -o "$scratch/$program-test" \
		"tests/vm/$program.c"
done
gcc -O1 -Wall -Wextra -Werror -static -pthread -Iinclude -I. -o "$scratch/fuzz-test" \
	tests/vm/fuzz{,_calls,_frames}.c
seed=${SEED:-$RANDOM}
seconds=${LONG:+300}
seconds=${seconds:-15}

vm_root "$scratch/guest"
cp "$scratch/bcl.ko" "$fuse" "$veth" "$scratch/guest/"
cp "$scratch"/{admin,cache,copy,fuzz,kmod,limits,slow,unmap,veth}-test "$scratch/guest/"
vm_program "$scratch/guest" "${abs_top_builddir:?}/tools/bcl-ctl"
cat >"$scratch/guest/run" <<RUN
set -e
# the fuzzer's processes may break their own memory
echo 0 >/proc/sys/debug/exception-trace
insmod /fuse.ko
insmod /veth.ko
insmod /bcl.ko
ifconfig lo mtu 1500 up
/kmod-test lo lo messages
/kmod-test lo lo udp4 pcrc
/kmod-test lo lo udp6 messages
/limits-test lo
/copy-test lo
/admin-test /bcl-ctl lo
/veth-test veth0 veth1
ifconfig veth0 mtu 9000 up
ifconfig veth1 mtu 9000 up
/unmap-test veth0 veth1
/cache-test veth0 veth1
/slow-test veth0
/fuzz-test veth0 veth1 $seed $seconds
/kmod-test veth0 veth1 remove
rmmod bcl
insmod /bcl.ko
rmmod bcl
RUN
vm_boot "$scratch/guest" "$image" "$scratch/console" $((280 + seconds)) -smp 2 || exit
grep -a -e 'checks passed' -e '^fuzz: ' "$scratch/console"
