#!/bin/bash
# SPDX-License-Identifier: MIT
# Two guests, each with its own kernel and network card, and a wire between them that
# loses, doubles, reorders and corrupts a fifth of the frames each, by a seed (SEED):
# jobs with the kernel's card on both sides, and on one side.
set -euo pipefail
# shellcheck source=tests/vm/guest.sh
. "${abs_top_srcdir:?}/tests/vm/guest.sh"
vm_begin
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$scratch"' EXIT
seed=${SEED:-$RANDOM}
longest=${LONG:+100000}
echo "seed $seed"

for guest in 1 2; do
	vm_root "$scratch/guest$guest"
	vm_network "$scratch/guest$guest" $guest
	for program in "$abs_top_builddir/tests/cluster/job" \
		"$(command -v hydra_pmi_proxy)" "$(command -v mpiexec.hydra)"; do
		vm_program "$scratch/guest$guest" "$program"
	done
	# The ranks with odd numbers may have another card.
	cat >"$scratch/guest$guest/rank" <<-'RANK'
		#!/bin/sh
		if [ $((PMI_RANK % 2)) = 1 ]; then export BCL_CARD=$ODD_CARD; fi
		exec "$@"
	RANK
	chmod +x "$scratch/guest$guest/rank"
done

cat >"$scratch/guest1/jobs" <<'JOBS'
job() {
	echo "guests: $1"
	shift
	timeout -s KILL 100 /mpiexec.hydra -launcher ssh -launcher-exec /rsh \
		-iface eth0 -hosts 10.0.0.1:1,10.0.0.2:1 -n 4 /rank /job "$@" </dev/null
}
BCL_RAILS=packet job 'Ethernet' +card.retransmitted -packet.sends
BCL_RAILS=udp job 'UDP' +card.retransmitted -udp.sendmsg
ODD_CARD=process
BCL_RAILS=packet job 'Ethernet, a process on one side' +card.retransmitted +packet.sends
BCL_RAILS=udp job 'UDP, a process on one side' +card.retransmitted +udp.sendmsg
JOBS
vm_hosts 2 280 20 "$seed" <<RUN
export BCL_CARD=kernel ODD_CARD=kernel JOB_LONGEST=${longest:-20000}
. /jobs
RUN
tr -d '\r' <"$scratch/console1" | grep -a -e '^guests: ' -e '^job: '
[[ $(grep -ac '^job: 4 ranks' "$scratch/console1") == 4 ]]
