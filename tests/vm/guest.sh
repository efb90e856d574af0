# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Guests for tests of kernel code: a kernel of the distribution, emulated, with
# an initial file system that a test fills. To be sourced. A guest needs neither
# privileges nor network, and cannot harm the host.

# vm_skip WORD...: the test cannot run here
vm_skip() {
	echo "skipped: $*" >&2
	exit 77
}

# vm_begin: make the scratch directory of a test, and set $headers and $image, of the
# kernel for its guests
vm_begin() {
	[[ $(uname -m) == x86_64 ]] || vm_skip 'guests are x86 machines'
	headers=$(vm_headers)
	image=$(vm_kernel "$headers")
	unset MAKEFLAGS MFLAGS MAKELEVEL # of the make that runs the tests
	scratch=$(mktemp -d)
	trap 'rm -rf "$scratch"' EXIT
	cd "${abs_top_srcdir:?}" || return
}

# vm_headers: print the headers of the kernel for guests: KDIR, or the newest that
# are installed
vm_headers() {
	local found
	found=${KDIR:-$(compgen -G '/usr/src/linux-headers-*/Module.symvers' |
		sort -V | tail -n 1 || true)}
	[[ $found ]] || vm_skip 'no headers of a kernel'
	echo "${found%/Module.symvers}"
}

# vm_kernel HEADERS: print the image of the kernel that has these headers
vm_kernel() {
	local version=${1##*/linux-headers-}
	vm_of_kernel "$version" "boot/vmlinuz-$version" ''
}

# vm_loadable HEADERS NAME: print the file of a module of the distribution for the
# kernel that has these headers
vm_loadable() {
	local version=${1##*/linux-headers-}
	vm_of_kernel "$version" "lib/modules/$version" "$2.ko"
}

# vm_of_kernel VERSION PLACE NAME: print the path of PLACE, or of the file NAME below
# it, which the package of this kernel has. If the package is not installed, it is
# downloaded, and what guests may need is kept. Tests that run at the same time take
# turns.
vm_of_kernel() {
	local version=$1 place=$2 name=$3 keep=${abs_top_builddir:?}/tests/vm/kernel
	local drivers=./lib/modules/$version/kernel found
	mkdir -p "$keep"
	(
		flock 9
		found=$(vm_find "$place" "$name" / "$keep/")
		if [[ ! $found ]]; then
			cd "$keep"
			apt-get -qq download "linux-image-$version" &&
				dpkg-deb --fsys-tarfile linux-image-"$version"_*.deb |
				tar -x "./boot/vmlinuz-$version" \
					"$drivers"/{drivers/{net,virtio},fs/fuse,net/{core,sched}} &&
				rm -f linux-image-*.deb
		fi
	) 9>"$keep/lock" >&2 || true
	found=$(vm_find "$place" "$name" / "$keep/")
	[[ $found ]] || vm_skip "no ${name:-image} of kernel $version"
	echo "$found"
}

# vm_find PLACE NAME ROOT...: print the first that can be read
vm_find() {
	local place=$1 name=$2 root file
	for root in "${@:3}"; do
		for file in $(find "$root$place" -name "${name:-*}" 2>/dev/null); do
			[[ ! -r $file ]] || { echo "$file"; return; }
		done
	done
}

# vm_modules HEADERS DIR: build the modules of DIR/Kbuild with all warnings, of which
# there must be none, and let sparse, which has less predefined than a compiler, read
# their sources
vm_modules() {
	local headers=$1 dir=$2
	make -s -C "$headers" M="$dir" W=1 C=1 CF=-D__GCC_ATOMIC_INT_LOCK_FREE=2 \
		CONFIG_DEBUG_INFO_BTF_MODULES= -j"$(nproc)" modules \
		>"$dir/said" 2>&1 || { cat "$dir/said"; return 1; }
	# The kernel was built by another compiler, perhaps.
	! grep -v -e '^warning: the compiler differs' -e '^  The kernel was built by' \
		-e '^  You are using' "$dir/said"
}

# vm_bcl: put bcl.ko into $scratch. It is built from copies, as the tree may be
# read-only, once for all tests, which take turns. After a failure nothing is kept, as
# warnings come only once.
vm_bcl() {
	local place=${abs_top_builddir:?}/tests/vm/kernel/source
	mkdir -p "$place"
	(
		flock 9
		cp -ru kmod nicfw card include base "$place/"
		vm_modules "$headers" "$place/kmod" || { rm -rf "$place"; exit 1; }
		cp "$place/kmod/bcl.ko" "$scratch/"
	) 9>"$place.lock"
}

# vm_root DIR: begin the initial file system of a guest; its /init runs /run and
# says with what status /run ended. Any kernel can reboot, which ends the emulator.
vm_root() {
	mkdir -p "$1"/{bin,dev,proc,sys,tmp}
	cp "$(command -v busybox)" "$1/bin/busybox"
	cat >"$1/init" <<-'INIT'
		#!/bin/busybox sh
		/bin/busybox --install -s /bin
		mount -t devtmpfs none /dev
		mount -t proc none /proc
		mount -t sysfs none /sys
		echo 'guest is up'
		sh /run
		echo "guest ends with $?"
		reboot -f
	INIT
	chmod +x "$1/init"
}

# vm_program ROOT PROGRAM: add a program, with its libraries, to the initial file
# system of a guest. The loader finds the libraries wherever they were.
vm_program() {
	local at=$1/lib/x86_64-linux-gnu library
	mkdir -p "$at" "$1/lib64"
	cp "$2" "$1/"
	ldd "$2" | grep -o '/[^ ]*' | while read -r library; do
		[[ $library != /lib64/* ]] || cp -L "$library" "$1/lib64/"
		cp -L "$library" "$at/"
	done
}

# vm_nodes ROOT: put bcl.ko into the initial file system of a guest, and /nodes, which
# /run sources: it loads bcl.ko and makes a second node, a namespace that an Ethernet
# connects. $other is a process there.
vm_nodes() {
	local veth
	veth=$(vm_loadable "$headers" veth)
	vm_bcl
	gcc -O1 -Wall -Wextra -Werror -static -Iinclude -o "$1/veth-test" tests/vm/veth.c
	cp "$scratch/bcl.ko" "$veth" "$1/"
	cat >"$1/nodes" <<-'NODES'
		mkdir -p /dev/shm
		mount -t tmpfs none /dev/shm
		insmod /veth.ko
		insmod /bcl.ko
		ifconfig lo up
		/veth-test veth0 veth1
		unshare -n -u sleep 1000 &
		other=$!
		sleep 1
		ip link set veth1 netns $other
		ifconfig veth0 10.0.0.1 up
		nsenter -t $other -n ifconfig veth1 10.0.0.2 up
		nsenter -t $other -u hostname other
		ulimit -l unlimited
	NODES
}

# vm_network ROOT NUMBER: put bcl.ko and the drivers of a network card into the initial
# file system of a guest, which is host NUMBER of a small network, and /network, which
# /run sources. Other hosts may start programs there (/rsh). unpinned, after the last
# card, fails if a page is pinned still.
vm_network() {
	local root=$1 name
	local -a drivers=(virtio_ring virtio virtio_pci_modern_dev virtio_pci_legacy_dev
		virtio_pci failover net_failover virtio_net)
	vm_bcl
	cp "$scratch/bcl.ko" "$root/"
	for name in "${drivers[@]}"; do
		cp "$(vm_loadable "$headers" "$name")" "$root/"
	done
	cat >"$root/network" <<-NETWORK
		mkdir -p /dev/shm
		mount -t tmpfs none /dev/shm
		for driver in ${drivers[*]} bcl; do insmod /\$driver.ko; done
		hostname guest$2
		ifconfig lo up
		ifconfig eth0 10.0.0.$2 up
		ulimit -l unlimited
		nc -ll -p 514 -e /bin/sh &
		unpinned() {
			echo 1 >/proc/sys/vm/stat_refresh
			set -- \$(sed -n 's/^nr_foll_pin_[ar].* //p' /proc/vmstat)
			echo "pins: \$1 made, \$2 released"
			[ "\$1" = "\$2" ]
		}
	NETWORK
	cat >"$root/rsh" <<-'RSH'
		#!/bin/sh
		while [ "${1#-}" != "$1" ]; do shift; done
		host=$1
		shift
		echo "exec $*" | nc "$host" 514
	RSH
	chmod +x "$root/rsh"
}

# vm_card NUMBER: set $card to the arguments of the emulator for the network card of
# host NUMBER, with its sockets (tests/vm/wire.c)
vm_card() {
	local end=$scratch/$1
	card=(-netdev "dgram,id=wire,local.type=unix,local.path=$end.card,$(
	)remote.type=unix,remote.path=$end.wire"
		-device "virtio-net-pci,netdev=wire,mac=52:54:00:00:00:0$1,romfile=")
}

# vm_host NUMBER SECONDS: boot $scratch/guestNUMBER, whose root vm_network made, in the
# background
vm_host() {
	vm_card "$1"
	vm_pack "$scratch/guest$1" "$scratch/console$1"
	vm_emulate "$image" "$scratch/console$1" "$2" -cpu max "${card[@]}" &
}

# vm_wire HOSTS PERCENT SEED: join the hosts 1 to HOSTS, in the background. The wire loses,
# doubles, reorders and corrupts so many frames each. Sets $wire, to be killed.
vm_wire() {
	local -a hosts
	gcc -O1 -Wall -Wextra -Werror -Iinclude -I. -o "$scratch/wire" tests/vm/wire.c
	rm -f "$scratch"/?.wire
	mapfile -t hosts < <(seq "$1")
	"$scratch/wire" "$2" "$3" "${hosts[@]/#/$scratch/}" &
	wire=$!
}

# vm_lent ROOT: let a host do only what other hosts start on it, until one of them
# makes /over there
vm_lent() {
	cat >"$1/run" <<-'RUN'
		set -e
		. /network
		while [ ! -e /over ]; do sleep 1; done
		rmmod bcl
		unpinned
	RUN
}

# vm_hosts HOSTS SECONDS PERCENT SEED: run so many hosts, and the commands of standard
# input in the first, which may start programs on the others
vm_hosts() {
	local host others
	local -a running
	others=$(seq -s ' ' -f '10.0.0.%g' 2 "$1")
	{
		printf '%s\n' 'set -e' '. /network' "for host in $others; do" \
			'until echo true | nc $host 514; do sleep 1; done' 'done'
		cat
		printf '%s\n' "for host in $others; do" \
			"echo 'touch /over' | nc \$host 514" 'done' 'rmmod bcl' 'unpinned'
	} >"$scratch/guest1/run"
	vm_wire "$1" "$3" "$4"
	for ((host = $1; host > 0; host--)); do
		((host == 1)) || vm_lent "$scratch/guest$host"
		vm_host $host "$2"
		running[host]=$!
	done
	for ((host = 1; host <= $1; host++)); do
		wait "${running[host]}"
		vm_verdict "$scratch/console$host"
	done
	kill $wire
	wait $wire
}

# vm_boot ROOT IMAGE CONSOLE SECONDS [ARGUMENT...]: run a guest to its end, with
# these further arguments of the emulator, and $vm_append for the kernel. Fails if
# /run failed, if the kernel had anything to complain of, or if the time is over. A
# guest that did not come up, on a host with too much to do, is started once more.
vm_append=slub_debug=FZPU
vm_boot() {
	local root=$1 image=$2 console=$3 seconds=$4 attempt
	shift 4
	vm_pack "$root" "$console"
	for attempt in 1 2; do
		(vm_emulate "$image" "$console" "$seconds" "$@") || true
		! grep -q '^guest is up' "$console" || break
		echo "attempt $attempt: the guest did not come up"
	done
	rm -f "$console.root"
	vm_verdict "$console"
}

# vm_pack ROOT CONSOLE: make the initial file system for vm_emulate
vm_pack() {
	(cd "$1" && find . | cpio --quiet -o -H newc | gzip -1) >"$2.root"
}

# vm_emulate IMAGE CONSOLE SECONDS [ARGUMENT...]: become the emulator of a guest, whose
# end by SIGTERM is a loss of power
vm_emulate() {
	local image=$1 console=$2 seconds=$3
	shift 3
	exec timeout "$seconds" qemu-system-x86_64 -nodefaults -no-user-config \
		-display none -no-reboot -M q35 -accel tcg -cpu qemu64 -smp 1 -m 640 \
		-kernel "$image" -initrd "$console.root" -serial "file:$console" \
		-append "console=ttyS0 panic=-1 no_timer_check $vm_append" "$@" </dev/null
}

# vm_verdict CONSOLE: fail if the kernel had anything to complain of, or if /run failed
vm_verdict() {
	vm_no_complaint "$1" && grep -q '^guest ends with 0' "$1" || {
		tail -n 40 "$1"
		return 1
	}
}

# vm_no_complaint CONSOLE: fail if the kernel had anything to complain of
vm_no_complaint() {
	! grep -aE 'BUG|WARNING:|Oops|general protection|Call Trace|stall|Out of memory' "$1" &&
		! grep -a 'unregister_netdevice: waiting' "$1"
}
