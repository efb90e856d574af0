#!/bin/bash
# SPDX-License-Identifier: MIT
# What "make install" puts into DESTDIR suffices to build the README's program
# with pkg-config, against the shared and the static library; the shared one
# exports all that libbcl.map lists. Each function and each program has its page
# beside it, and the tools run from there.
set -euo pipefail
# shellcheck source=tests/conform/installed.bash
. "${abs_top_srcdir:?}/tests/conform/installed.bash"
libdir=${PKG_CONFIG_PATH%/pkgconfig}
sed -n '/^```c$/,/^```$/{//!p}' "${abs_top_srcdir:?}/README.md" \
	>"$scratch/program.c"
cd "$scratch"
read -ra flags < <(pkg-config --cflags --libs bcl)
gcc program.c -o shared "${flags[@]}"
read -ra flags < <(pkg-config --static --cflags --libs bcl)
gcc program.c -o static "${flags[@]/#-lbcl/-l:libbcl.a}"

# The README says why -static is not possible, as long as that is so.
read -ra needed < <(pkg-config --static --libs hwloc pmix)
if gcc -static program.c -o wholly "${flags[@]}" "${needed[@]}" 2>errors; then
	echo 'cc -static works here: README.md and bcl(7) say it does not'
	exit 1
fi
grep -q 'cannot find -ludev' errors

expected='rank 0 of 1'
[[ $(LD_LIBRARY_PATH=$libdir ./shared) == "$expected" ]]
[[ $(./static) == "$expected" ]]

# With PVM's header there is all that a program of PVM needs.
if [[ -x ${abs_top_builddir:?}/pvm-glue/bcl-pvm-check ]]; then
	sed -i "s|^prefix=|prefix=$scratch/root|" "$PKG_CONFIG_PATH/bcl-pvm.pc"
	printf '%s\n' '#include <bcl_pvm.h>' \
		'int main(void) { return pvm_pmcast(0, 0, 1, 0, 0, PVM_BYTE) == 0; }' \
		>task.c
	read -ra flags < <(pkg-config --cflags --libs bcl-pvm)
	gcc task.c -o task "${flags[@]}"
	[[ -x $(pkg-config --variable=glue bcl-pvm) ]]
fi

exported() {
	nm -D --defined-only "$libdir/libbcl.so" |
		sed -n 's/^.* T \(bcl_[a-z0-9_]*\)@.*/\1/p' | sort
}
sed -n 's/^[[:space:]]*\(bcl_[a-z0-9_]*\);$/\1/p' "$abs_top_srcdir/libbcl.map" |
	sort | diff --label libbcl.map --label libbcl.so -u - <(exported)

root=$(dirname "$(find "$scratch/root" -type d -name bin)")
status=0

complain() {
	echo "$*"
	status=1
}

while read -r function; do
	[[ -e $root/share/man/man3/$function.3 ]] ||
		complain "no page of $function() is installed"
done < <(exported)
for program in "$root"/bin/*; do
	[[ -e $root/share/man/man1/${program##*/}.1 ]] ||
		complain "no page of ${program##*/} is installed"
done
[[ -e $root/share/man/man7/bcl.7 ]] || complain 'no page of the variables'
for header in "$abs_top_srcdir"/include/bcl/*.h; do
	case $header in
	*/wire.h|*/card_abi.h|*/card_device.h) ;; # of the library and the card
	*)
		[[ -e $root/include/bcl/${header##*/} ]] ||
			complain "$header is not installed"
		;;
	esac
done
BCL_RAILS=none "$root/bin/bcl-info" >info || complain 'bcl-info does not run'
"$root/bin/bcl-perf" --list >list || complain 'bcl-perf does not run'
grep -q '^inside  *shared memory' info || complain 'bcl-info says nothing'
(($(wc -l <list) > 100)) || complain 'bcl-perf has no figures'
exit $status
