#!/bin/bash
# SPDX-License-Identifier: MIT
# A virtual machine of PVM on the cards of two kernels, in two guests. The cards lose,
# double, reorder and corrupt 5 % of their frames each, by a seed (SEED). Whatever tasks
# send one another comes once and in order. PVM's own datagrams pass unharmed: corrupted
# ones spoil messages of stock PVM, too.
set -euo pipefail
# shellcheck source=tests/vm/guest.sh
. "${abs_top_srcdir:?}/tests/vm/guest.sh"
vm_begin
trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$scratch"' EXIT
program=${abs_top_builddir:?}/tests/pvm/traffic
[[ -x $program ]] || vm_skip 'no PVM to build programs with'
seed=${SEED:-$RANDOM}
echo "seed $seed"

for guest in 1 2; do
	root=$scratch/guest$guest
	vm_root "$root"
	vm_network "$root" $guest
	for part in "$program" "$(command -v pvm)" "$(command -v pvmd)" \
		"$abs_top_builddir"/{tools/bcl-ctl,.libs/libbcl-pvm.so}; do
		vm_program "$root" "$part"
	done
	mv "$root"/{pvm,pvmd} "$root/bin/"
	mkdir "$root/etc"
	printf '10.0.0.%d guest%d\n' 1 1 2 2 >"$root/etc/hosts"
	echo 'root:x:0:0::/:/bin/sh' >"$root/etc/passwd"
	echo 'exec 512/tcp' >"$root/etc/services"
done
printf '%s\n' guest1 guest2 >"$scratch/guest1/hosts"
echo "faults=drop:5%,dup:5%,reorder:5%,corrupt:5%,seed:$seed" >"$scratch/guest1/faults"
# as pvmd calls ssh
cat >"$scratch/guest1/pvm-rsh" <<'RSH'
#!/bin/sh
host=$1
shift
settings=$(env | grep -e ^PVM_ -e ^BCL_ -e ^LD_PRELOAD=)
exec /rsh $host env $settings sh -c "'$*'"
RSH
chmod +x "$scratch/guest1/pvm-rsh"

vm_hosts 2 280 0 "$seed" <<'RUN'
. /faults
/rsh 10.0.0.2 /bcl-ctl faults all "$faults"
/bcl-ctl faults all "$faults"
export PVM_ROOT=/ PVM_ALLOW_ROOT=1 PVM_RSH=/pvm-rsh PVM_PATH=/
export BCL_CARD=kernel LD_PRELOAD=/libbcl-pvm.so
console() {
	echo "$1" | env -u LD_PRELOAD pvm
}
pvmd /hosts </dev/null &
until [ -s /tmp/pvmd.0 ]; do sleep 1; done
until console conf | grep '^ *2 host'; do sleep 1; done
BCL_STATS=1 timeout -s KILL 200 /traffic 4 60 2>said || {
	cat said /tmp/pvml.0
	exit 1
}
for counter in delivered retransmitted; do
	grep "stats: *[1-9][0-9]* card.*$counter" said
done
console halt || true
wait $!
RUN
grep -a ' rounds: ' "$scratch/console1"
