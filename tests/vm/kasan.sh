#!/bin/bash
# SPDX-License-Identifier: MIT
# The kernel module under a kernel that watches each access to memory (KASAN), the order
# of locks (lockdep), sleep where none may be, lost memory (kmemleak), and timers and
# work that outlive their memory. Allocations fail: each one of each call of the device
# once, then some of the packets under messages. Then hostile processes come (SEED).
#
# The distribution has no such kernel, so the test builds one of the distribution's
# source, once, in the build directory. That takes 140 MB from the network, 1.6 GB of
# disk and 16 minutes of a processor. The test itself takes four minutes.
set -euo pipefail
# shellcheck source=tests/vm/guest.sh
. "${abs_top_srcdir:?}/tests/vm/guest.sh"
vm_begin
place=${abs_top_builddir:?}/tests/vm/kernel/kasan
source=$place/linux
[[ $headers =~ headers-([0-9]+\.[0-9]+) ]] || vm_skip "$headers is of no known version"
package=linux-source-${BASH_REMATCH[1]}
seed=${SEED:-$RANDOM}
echo "seed $seed"

# All that is in the kernel: what guests and the module need, and checks.
parts=(64BIT SMP PREEMPT X86_MPPARSE PRINTK TTY SERIAL_8250 SERIAL_8250_CONSOLE
	BLK_DEV_INITRD RD_GZIP BINFMT_ELF BINFMT_SCRIPT MODULES MODULE_UNLOAD KALLSYMS BUG
	HIGH_RES_TIMERS PROC_FS PROC_SYSCTL PROC_PAGE_MONITOR SYSFS TMPFS SHMEM DEVTMPFS
	MULTIUSER FUTEX EPOLL EVENTFD POSIX_TIMERS MEMFD_CREATE ADVISE_SYSCALLS MEMBARRIER
	FILE_LOCKING NAMESPACES UTS_NS NET_NS PID_NS USER_NS CROSS_MEMORY_ATTACH
	TRANSPARENT_HUGEPAGE VM_EVENT_COUNTERS SECCOMP NET INET IPV6 UNIX PACKET NETDEVICES
	NET_CORE VETH LIBCRC32C CC_OPTIMIZE_FOR_PERFORMANCE UNWINDER_FRAME_POINTER
	DEBUG_KERNEL KASAN KASAN_GENERIC KASAN_INLINE KASAN_STACK KASAN_VMALLOC SLUB_DEBUG
	SLUB_DEBUG_ON PROVE_LOCKING DEBUG_ATOMIC_SLEEP DEBUG_PREEMPT DEBUG_LIST DEBUG_VM
	DEBUG_OBJECTS DEBUG_OBJECTS_TIMERS DEBUG_OBJECTS_WORK DEBUG_OBJECTS_FREE
	DEBUG_OBJECTS_RCU_HEAD DEBUG_KMEMLEAK DEBUG_FS FAULT_INJECTION
	FAULT_INJECTION_DEBUG_FS FAILSLAB FAIL_PAGE_ALLOC EXPERT VIRTUALIZATION)

# fetch: unpack the source of the kernel
fetch() {
	cd "$place"
	apt-get -qq download "$package" || return
	dpkg-deb --fsys-tarfile "$package"_*.deb |
		tar -xO "./usr/src/$package.tar.xz" | tar -xJ
	mv "$package" linux
	rm "$package"_*.deb
}

# build TARGET...: make a part of the kernel
build() {
	nice make -s -C "$source" ARCH=x86_64 -j"$(nproc)" "$@"
}

# configure: KVM, of which nothing is built, has the kernel tell of changed mappings
configure() {
	printf 'CONFIG_%s=y\n' "${parts[@]}" >"$scratch/parts"
	echo CONFIG_KVM=m >>"$scratch/parts"
	build KCONFIG_ALLCONFIG="$scratch/parts" allnoconfig
	local part
	for part in "${parts[@]}"; do
		grep -q "^CONFIG_$part=y" "$source/.config" ||
			{ echo "the kernel has no $part"; return 1; }
	done
}

mkdir -p "$place"
(
	flock 9
	[[ -d $source ]] || fetch || vm_skip "no $package"
	configure
	build bzImage modules_prepare
	cp "$source/vmlinux.symvers" "$source/Module.symvers"
) >"$scratch/built" 2>&1 9>"$place/lock" || {
	status=$?
	tail -n 20 "$scratch/built"
	exit "$status"
}
cp -r kmod nicfw card include base "$scratch/"
build M="$scratch/kmod" modules

vm_root "$scratch/guest"
for program in admin cache copy fail hostile kmod limits unmap veth; do
	gcc -O1 -Wall -Wextra -Werror -static -Iinclude -I. -o "$scratch/guest/$program-test" \
		"tests/vm/$program.c"
done
cp "$scratch/kmod/bcl.ko" "$scratch/guest/"
vm_program "$scratch/guest" "$abs_top_builddir/tools/bcl-ctl"
cat >"$scratch/guest/run" <<RUN
set -e
mount -t debugfs none /sys/kernel/debug
debug=/sys/kernel/debug
insmod /bcl.ko
ifconfig lo mtu 1500 up

for file in \$debug/fail*/ignore-gfp-* \$debug/fail*/verbose \$debug/fail*/min-order; do
	echo 0 >\$file
done
# limit CARDS PORTS MEMORIES PAGES: of a user; what a failed call leaves is over them
limit() {
	(
		cd /sys/module/bcl/parameters
		echo \$1 >user_cards
		echo \$2 >user_ports
		echo \$3 >user_memories
		echo \$4 >user_pages
	)
}
# The kernel warns of each page that is missing, in many lines.
dmesg -n 4
limit 3 3 2 24
/fail-test lo
/fail-test lo udp4
limit 256 1024 65536 4294967295
# of packets: see slub_debug
echo 1 >\$debug/failslab/cache-filter
echo 1000000000 >\$debug/failslab/times
echo 3 >\$debug/failslab/probability
/kmod-test lo lo messages
echo 0 >\$debug/failslab/probability
dmesg -n 8
if dmesg | grep -e BUG -e WARNING: -e INFO:; then exit 1; fi

/kmod-test lo lo
/kmod-test lo lo udp4 pcrc
/kmod-test lo lo udp6 messages
/limits-test lo
/copy-test lo
/admin-test /bcl-ctl lo
/veth-test veth0 veth1
ifconfig veth0 mtu 9000 up
ifconfig veth1 mtu 9000 up
/hostile-test veth0 veth1 5 $seed
/unmap-test veth0 veth1
/cache-test veth0 veth1
/kmod-test veth0 veth1 remove

# Memory counts as lost if nobody has known it for some seconds.
for time in 1 2; do
	sleep 6
	echo scan >\$debug/kmemleak
done
if grep -B 12 bcl \$debug/kmemleak; then exit 1; fi
rmmod bcl
grep 'debug_locks: *1' /proc/lockdep_stats
RUN
vm_append='log_buf_len=16M slub_debug=-;A,skbuff_head_cache'
vm_boot "$scratch/guest" "$source/arch/x86/boot/bzImage" "$scratch/console" 580 \
	-smp 2 -m 1024 || exit
grep -a -e 'checks passed' -e '^fail: ' "$scratch/console"
grep -aq 'not sent [1-9]' "$scratch/console"
