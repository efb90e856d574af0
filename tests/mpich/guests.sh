#!/bin/bash
# SPDX-License-Identifier: MIT
# MPI jobs over the cards of two kernels: two guests, and between their network cards a
# wire that loses, doubles, reorders and corrupts 5 % of the frames each, by a seed
# (SEED). Ranks are in both guests.
set -euo pipefail
# shellcheck source=tests/vm/guest.sh
. "${abs_top_srcdir:?}/tests/vm/guest.sh"
vm_begin
# shellcheck source=tests/mpich/program.sh
. "$abs_top_srcdir/tests/mpich/program.sh"
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$dir" "$scratch"' EXIT
source=${MPICH_SOURCE:-${abs_top_builddir:?}/mpich/source}
seed=${SEED:-$RANDOM}
echo "seed $seed"

for program in tests/mpich/collectives.c tests/mpich/order.c "$source/examples/cpi.c"; do
	mpicc -o "$dir/$(basename "$program" .c)" "$program" -lm
done
for guest in 1 2; do
	vm_root "$scratch/guest$guest"
	vm_network "$scratch/guest$guest" $guest
	for program in "$dir"/{collectives,cpi,order} "$(command -v mpiexec.hydra)" \
		"$(command -v hydra_pmi_proxy)"; do
		vm_program "$scratch/guest$guest" "$program"
	done
done

vm_hosts 2 280 5 "$seed" <<'RUN'
export BCL_CARD=kernel BCL_STATS=on BCL_LOG=warn,stats
mpi() {
	timeout -s KILL 100 /mpiexec.hydra -launcher ssh -launcher-exec /rsh \
		-iface eth0 -hosts 10.0.0.1:1,10.0.0.2:1 -n "$@" </dev/null
}
for rails in packet udp; do
	export BCL_RAILS=$rails
	mpi 4 /cpi
	mpi 2 /order 1
	mpi 3 /collectives
done
RUN
tr -d '\r' <"$scratch/console1" >"$scratch/said"
grep -a -e '^pi is' -e '^ours: ' -e '^Process' "$scratch/said"
[[ $(grep -ac '^pi is approximately 3.14159' "$scratch/said") == 2 ]]
[[ $(grep -ac '^Process [13] of 4 is on guest2' "$scratch/said") == 4 ]]
[[ $(grep -ac '^ours: ' "$scratch/said") == 2 ]]
grep -aq ' card.retransmitted ' "$scratch/said"
