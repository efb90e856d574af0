# SPDX-License-Identifier: MIT
# Kernel code, built by Kbuild: make -C kmod.
EXTRA_DIST += %D%/60-bcl.rules %D%/Kbuild %D%/Makefile %D%/dkms.conf \
	%D%/version.mk
EXTRA_DIST += %D%/admin.c %D%/cache.c %D%/compat.h %D%/copy.c %D%/crc.c %D%/device.c %D%/end.c %D%/end.h %D%/ether.c \
	%D%/fault.c %D%/fault.h %D%/hal.c %D%/host.c %D%/host.h %D%/intake.c \
	%D%/interface.c %D%/mapping.c %D%/memory.c %D%/module.c %D%/node.c %D%/pin.c %D%/pin.h \
	%D%/port.c %D%/receive.c %D%/shim/stddef.h %D%/shim/stdint.h %D%/show.c \
	%D%/span.c %D%/transmit.c %D%/turn.c %D%/udp.c %D%/udp_error.c %D%/udp_send.c %D%/user.c \
	%D%/user.h
