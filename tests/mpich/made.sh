#!/bin/bash
# SPDX-License-Identifier: MIT
# How scripts/mpich goes about it, with sources that are no MPICH but say what
# is done with them: tarball and tree, one that is refused, one instead of
# another, a build that breaks off, and a second call, which does nothing. It says
# each step, and how to use the result, and leaves the rest to a log.
set -euo pipefail
dir=$(mktemp -d)
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
unset MAKEFLAGS MFLAGS MAKELEVEL MPICH_SRC MPICH_CONFIGURE
export record=$dir/record

mkdir -p "$dir"/{bcl/{scripts,adi/mpich,build},'one source','other source'}
cd "$dir"
cp "${abs_top_srcdir:?}/scripts/mpich" bcl/scripts
cp "$abs_top_srcdir/adi/mpich/graft" bcl/adi/mpich
cp "$abs_top_srcdir/GNUmakefile" bcl
touch bcl/build/config.status
cat >bcl/build/Makefile <<'MAKE'
all:
install:
	mkdir -p $(prefix)/lib
	touch $(prefix)/lib/libbcl.la
.PHONY: mpich
mpich:
	../scripts/mpich .
MAKE
# shellcheck disable=SC2016 # theirs
for source in one other; do
	cat >"$source source/configure" <<-'SH'
		#!/bin/bash
		echo "configured $(<"$(dirname "$0")/name")" >>"$record"
		echo 'much talk'
		for word; do
			[[ $word != --prefix=* ]] || prefix=${word#*=}
		done
		printf 'all:\n\ttest ! -e "%s/break"\n' "$(dirname "$record")" >Makefile
		printf 'install:\n\tmkdir -p "%s/lib"\n' "$prefix" >>Makefile
	SH
	chmod +x "$source source/configure"
	echo "$source" >"$source source/name"
done
tar -czf 'one source.tar.gz' 'one source'
chmod -R a-w 'other source'

# does WHAT SOURCE DONE...: the script succeeds, having done that
does() {
	echo "$1" >"$record"
	MPICH_SRC=$2 bcl/scripts/mpich bcl/build >out 2>&1 ||
		{ echo "$1:"; cat out; exit 1; }
	diff "$record" <(printf '%s\n' "$1" "${@:3}") || { echo "so: $1"; exit 1; }
	grep -q 'much talk' out && { cat out; exit 1; }
	grep -qx "Compile with  $dir/bcl/build/mpich/install/bin/mpicc" out
	grep -qx "and run with  $dir/bcl/build/mpich/install/bin/mpiexec" out
}

# said STEP...: of the last call
said() {
	diff <(printf '%s\n' "$@") <(sed -n 's/  *[0-9]* s$//p' out)
}

# refuses WHAT SOURCE SAYING
refuses() {
	if MPICH_SRC=$2 bcl/scripts/mpich bcl/build >out 2>&1 ||
		! grep -q "$3" out; then
		echo "$1:"
		cat out
		exit 1
	fi
}

refuses 'what is not there' nothing 'nothing is not there'
refuses 'another tree' 'other source' 'is not a source tree of MPICH'
refuses 'another tarball' 'one source.tar.gz' 'is not a source tree of MPICH'
cat >bcl/adi/mpich/graft <<'SH'
#!/bin/bash
[[ -w $1/name ]] && echo "grafted $(<"$1/name")" >>"$record"
SH
does 'a tarball' "$dir/one source.tar.gz" 'grafted one' 'configured one'
said 'MPICH is unpacked' 'the channel is grafted' \
	'BCL is built and installed beside it' 'MPICH is configured' \
	'MPICH is built' 'MPICH is installed'
grep -q 'much talk' bcl/build/mpich/log
does 'the second call' "$dir/one source.tar.gz"
said 'BCL is brought up to date'
does 'a tree' 'other source' 'grafted other' 'configured other'
touch break
rm bcl/build/mpich/made-of
refuses 'a build that breaks' 'other source' 'MPICH is built *failed'
rm break
does 'the build goes on' 'other source' 'grafted other' 'configured other'

# named from where make is called
: >"$record"
touch bcl/configure
make -C bcl -f GNUmakefile -o setup-mpich mpich \
	MPICH_SRC='../one source.tar.gz' >out 2>&1 || { cat out; exit 1; }
diff "$record" <(printf '%s\n' 'grafted one' 'configured one')
