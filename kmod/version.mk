# SPDX-License-Identifier: MIT
# The version of the module, for Makefile and Kbuild.
version := $(shell sed -n 's/^PACKAGE_VERSION="\(.*\)"/\1/p' \
	$(dir $(lastword $(MAKEFILE_LIST)))dkms.conf)
