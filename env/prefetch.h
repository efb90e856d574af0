/* SPDX-License-Identifier: MIT */
/* Hints to the processor: fetch a line for writing, and spin. */
#ifndef BCL_ENV_PREFETCH_H
#define BCL_ENV_PREFETCH_H

/*
 * Fetches the line for writing. Written in assembler for x86-64, where
 * compilers turn the builtin, for the oldest processors, into a fetch for
 * reading. Every x86-64 processor executes or ignores prefetchw.
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
 * Tells the processor that the program waits until another processor writes a
 * line. Without the hint the loads of many iterations are in flight at once:
 * they take the line away from the writer between two stores, and the processor
 * discards them when the line arrives.
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
