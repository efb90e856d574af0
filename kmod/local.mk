# SPDX-License-Identifier: MIT
# Kernel code, built by Kbuild.
EXTRA_DIST += %D%/shim/stddef.h %D%/shim/stdint.h
