#!/bin/bash
# SPDX-License-Identifier: MIT
# Sixteen processes of four jobs use the cards of a kernel at once, in a guest with two
# nodes. One job's processes are killed, a process of another one is frozen, and a
# third one's user has taken all that the limits permit: a fourth job neither notices
# nor waits, and the two that live go on to a right end. In the long tier a guest that
# counts instructions then tells what four jobs at once take beside four one by one.
set -euo pipefail
# shellcheck source=tests/vm/guest.sh
. "${abs_top_srcdir:?}/tests/vm/guest.sh"
vm_begin

vm_root "$scratch/guest"
vm_nodes "$scratch/guest"
gcc -O1 -Wall -Wextra -Werror -static -Iinclude -o "$scratch/guest/greedy" tests/vm/greedy.c
for program in tests/vm/ranks tests/cluster/job; do
	vm_program "$scratch/guest" "${abs_top_builddir:?}/$program"
done
mkdir "$scratch/guest/etc"
id=1000
for user in calm killed frozen greedy; do
	echo "$user:x:$((id++)):0::/:/bin/sh" >>"$scratch/guest/etc/passwd"
done
cat >"$scratch/guest/jobs" <<'JOBS'
. /nodes
chmod 777 /tmp
export BCL_CARD=kernel JOB_LONGEST=100000

# job USER RAILS: four ranks of a user, in turn on both nodes
job() {
	BCL_RAILS=$2 timeout -s KILL 200 /ranks 4 $other \
		/bin/busybox su "$1" -c "exec /job +card.frames_sent -udp.sendmsg"
}
JOBS
cat >"$scratch/guest/run" <<'RUN'
set -e
. /jobs

# begin USER RAILS: in the background, until /tmp/end is there
begin() {
	{
		JOB_UNTIL=/tmp/end job "$1" "$2" >"/tmp/$1.said" 2>&1 && echo 0 || echo 1
	} >"/tmp/$1.status" &
	begun="$begun $!"
}

# ranks USER...: print the processes of these users' jobs
ranks() {
	ps -o user,pid,comm | while read -r user process name; do
		case " $* " in *" $user "*)
			if [ "$name" = job ]; then echo $process; fi
		esac
	done
}

# calm RAILS WHAT: a whole job begins and ends while the others are as they are
calm() {
	job calm "$1"
	echo "crowd: $2: $(ranks killed frozen greedy | wc -l) ranks beside"
}

cd /sys/module/bcl/parameters
echo 8 >user_cards
echo 32 >user_ports
echo 1000 >user_memories
cd /
begin killed udp
begin frozen packet
begin greedy udp
while [ "$(ranks killed frozen greedy | wc -l)" != 12 ]; do sleep 1; done
calm packet 'all work'
su greedy -c 'exec /greedy veth0' &
while [ ! -e /tmp/taken ]; do sleep 1; done
frozen=$(ranks frozen | sed -n 1p)
kill -STOP $frozen
calm udp 'a frozen process, and a user at the limits'
kill -9 $(ranks killed | sed -n 1p)
calm packet 'a process is killed'
kill -9 $(ranks killed) || true
kill -CONT $frozen
touch /tmp/end
killall -9 greedy
wait $begun
tail -n 3 /tmp/*.said
grep -H . /tmp/*.status
[ "$(cat /tmp/killed.status /tmp/frozen.status /tmp/greedy.status)" = "$(printf '1\n0\n0')" ]
kill $other
rmmod bcl
RUN
vm_boot "$scratch/guest" "$image" "$scratch/console" 280 -cpu max -smp 2 || exit
grep -a '^crowd: ' "$scratch/console"
[[ ${LONG-} ]] || exit 0

cat >"$scratch/guest/run" <<'RUN'
set -e
. /jobs
# in hundredths of a second, each of ten million instructions
now() {
	cut -d ' ' -f 1 /proc/uptime | tr -d .
}
users='calm killed frozen greedy'
for rails in packet udp; do
	began=$(now)
	for user in $users; do job $user $rails; done
	one=$(($(now) - began))
	began=$(now)
	begun=
	for user in $users; do
		job $user $rails &
		begun="$begun $!"
	done
	for process in $begun; do wait $process; done
	together=$(($(now) - began))
	echo "crowd: $rails: four jobs one by one $one, at once $together"
	[ $((together * 100)) -lt $((one * 110)) ]
done
kill $other
rmmod bcl
RUN
vm_append='tsc=reliable clocksource=tsc'
vm_boot "$scratch/guest" "$image" "$scratch/console" 280 -cpu max \
	-icount shift=0,align=off,sleep=off || exit
grep -a '^crowd: ' "$scratch/console"
