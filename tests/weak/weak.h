/* SPDX-License-Identifier: MIT */
/*
 * A checker for lock-free code: runs the code itself in every way that the
 * C11 memory model allows, and finds failed assertions, data races on plain
 * memory, and threads that wait for ever.
 *
 * The code under test is compiled with -fsanitize=thread, which makes the
 * compiler call a function at each access to memory; here those functions
 * (access.c) are the checker's. A run builds an execution graph (graph.h);
 * explore.c makes all of them, each once.
 */
#ifndef WEAK_H
#define WEAK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	WEAK_THREADS = 4,
};

/* A few threads and what they share, which set_up() makes anew for each
 * execution. All are to behave the same whenever they read the same. */
struct weak_test {
	const char *name;
	void (*set_up)(void);
	void (*thread[WEAK_THREADS])(void); /* up to the first NULL */
	void (*check)(void); /* may be NULL; when all threads have ended */
};

struct weak_result {
	uint64_t executions; /* complete, each another */
	uint64_t blocked;    /* given up: waits for what another one reads */
	bool failed;	     /* and told why, on standard output */
};

struct weak_result weak_explore(const struct weak_test *test);

/* Explores all up to the one without a name, until one fails, and prints what
 * was found; what main() returns. */
int weak_main(const struct weak_test *tests);

/* ---- for set_up() ---- */

/* `size` bytes at `again` are the same memory as at `memory`. */
void weak_alias(void *memory, void *again, size_t size);

/* ---- for threads ---- */

/*
 * The thread has seen in its last `reads` atomic reads that it has to wait.
 * Does not return: executions in which it reads what it waits for are
 * explored on their own. If it never comes, that is a failure.
 */
__attribute__((noreturn)) void weak_block(unsigned reads);
/* Atomic reads of this thread so far. */
unsigned weak_reads(void);

/* Wait for a condition that is looked at again and again. An attempt in vain
 * must leave nothing behind. */
#define weak_until(condition)                                   \
	do {                                                    \
		unsigned weak_before = weak_reads();            \
		if (!(condition))                               \
			weak_block(weak_reads() - weak_before); \
	} while (0)

/*
 * Of an asymmetric pair of fences: the sleeper's membarrier. Its partner is
 * atomic_signal_fence(memory_order_seq_cst), which costs nothing: of two such
 * fences, and of a fence of either kind and a heavy one, one is first; two
 * light ones are not ordered. (C++ proposal P1202.)
 */
void weak_heavy_fence(void);

/* ---- for threads and check() ---- */

#define weak_assert(condition)                                     \
	do {                                                       \
		if (!(condition))                                  \
			weak_fail(__FILE__, __LINE__, #condition); \
	} while (0)
void weak_fail(const char *file, int line, const char *what);

#endif
