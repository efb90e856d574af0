#!/bin/bash
# SPDX-License-Identifier: MIT
# What places the channel in a tree of MPICH takes it out again, so that the tree
# is the tarball's, file for file, and in again, with the same result; it refuses
# what it does not know, as does the configure that comes of it. MPICH that has
# been built is not built again.
set -euo pipefail
# shellcheck source=tests/mpich/program.sh
. "${abs_top_srcdir:?}/tests/mpich/program.sh"
graft=$abs_top_srcdir/adi/mpich/graft
mpich=${abs_top_builddir:?}/mpich
tarball=${MPICH_SRC:-$(compgen -G "$mpich/mpich_*.orig.tar.*" || true)}
[[ -f $tarball && -d $mpich/source ]] || {
	echo 'MPICH was not built from a tarball'
	exit 77
}

# refuses WHAT PATTERN: with the arguments behind
refuses() {
	local said
	if said=$("$graft" "${@:3}" 2>&1); then
		echo "$1 is not refused"
		exit 1
	fi
	[[ $said =~ $2 ]] || { echo "$1: $said"; exit 1; }
}

mkdir -p "$dir"/{empty,other/maint,other/src/mpid/ch3/channels}
touch "$dir/other/src/mpid/ch3/channels/Makefile.mk"
echo 'm4_define([MPICH_VERSION_m4],[5.1.3])dnl' >"$dir/other/maint/version.m4"
refuses 'another directory' 'is not a source tree of MPICH' "$dir/empty"
refuses 'another version' 'MPICH 5\.1\.3: .* for 4\.0\.x' "$dir/other"

names=$(tar -tf "$tarball" | sed 's,/$,,' | sort)
tree=$dir/${names%%[/$'\n']*}
cp -a "$mpich/source" "$tree"
"$graft" --undo "$tree"
refuses 'undoing twice' 'has no graft' --undo "$tree"
tar -df "$tarball" -C "$dir" | grep -v '[UG]id differs' && exit 1
diff <(echo "$names") <(cd "$dir" && find "${tree##*/}" | sort)
mkdir "$tree/.bcl-graft" # as one leaves it that broke off at its beginning
"$graft" "$tree"
for generated in configure Makefile.in; do
	cmp "$mpich/source/$generated" "$tree/$generated"
done

# configured PATTERN WORD...: MPICH's configure refuses that
configured() {
	mkdir "$dir/configured"
	if (cd "$dir/configured" && "$tree/configure" "${@:2}") >"$dir/said" 2>&1
	then
		echo "not refused: ${*:2}"
		exit 1
	fi
	grep -q "error: .*$1" "$dir/said" || { tail "$dir/said"; exit 1; }
	rm -r "$dir/configured"
}

configured 'ch3:bcl has no options' --with-device=ch3:bcl:shm
configured 'BCL is not installed in /nowhere' --with-device=ch3:bcl \
	--with-bcl=/nowhere

# made-of begins with the source, if there was one, what was configured, and the
# device.
unset MAKEFLAGS MFLAGS MAKELEVEL
IFS= read -r built <"$mpich/made-of"
MPICH_CONFIGURE=${built#"${MPICH_SRC-}"}
MPICH_CONFIGURE=${MPICH_CONFIGURE% *}
export MPICH_CONFIGURE=${MPICH_CONFIGURE# }
touch "$dir/now"
"$abs_top_srcdir/scripts/mpich" "$abs_top_builddir"
again=$(cd "$mpich" && find build install source -newer "$dir/now")
[[ ! $again ]] || { echo "built again: $again"; exit 1; }
