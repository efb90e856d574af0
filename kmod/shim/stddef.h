/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* <stddef.h> for code of the card core that is part of a kernel. */
#ifndef BCL_KMOD_STDDEF_H
#define BCL_KMOD_STDDEF_H

#include <linux/stddef.h>

#endif
