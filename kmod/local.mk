# SPDX-License-Identifier: MIT
# Kernel code, built by Kbuild: make -C kmod.
EXTRA_DIST += %D%/Kbuild %D%/Makefile %D%/compat.h %D%/device.c %D%/end.c \
	%D%/hal.c %D%/host.c %D%/host.h %D%/intake.c %D%/mapping.c \
	%D%/memory.c %D%/module.c %D%/node.c %D%/pin.c %D%/pin.h %D%/port.c \
	%D%/receive.c %D%/shim/stddef.h %D%/shim/stdint.h %D%/span.c \
	%D%/transmit.c %D%/turn.c
