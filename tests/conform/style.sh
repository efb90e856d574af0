#!/bin/bash
# SPDX-License-Identifier: MIT
# Rules of the tree that a machine can check; CONTRIBUTING.md gives them.
set -euo pipefail
cd "${abs_top_srcdir:?}"
status=0

complain() {
	echo "$*"
	status=1
}

if git ls-files --error-unmatch configure.ac >/dev/null 2>&1; then
	mapfile -t files < <(git ls-files)
else	# a tarball, perhaps configured in place
	mapfile -t files < <(find . -path ./build -prune -o -type f \
		! -name config.h \( -name '*.[ch]' -o -name local.mk \
		-o -path './scripts/*' \) -printf '%P\n')
fi

code=() scripts=()
for file in "${files[@]}"; do
	[[ -f $file ]] || continue
	read -r first <"$file" || true
	case $file in
	*.c|*.h|*.h.in|*.mk|*.am|*.ac|*.map|*.[1-9]|GNUmakefile)
		code+=("$file")
		;;
	*)
		[[ $first == '#!'* ]] || continue
		code+=("$file")
		scripts+=("$file")
		[[ $file == *.in || -x $file ]] ||
			complain "$file: begins as a script, and is not executable"
		;;
	esac
done
((${#code[@]})) || complain 'found no files to check'

for file in "${code[@]}"; do
	case $file in
	kmod/*.[ch]|nicfw/*.[ch]|base/*.[ch]|include/bcl/wire.h|include/bcl/card_abi.h|\
	include/bcl/card_device.h|include/bcl/status.h|card/ways.[ch])
		licence='MIT OR GPL-2.0-only' ;;
	*)
		licence='MIT' ;;
	esac
	grep -Eq "SPDX-License-Identifier: $licence( \\*/)?\$" < <(head -n 2 "$file") ||
		complain "$file: no 'SPDX-License-Identifier: $licence' on top"
	lines=$(wc -l <"$file")
	((lines <= 1000)) || complain "$file: $lines lines, limit 1000"
done

# absent DESCRIPTION PATTERN FILE...
absent() {
	local what=$1 pattern=$2
	shift 2
	! grep -EnI "$pattern" "$@" /dev/null || complain "^ $what"
}

mapfile -t own < <(printf '%s\n' "${code[@]}" |
	grep -v '^tests/conform/style.sh$')
mapfile -t own_scripts < <(printf '%s\n' "${scripts[@]}" |
	grep -v '^tests/conform/style.sh$')
mapfile -t floors < <(printf '%s\n' "${code[@]}" |
	grep -E '^(nicfw|wire|card|transport|adi|collectives)/.*\.[ch]$')
absent 'unfinished' '\b(TODO|FIXME|XXX|HACK)\b' "${own[@]}"
absent 'a path of one machine' '(/home/|/root/|/work/)' "${own[@]}"
absent 'an old word: doc/glossary.md has the one in use' \
	'\b(bcl_(adi_(ask|notice|notify|window|held)|nic_again|mail|vigil|inside)|bcl_(digits|halves|pair_notice|card_(host|seat|hold|row)))(_|\b)|\b(adi_kept|NIC_HELD_MAX)\b' \
	"${own[@]}"
absent 'white space at the end of a line' '[[:space:]]$' "${own[@]}"
absent 'platform conditional outside env/' \
	'^#[[:space:]]*(el)?if.*__(linux|x86_64|i386|aarch64)' "${floors[@]}"

absent 'a reader that ends early kills its writer, and the pipe fails: sed -n 1p reads all' \
	'(^|[^|])\|[[:space:]]*(head|grep (-[A-Za-z]*q|-m))\b' \
	"${own_scripts[@]}"

if ! command -v shellcheck >/dev/null; then
	complain 'shellcheck is missing: scripts not checked'
elif ! shellcheck -x -S warning "${scripts[@]}"; then
	complain '^ shellcheck'
fi
exit $status
