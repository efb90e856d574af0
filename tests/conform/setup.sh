#!/bin/bash
# SPDX-License-Identifier: MIT
# "make demo" on a machine that lacks packages: without root it prints the
# command that installs them and stops; root, or who may use sudo, gets them.
# What is asked of the system answers here from a script.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export SAID=$work/said PATH=$work/bin:$PATH
unset MAKEFLAGS MFLAGS MAKELEVEL
# The tree may lie where another user cannot go.
mkdir -m 777 "$work"/{bin,tree}
mkdir "$work/tree/scripts"
cp "${abs_top_srcdir:?}"/scripts/{setup,packages} "$work/tree/scripts"
cp "$abs_top_srcdir/GNUmakefile" "$work/tree"
chmod -R a+rX "$work"
install -m 666 /dev/null "$SAID"

# tool DIRECTORY NAME: a script, from standard input
tool() {
	{ echo '#!/bin/bash'; cat; } >"$work/$1/$2"
	chmod a+rx "$work/$1/$2"
}
# shellcheck disable=SC2016 # for the tools
{
	tool bin dpkg-query <<<'[[ " $LACKS " != *" ${*: -1} "* ]] && printf installed'
	tool bin apt-get <<<'echo "apt-get $*" >>"$SAID"'
	tool bin sudo <<<'[[ $1 != -n ]] || shift
		((MAY)) && echo sudo >>"$SAID" && "$@"'
	tool tree autogen.sh <<<'echo autogen.sh >>"$SAID"; exit 1'
}

user=() # somebody who is not root
((EUID)) || user=(setpriv --reuid 65534 --regid 65534 --clear-groups)

# demo WHO...: what it says is in $work/out, what it does in $SAID.
demo() {
	: >"$SAID"
	! (cd "$work/tree" && "$@" make demo </dev/null >"$work/out" 2>&1)
}

fail() {
	echo "$*"
	cat "$work/out" "$SAID"
	exit 1
}

names='libpng-dev mpich'
export LACKS=$names MAY=0
demo "${user[@]}"
grep -qx "  apt-get update && apt-get install --no-install-recommends $names" \
	"$work/out" || fail 'no command'
[[ ! -s $SAID ]] || fail 'it goes on without root'
echo "without root: $(grep apt-get "$work/out")"

MAY=1 demo "${user[@]}"
grep -qx 'sudo' "$SAID" || fail 'sudo is not used'
grep -q "^apt-get .* install .* $names\$" "$SAID" ||
	fail 'sudo does not install'
grep -qx 'autogen.sh' "$SAID" || fail 'it stops after sudo'
if ((EUID == 0)); then
	demo
	grep -q "^apt-get .* install .* $names\$" "$SAID" ||
		fail 'root does not install'
	! grep -qx 'sudo' "$SAID" || fail 'root needs no sudo'
fi
LACKS='' demo "${user[@]}"
[[ $(<"$SAID") == autogen.sh ]] || fail 'it installs what is there'
