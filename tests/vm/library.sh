#!/bin/bash
# SPDX-License-Identifier: MIT
# The library over the kernel's card, in a guest: jobs run between two nodes, which
# are namespaces of the guest.
set -euo pipefail
# shellcheck source=tests/vm/guest.sh
. "${abs_top_srcdir:?}/tests/vm/guest.sh"
vm_begin
veth=$(vm_loadable "$headers" veth)

vm_bcl
gcc -O1 -Wall -Wextra -Werror -static -Iinclude -o "$scratch/veth-test" tests/vm/veth.c

vm_root "$scratch/guest"
cp "$scratch/bcl.ko" "$veth" "$scratch/veth-test" "$scratch/guest/"
for program in tests/vm/ranks tests/cluster/job tools/bcl-info; do
	vm_program "$scratch/guest" "${abs_top_builddir:?}/$program"
done
cat >"$scratch/guest/run" <<'RUN'
set -e
mkdir -p /dev/shm
mount -t tmpfs none /dev/shm
insmod /veth.ko
insmod /bcl.ko
ifconfig lo up
/veth-test veth0 veth1
unshare -n -u sleep 1000 &
sleep 1
ip link set veth1 netns $!
ifconfig veth0 10.0.0.1 up
nsenter -t $! -n ifconfig veth1 10.0.0.2 up
nsenter -t $! -u hostname other
ulimit -l unlimited
echo 'a program finds the card of the kernel without being told'
/bcl-info | grep '^card  *in the kernel$'
export BCL_CARD=kernel
echo 'both nodes with the card of the kernel, by Ethernet'
BCL_RAILS=packet /ranks 4 $! /job +card.frames_sent -packet.sends
echo 'one of the two with the card of a process, by the packet ring'
BCL_RAILS=packet ODD_CARD=process /ranks 2 $! /job +card.frames_sent +packet.sends
export BCL_RAILS=udp
echo 'both nodes with the card of the kernel, by UDP'
/ranks 4 $! /job +card.frames_sent -udp.sendmsg
echo 'one of the two with the card of a process'
ODD_CARD=process /ranks 2 $! /job +card.frames_sent +udp.sendmsg
echo 'likewise over IPv6, and frames get lost'
export BCL_NET=fe80::/10
ODD_CARD=process ODD_FAULT=drop:10%,dup:5%,seed:3 /ranks 2 $! /job \
	+card.retransmitted +udp.sendmsg
kill $!
rmmod bcl
RUN
vm_boot "$scratch/guest" "$image" "$scratch/console" 280 -cpu max || exit
grep -a '^job: ' "$scratch/console"
