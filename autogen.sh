#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes ./configure and the Makefile.in it needs, in a checkout.
set -e
cd "$(dirname "$0")"
for tool in autoreconf libtoolize pkg-config; do
	command -v $tool >/dev/null && continue
	echo "autogen.sh: no $tool; \"scripts/setup build\" installs it" >&2
	exit 1
done
mkdir -p m4
exec autoreconf --force --install --warnings=all,no-obsolete
