#!/bin/bash
# SPDX-License-Identifier: MIT
# Three guests, each with its own kernel and network card, on a wire that loses, doubles,
# reorders and corrupts 5 % of the frames each, by a seed (SEED). The second one loses
# power again and again, at any moment, and comes back each time as another card. Cards
# in the first guest, in turn one for Ethernet and one for UDP, hear of each death, and
# serve each life, while a job of the first guest and the third goes on. In the end
# nothing is pinned, and the module has no more memory than it had after the first lives.
set -euo pipefail
# shellcheck source=tests/vm/guest.sh
. "${abs_top_srcdir:?}/tests/vm/guest.sh"
vm_begin
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$scratch"' EXIT
seed=${SEED:-$RANDOM}
times=${LONG:+50}
times=${times:-4}
early=${LONG:+6}
early=${early:-2}
echo "seed $seed"

for guest in 1 2 3; do
	vm_root "$scratch/guest$guest"
	vm_network "$scratch/guest$guest" $guest
	gcc -O1 -Wall -Wextra -Werror -static -Iinclude -o "$scratch/guest$guest/again" \
		tests/vm/again.c
done
for guest in 1 3; do
	for program in "${abs_top_builddir:?}"/{tests/cluster/job,tools/bcl-ctl} \
		"$(command -v hydra_pmi_proxy)" "$(command -v mpiexec.hydra)"; do
		vm_program "$scratch/guest$guest" "$program"
	done
done
vm_lent "$scratch/guest3"
cat >"$scratch/guest2/run" <<'RUN'
set -e
. /network
/again call
RUN
cat >"$scratch/guest1/run" <<RUN
set -e
. /network
mount -t debugfs none /sys/kernel/debug

# memory: print what the module has in memory, by the places of its code, and its cards.
# The kernel gives some memory back only after seconds (kfree_rcu).
memory() {
	sleep 8
	awk '\$3 == "[bcl]" { n[\$2] += \$1 }
		\$4 == "[bcl]" { n[\$3] += \$2 }
		END { for (place in n) print place, n[place] }' \
		/sys/kernel/debug/slab/*/alloc_traces /proc/vmallocinfo | sort
	/bcl-ctl cards
}
# packets: print how many packets there are, of all the kernel
packets() {
	awk '/^skbuff_head_cache/ { print \$2 }' /proc/slabinfo
}
until echo true | nc 10.0.0.3 514; do sleep 1; done
{ /again serve $times $early || reboot -f; } &
server=\$!
for point in early end; do
	JOB_UNTIL=/\$point BCL_CARD=kernel BCL_RAILS=udp JOB_LONGEST=100000 \
		/mpiexec.hydra -launcher ssh -launcher-exec /rsh -iface eth0 \
		-hosts 10.0.0.1:1,10.0.0.3:1 -n 2 /job +card.retransmitted </dev/null
	memory >/tmp/\$point
	packets >/tmp/\$point.packets
	echo "memory, \$point: \$(cat /tmp/\$point.packets) packets, and"
	cat /tmp/\$point
	rm /\$point
done
wait \$server
echo 'touch /over' | nc 10.0.0.3 514
rmmod bcl
unpinned
grep host_make /tmp/end
cmp /tmp/early /tmp/end
# The kernel keeps some packets for later, but no more than 64.
[ \$(cat /tmp/end.packets) -lt \$((\$(cat /tmp/early.packets) + 100)) ]
RUN

# live: boot the second guest, and take its power away when messages have come
live() {
	vm_host 2 280
	until grep -qs '^again: alive' "$scratch/console2"; do
		if ! kill -0 $first || ! kill -0 $!; then
			tail "$scratch"/console[12]
			return 1
		fi
		sleep 0.$((RANDOM % 10))
	done
	kill $!
	wait $! || true
	vm_no_complaint "$scratch/console2"
	rm "$scratch/console2"
}
vm_wire 3 5 "$seed"
vm_host 3 900
third=$!
vm_host 1 900
first=$!
for ((i = 0; i < times; i++)); do live; done
wait $first
vm_verdict "$scratch/console1"
wait $third
vm_verdict "$scratch/console3"
kill $wire
wait $wire
grep -a -e '^again: ' -e '^job: ' -e '^memory, ' -e '^pins: ' "$scratch/console1"
