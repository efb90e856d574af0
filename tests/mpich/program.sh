# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# For scripts that run programs of their own on MPICH as scripts/mpich has built
# it (MPICH_PREFIX: another): its programs in PATH, and a scratch directory.
PATH=${MPICH_PREFIX:-${abs_top_builddir:?}/mpich/install}/bin:$PATH
[[ -x ${PATH%%:*}/mpicc ]] || { echo 'no MPICH: make mpich'; exit 77; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
