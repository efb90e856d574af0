/* SPDX-License-Identifier: MIT */
/*
 * Between two looks at memory that another processor writes: without it the
 * processor runs ahead with loads that it must throw away when the line comes
 * (on x86 that doubles what a transfer costs).
 */
#ifndef BCL_RELAX_H
#define BCL_RELAX_H

static inline void bcl_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ __volatile__("yield");
#endif
}

#endif
