#!/bin/bash
# SPDX-License-Identifier: MIT
# Each header stands alone in C, those for programs also in C++, and the
# functions that they declare are those that libbcl.map lists. Each struct whose
# members programs see begins with struct_size, or its comment says that it does
# not grow.
set -euo pipefail
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
include=(-I"${abs_top_srcdir:?}/include" -I"${abs_top_builddir:?}/include")
cd "$scratch"

for header in "$abs_top_srcdir"/include/bcl/*.h \
	      "$abs_top_builddir/include/bcl/version.h"; do
	name=bcl/$(basename "$header")
	echo "#include <$name>" >>all.c
	echo "#include <$name>" >one.c
	gcc -std=c11 -Wall -Wextra -Werror -fsyntax-only "${include[@]}" one.c
	[[ $name =~ ^bcl/(wire|card_abi|card_device)\.h$ ]] ||
		g++ -x c++ -std=c++17 -Wall -Wextra -Werror -fsyntax-only \
			"${include[@]}" one.c
done

gcc -std=gnu11 -fsyntax-only -aux-info prototypes "${include[@]}" all.c
sed -n 's,^.*/bcl/[a-z_]*\.h:[^*]*\*/ extern .*[ *]\(bcl_[a-z0-9_]*\) (.*,\1,p' \
	prototypes | sort -u >declared
sed -n 's/^[[:space:]]*\(bcl_[a-z0-9_]*\);$/\1/p' "$abs_top_srcdir/libbcl.map" |
	sort -u >listed

cat "$abs_top_srcdir"/include/bcl/{adi,bcl,boot,coll}.h |
	awk '	/^\/\*/ { comment = "" }
		{ comment = comment " " $0 }
		name { if (!/^\tsize_t struct_size;/) print name; name = "" }
		/^struct .* {$/ && comment !~ /[Dd]oes not grow/ { name = $2 }
		/^}/ { comment = "" }' >unbounded
diff --label 'may grow, without struct_size' -u unbounded /dev/null

[[ -s declared ]]
diff --label 'declared in include/bcl' --label libbcl.map -u declared listed
