#!/bin/bash
# SPDX-License-Identifier: MIT
# MPI programs over the card of the kernel, in a guest: ranks run in turn on two
# nodes, which are namespaces of the guest, without faults and with.
set -euo pipefail
# shellcheck source=tests/vm/guest.sh
. "${abs_top_srcdir:?}/tests/vm/guest.sh"
vm_begin
# shellcheck source=tests/mpich/program.sh
. "$abs_top_srcdir/tests/mpich/program.sh"
trap 'rm -rf "$dir" "$scratch"' EXIT
source=${MPICH_SOURCE:-${abs_top_builddir:?}/mpich/source}

vm_root "$scratch/guest"
vm_nodes "$scratch/guest"
for program in tests/mpich/collectives.c tests/mpich/order.c "$source/examples/cpi.c"; do
	mpicc -o "$dir/$(basename "$program" .c)" "$program" -lm
done
for program in "$dir"/{collectives,cpi,order} "$abs_top_builddir/tools/bcl-ctl" \
	"$(command -v mpiexec.hydra)" "$(command -v hydra_pmi_proxy)"; do
	vm_program "$scratch/guest" "$program"
done

# on the other node if the rank is odd
cat >"$scratch/guest/node" <<'NODE'
#!/bin/sh
if [ $((PMI_RANK % 2)) = 0 ]; then exec "$@"; fi
exec nsenter -t "$OTHER" -n -u "$@"
NODE
chmod +x "$scratch/guest/node"
cat >"$scratch/guest/run" <<'RUN'
set -e
. /nodes
export BCL_CARD=kernel OTHER=$other
mpi() {
	timeout 200 /mpiexec.hydra -launcher fork -n "$@" </dev/null
}
mpi 4 /node /cpi
mpi 2 /node /order 1
mpi 3 /node /collectives
/bcl-ctl faults all drop:5%,dup:5%,reorder:5%,corrupt:5%,seed:1
export BCL_STATS=on BCL_LOG=warn,stats
mpi 4 /node /cpi
mpi 2 /node /order 2
/bcl-ctl faults all off
kill $other
rmmod bcl
RUN
vm_boot "$scratch/guest" "$image" "$scratch/console" 280 -cpu max || exit
tr -d '\r' <"$scratch/console" | grep -a -e '^pi is' -e '^ours: '
grep -aq ' card.retransmitted ' "$scratch/console"
[[ $(grep -ac '^pi is approximately 3.14159' "$scratch/console") == 2 ]]
