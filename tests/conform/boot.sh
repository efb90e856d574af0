#!/bin/bash
# SPDX-License-Identifier: MIT
# Jobs started by the launchers there are.
set -euo pipefail
rank=${abs_top_builddir:?}/tests/conform/boot-rank
launchers=0

# job KIND SIZE LOCAL COMMAND...: all ranks say what is expected.
job() {
	local kind=$1 size=$2 here=$3 i
	shift 3
	diff -u --label "expected of $1" --label "$1" \
		<(for ((i = 0; i < size; i++)); do
			echo "$kind $i of $size, $here here"
		done) \
		<(timeout 60 "$@" | sort -k 2n)
	launchers=$((launchers + 1))
}

unset PMI_FD PMI_PORT PMIX_RANK BCL_BOOT
job single 1 1 "$rank"
for mpiexec in mpiexec.hydra mpiexec.mpich; do
	command -v $mpiexec >/dev/null || continue
	job pmi 1 1 $mpiexec -n 1 "$rank"
	job pmi 5 5 $mpiexec -n 5 "$rank"
	job pmi 3 3 $mpiexec -pmi-port -n 3 "$rank"
	break
done
if command -v mpirun.openmpi >/dev/null &&
	grep -q 'define HAVE_PMIX 1' "$abs_top_builddir/config.h"; then
	export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
	job pmix 1 1 mpirun.openmpi -n 1 "$rank"
	job pmix 5 5 mpirun.openmpi --oversubscribe -n 5 "$rank"
fi
if ((launchers == 1)); then
	echo 'neither mpiexec (mpich) nor mpirun (openmpi-bin) is installed'
	exit 77
fi
