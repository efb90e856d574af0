#!/bin/bash
# SPDX-License-Identifier: MIT
# The library in a guest: jobs run over the kernel's card between two nodes, which are
# namespaces of the guest; and inside a node where the kernel restricts attach.
set -euo pipefail
# shellcheck source=tests/vm/guest.sh
. "${abs_top_srcdir:?}/tests/vm/guest.sh"
vm_begin

vm_root "$scratch/guest"
vm_nodes "$scratch/guest"
for program in tests/vm/ranks tests/cluster/job tools/bcl-info; do
	vm_program "$scratch/guest" "${abs_top_builddir:?}/$program"
done
mkdir "$scratch/guest/etc"
echo 'user:x:1000:0::/:/bin/sh' >"$scratch/guest/etc/passwd"
cat >"$scratch/guest/run" <<'RUN'
set -e
. /nodes
user() {
	su user -c "exec env $* /bcl-info"
}
scope=/proc/sys/kernel/yama/ptrace_scope
echo 'a user without privileges, where Yama permits attach to ancestors, and to nobody'
echo 1 >$scope
user | grep 'shared memory, attach$'
echo 2 >$scope
user | grep 'shared memory, attach by the card$'
user BCL_CARD=process | grep 'double copy: attach is forbidden'
echo 0 >$scope
echo 'ranks 0 and 2, of this node, do not see the process ids of each other'
/ranks 3 $other /bin/busybox unshare -p -f /bcl-info --paths | grep 'shared memory, attach by the card$'
/ranks 4 $other /bin/busybox unshare -p -f /job +shm.bytes_pulled
echo 'a program finds the card of the kernel without being told'
/bcl-info | grep '^card  *in the kernel$'
export BCL_CARD=kernel
echo 'both nodes with the card of the kernel, by Ethernet'
BCL_RAILS=packet /ranks 4 $other /job +card.frames_sent -packet.sends
echo 'one of the two with the card of a process, by the packet ring'
BCL_RAILS=packet ODD_CARD=process /ranks 2 $other /job +card.frames_sent +packet.sends
export BCL_RAILS=udp
echo 'both nodes with the card of the kernel, by UDP'
/ranks 4 $other /job +card.frames_sent -udp.sendmsg
echo 'one of the two with the card of a process'
ODD_CARD=process /ranks 2 $other /job +card.frames_sent +udp.sendmsg
echo 'likewise over IPv6, and frames get lost'
export BCL_NET=fe80::/10
ODD_CARD=process ODD_FAULT=drop:10%,dup:5%,seed:3 /ranks 2 $other /job \
	+card.retransmitted +udp.sendmsg
kill $other
rmmod bcl
RUN
vm_boot "$scratch/guest" "$image" "$scratch/console" 280 -cpu max || exit
grep -a '^job: ' "$scratch/console"
