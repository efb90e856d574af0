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
veth=$(vm_loadable "$headers" veth)
source=${MPICH_SOURCE:-${abs_top_builddir:?}/mpich/source}

vm_bcl
vm_root "$scratch/guest"
gcc -O1 -static -Iinclude -o "$scratch/guest/veth-test" tests/vm/veth.c
cp "$scratch/bcl.ko" "$veth" "$scratch/guest/"
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
mkdir -p /dev/shm
mount -t tmpfs none /dev/shm
insmod /veth.ko
insmod /bcl.ko
ifconfig lo up
/veth-test veth0 veth1
unshare -n -u sleep 1000 &
export OTHER=$!
sleep 1
ip link set veth1 netns $OTHER
ifconfig veth0 10.0.0.1 up
nsenter -t $OTHER -n ifconfig veth1 10.0.0.2 up
nsenter -t $OTHER -u hostname other
ulimit -l unlimited
export BCL_CARD=kernel
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
kill $OTHER
rmmod bcl
RUN
vm_boot "$scratch/guest" "$image" "$scratch/console" 280 -cpu max || exit
tr -d '\r' <"$scratch/console" | grep -a -e '^pi is' -e '^ours: '
grep -aq ' card.retransmitted ' "$scratch/console"
[[ $(grep -ac '^pi is approximately 3.14159' "$scratch/console") == 2 ]]
