/* SPDX-License-Identifier: MIT */
#ifndef BCL_ENV_PREFETCH_H
#define BCL_ENV_PREFETCH_H

/*
 * Fetch the line for writing. Written out for x86-64, where compilers give
 * the builtin for the oldest processors as a fetch for reading; every one of
 * them executes or ignores prefetchw.
 */
static inline void bcl_prefetch_write(const void *address)
{
#ifdef __x86_64__
	__asm__ volatile("prefetchw %0" : : "m"(*(const char *)address));
#else
	__builtin_prefetch(address, 1);
#endif
}

/*
 * Tell the processor that this looks in vain at a line that another one is
 * about to write. Without it the looks of many turns are under way at once:
 * they take the line away from the writer between two of its stores, and are
 * thrown away when the line comes.
 */
static inline void bcl_spin_hint(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ __volatile__("yield");
#endif
}

#endif
