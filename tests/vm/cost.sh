#!/bin/bash
# SPDX-License-Identifier: MIT
# What messages cost over the card of the kernel, in a guest that counts instructions:
# one system call for a send, none for a receive or for a channel posted again, the copies
# of a byte, and the instructions, beside TCP and beside the cards of processes; and the
# instructions of a pin, which is made or was kept.
set -euo pipefail
# shellcheck source=tests/vm/guest.sh
. "${abs_top_srcdir:?}/tests/vm/guest.sh"
vm_begin

vm_root "$scratch/guest"
vm_nodes "$scratch/guest"
vm_program "$scratch/guest" "${abs_top_builddir:?}/tests/vm/cost"
gcc -O1 -Wall -Wextra -Werror -static -Iinclude -o "$scratch/guest/pins" tests/vm/pins.c
cat >"$scratch/guest/run" <<'RUN'
set -e
. /nodes
export BCL_SHM=off
there="10.0.0.2 /proc/$other/ns/net"
/pins veth0 kept
kept=/sys/module/bcl/parameters/kept_pages
pages=$(cat $kept)
echo 0 >$kept
/pins veth0 pins
echo $pages >$kept
/cost tcp $there
for rails in packet udp; do
	export BCL_RAILS=$rails
	BCL_CARD=process /cost process-$rails $there
	BCL_CARD=kernel /cost kernel-$rails $there
	BCL_CARD=kernel BCL_PCRC=off /cost kernel-$rails-bare $there
done
kill $other
rmmod bcl
RUN

vm_append='tsc=reliable clocksource=tsc'
# Copying instructions that count as one for each byte would hide all else.
vm_boot "$scratch/guest" "$image" "$scratch/console" 280 -cpu max,-erms,-fsrm \
	-icount shift=0,align=off,sleep=off || exit
costs=$(tr -d '\r' <"$scratch/console" | grep -a '^cost: ' | tee /dev/stderr)

# is_at_most NAME WHAT LIMIT: a cost is there, and within the limit
is_at_most() {
	local cost
	cost=$(awk -v "name=cost: $1 $2 " 'index($0, name) == 1 { print $NF }' <<<"$costs")
	((cost > 0 && cost <= $3)) || { echo "$1 $2: ${cost:-not told}, not $3"; return 1; }
}

# is_less NAME WHAT PERCENT THAN: a cost, as a share of another one
is_less() {
	local than
	than=$(awk -v "name=cost: $4 $2 " 'index($0, name) == 1 { print $NF }' <<<"$costs")
	is_at_most "$1" "$2" $((${than:-0} * $3 / 100))
}

for rails in packet udp; do
	is_at_most "kernel-$rails" doorbells 2
	is_at_most "kernel-$rails" 'copied out' $((1 << 20))
	is_at_most "kernel-$rails" 'copied in' $((1 << 20))
	is_at_most "kernel-$rails" 'posted again' 1
done
# Instructions with this kernel, and 5 % of room; other kernels may need more.
measured=6.1.0-56-cloud-amd64
room=5
[[ $headers == *"$measured" ]] || room=20

# is_near NAME WHAT MEASURED
is_near() {
	is_at_most "$1" "$2" $(($3 * (100 + room) / 100))
}

is_near kernel-packet small 8333
is_near kernel-packet large 5027000
is_near kernel-packet-bare large 3414000
is_near kernel-packet middle 313700
is_near kernel-udp small 11424
is_near kernel-udp middle 213800
is_near kernel-udp large 2958000
is_near kernel-udp-bare middle 112700
is_near kernel-udp-bare large 1336000
is_near kept middle 293
is_near kept large 318
is_near pins middle 12445
is_near pins large 87814
is_less kernel-packet small 80 tcp
is_less kernel-packet small 100 process-packet
is_less kernel-udp small 100 process-udp
