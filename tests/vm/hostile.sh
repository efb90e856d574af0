#!/bin/bash
# SPDX-License-Identifier: MIT
# Hostile processes against the kernel module, in a guest: what they pass on, become and
# name, and their deaths at random moments (SEED). The module is unloaded while frames of
# its cards wait in a queue of the kernel, and loaded again. An interface is removed under
# a job that uses it.
set -euo pipefail
# shellcheck source=tests/vm/guest.sh
. "${abs_top_srcdir:?}/tests/vm/guest.sh"
vm_begin
seed=${SEED:-$RANDOM}
kills=${LONG:+200}
kills=${kills:-5}
reloads=${LONG:+200}
reloads=${reloads:-3}

vm_root "$scratch/guest"
vm_nodes "$scratch/guest"
cp "$(vm_loadable "$headers" sch_netem)" "$scratch/guest/"
for program in tests/vm/ranks tests/cluster/job; do
	vm_program "$scratch/guest" "${abs_top_builddir:?}/$program"
done
vm_program "$scratch/guest" "$(command -v tc)"
gcc -O1 -Wall -Wextra -Werror -static -Iinclude -I. -o "$scratch/guest/hostile-test" \
	tests/vm/hostile.c
cat >"$scratch/guest/run" <<RUN
set -e
. /nodes
export BCL_CARD=kernel BCL_PEER_TIMEOUT=1s JOB_UNTIL=/never
for rails in packet udp; do
	BCL_RAILS=\$rails /ranks 2 \$other /job &
	job=\$!
	until [ "\$(cat /proc/*/comm | grep -c '^job\$')" = 2 ]; do sleep 1; done
	sleep 2
	ip link del veth0
	if wait \$job; then exit 1; fi
	echo "hostile: no interface under \$rails"
	/veth-test veth0 veth1
	ifconfig veth0 10.0.0.1 up
	ip link set veth1 netns \$other
	nsenter -t \$other -n ifconfig veth1 10.0.0.2 up
done
nsenter -t \$other -n ip link set veth1 netns 1
ifconfig veth1 up
/hostile-test veth0 veth1 $kills $seed
insmod /sch_netem.ko
/tc qdisc add dev veth0 root netem delay 50ms
for reload in \$(seq $reloads); do
	/hostile-test veth0 veth1 0
	rmmod bcl
	insmod /bcl.ko
done
echo "hostile: unloaded \$reload times"
kill \$other
rmmod bcl
RUN
vm_boot "$scratch/guest" "$image" "$scratch/console" $((180 + kills + reloads)) -smp 2 || exit
grep -a -e 'checks passed' -e '^hostile: ' "$scratch/console"
