#!/bin/bash
# SPDX-License-Identifier: MIT
# Four guests, each with its own kernel and network card, on one wire that loses, doubles,
# reorders and corrupts 5 % of the frames each, by a seed (SEED). A job has two ranks in
# each guest. All ranks send one another messages of all sizes, of which they check each
# byte, with collectives in between, over either rail. Afterwards no kernel has a page
# pinned.
set -euo pipefail
# shellcheck source=tests/vm/guest.sh
. "${abs_top_srcdir:?}/tests/vm/guest.sh"
vm_begin
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$scratch"' EXIT
seed=${SEED:-$RANDOM}
echo "seed $seed"

for guest in 1 2 3 4; do
	root=$scratch/guest$guest
	vm_root "$root"
	vm_network "$root" $guest
	for program in "${abs_top_builddir:?}/tests/cluster/job" \
		"$(command -v hydra_pmi_proxy)" "$(command -v mpiexec.hydra)"; do
		vm_program "$root" "$program"
	done
	cat >"$root/rank" <<-'RANK'
		#!/bin/sh
		echo "four: a rank in $(hostname)"
		exec "$@"
	RANK
	chmod +x "$root/rank"
done

vm_hosts 4 560 5 "$seed" <<'RUN'
export BCL_CARD=kernel
job() {
	echo "four: $1"
	BCL_RAILS=$1 timeout -s KILL 240 /mpiexec.hydra -launcher ssh -launcher-exec /rsh \
		-iface eth0 -hosts 10.0.0.1:2,10.0.0.2:2,10.0.0.3:2,10.0.0.4:2 -n 8 \
		/rank /job +card.retransmitted "-$2" </dev/null
}
job packet packet.sends
job udp udp.sendmsg
RUN
tr -d '\r' <"$scratch/console1" >"$scratch/said"
grep -a -e '^four: ' -e '^job: ' "$scratch/said" | sort | uniq -c
[[ $(grep -ac '^job: 8 ranks' "$scratch/said") == 2 ]]
for guest in 1 2 3 4; do
	[[ $(grep -ac "^four: a rank in guest$guest" "$scratch/said") == 4 ]]
	grep -a '^pins: [1-9]' "$scratch/console$guest"
done
