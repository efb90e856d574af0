#!/bin/bash
# SPDX-License-Identifier: MIT
# Jobs that Slurm starts on two nodes: by its PMI, which knows PMI-1, by PMIx, and
# by Hydra within an allocation. All of Slurm ends with the namespaces.
set -euo pipefail
if [[ ${1-} != inside ]]; then
	export PATH=${abs_top_srcdir:?}/scripts:$PATH:/usr/sbin
	export job=${abs_top_builddir:?}/tests/cluster/job
	for program in slurmctld slurmd srun salloc mpiexec.hydra; do
		command -v $program >/dev/null && continue
		echo "no $program here"
		exit 77
	done
	cluster run -r true || exit $?
	scratch=$(mktemp -d)
	trap 'rm -r "$scratch"' EXIT
	export scratch SLURM_CONF=$scratch/slurm.conf
	timeout 150 cluster run bash "$0" inside
	exit
fi

# Nobody else is in these namespaces: no keys.
cat >"$SLURM_CONF" <<END
ClusterName=test
SlurmctldHost=node0
SlurmUser=root
SlurmdUser=root
AuthType=auth/none
CredType=cred/none
MailProg=/bin/true
MpiDefault=none
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SlurmdParameters=config_overrides
StateSaveLocation=$scratch/state
SlurmdSpoolDir=$scratch/%n
SlurmctldPidFile=$scratch/slurmctld.pid
SlurmdPidFile=$scratch/%n.pid
SlurmctldLogFile=$scratch/slurmctld.log
SlurmdLogFile=$scratch/%n.log
NodeName=node[0-1] CPUs=2 State=UNKNOWN
PartitionName=all Nodes=ALL Default=YES State=UP
END
# No control groups are used; slurmd looks which there are even so.
echo CgroupPlugin=cgroup/v1 >"$scratch/cgroup.conf"
# The nodes share /tmp.
echo PMIxCliTmpDirBase=/dev/shm >"$scratch/mpi.conf"
mkdir "$scratch"/{state,node0,node1}
cluster on 0 slurmctld -D >"$scratch/said" 2>&1 &
for node in 0 1; do
	cluster on $node slurmd -D -N node$node >>"$scratch/said" 2>&1 &
done
for ((try = 0; try < 400; try++)); do
	[[ $(cluster on 0 sinfo -h -t idle -o %D 2>>"$scratch/said") != 2 ]] ||
		break
	sleep 0.1
done
((try < 400)) || { tail -n 20 "$scratch"/said "$scratch"/*.log; exit 1; }

# Two ranks inside each node, and both nodes
job() {
	echo "$*"
	cluster on 0 timeout 40 "$@" "$job" +shm.messages_line \
		+core.peers_shared +udp.sendmsg | tee "$scratch/says"
	grep -q '^job: 4 ranks$' "$scratch/says"
}
plugins=$(cluster on 0 srun --mpi=list)
tried=0
for plugin in pmi2 pmix; do
	grep -qw $plugin <<<"$plugins" || continue
	[[ $plugin != pmix ]] ||
		grep -q 'define HAVE_PMIX 1' "$abs_top_builddir/config.h" ||
		continue
	job srun --mpi=$plugin -N 2 -n 4
	tried=$((tried + 1))
done
((tried)) || { echo "this srun has neither: $plugins"; exit 77; }
job salloc -Q -N 2 -n 4 mpiexec.hydra -n 4
