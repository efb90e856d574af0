/* SPDX-License-Identifier: MIT */
/*
 * A model checker for lock-free code. The checker runs the code under test in
 * every way that the C11 memory model allows, and finds failed assertions, data
 * races on plain memory, and threads that wait forever.
 *
 * The code under test is compiled with -fsanitize=thread: the compiler inserts
 * a function call at each access to memory. The checker provides the functions
 * (access.c). A run builds an execution graph (graph.h); explore.c makes all
 * graphs, each once.
 */
#ifndef WEAK_H
#define WEAK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	WEAK_THREADS = 4,
};

/* Threads and their shared memory, which set_up() makes anew for each
 * execution. If a thread reads the same values it must behave the same. */
struct weak_test {
	const char *name;
	void (*set_up)(void);
	void (*thread[WEAK_THREADS])(void); /* up to the first NULL */
	void (*check)(void); /* called after all threads; may be NULL */
};

struct weak_result {
	uint64_t executions; /* complete and different executions */
	uint64_t blocked;    /* given up, since threads wait for other values */
	bool failed;	     /* the reason is on standard output */
};

struct weak_result weak_explore(const struct weak_test *test);

/* Explores the tests up to the entry without a name, or until a test fails, and
 * prints the results. Returns the exit status for main(). */
int weak_main(const struct weak_test *tests);

/* ---- for set_up() ---- */

/* The `size` bytes at `again` are the same memory as at `memory`. */
void weak_alias(void *memory, void *again, size_t size);

/* ---- for threads ---- */

/*
 * The thread has to wait, according to its last `reads` atomic reads. Does not
 * return: the checker explores the executions in which the thread reads the
 * awaited values on their own. It is a failure if no thread ever writes such
 * values.
 */
__attribute__((noreturn)) void weak_block(unsigned reads);
/* Returns the number of atomic reads of this thread so far. */
unsigned weak_reads(void);

/* Wait for a condition that the thread evaluates again and again. An evaluation
 * to false must leave nothing behind. */
#define weak_until(condition)                                   \
	do {                                                    \
		unsigned weak_before = weak_reads();            \
		if (!(condition))                               \
			weak_block(weak_reads() - weak_before); \
	} while (0)

/*
 * The heavy fence of an asymmetric pair: the sleeper's membarrier. The partner
 * is the light fence, atomic_signal_fence(memory_order_seq_cst), which costs
 * nothing. A heavy fence is ordered with heavy, full and light fences, a light
 * fence only with heavy fences. (C++ proposal P1202.)
 */
void weak_heavy_fence(void);

/* ---- for threads, in struct bcl_env ---- */

/* A thread that yields waits for a new value of its last read. */
static inline void weak_yield(void *world)
{
	(void)world;
	weak_block(1);
}

static inline void weak_barrier(void *world)
{
	(void)world;
	weak_heavy_fence();
}

/* ---- for threads and check() ---- */

#define weak_assert(condition)                                     \
	do {                                                       \
		if (!(condition))                                  \
			weak_fail(__FILE__, __LINE__, #condition); \
	} while (0)
void weak_fail(const char *file, int line, const char *what);

#endif
