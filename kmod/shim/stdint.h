/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* <stdint.h> for code of the card core that is part of a kernel: the kernel is
 * compiled without the compiler's headers. */
#ifndef BCL_KMOD_STDINT_H
#define BCL_KMOD_STDINT_H

#include <linux/limits.h>
#include <linux/types.h>

#define UINT16_MAX U16_MAX
#define UINT32_MAX U32_MAX
#define UINT64_MAX U64_MAX

#endif
