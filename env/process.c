/* SPDX-License-Identifier: MIT */
/*
 * Facts about the process, and the handler that runs in forked children; see
 * process.h.
 */
#include "env/process.h"

#include <pthread.h>
#include <unistd.h>

struct bcl_process bcl_process;

/* A bit for each recorded descriptor. */
static _Atomic uint64_t recorded[BCL_PROCESS_FDS / 64];

void bcl_process_record(int fd)
{
	if (fd < BCL_PROCESS_FDS)
		atomic_fetch_or_explicit(&recorded[fd / 64],
					 UINT64_C(1) << fd % 64,
					 memory_order_relaxed);
}

/* The record ends first: afterwards the number may be another file's. */
void bcl_process_close(int fd)
{
	if (fd < BCL_PROCESS_FDS)
		atomic_fetch_and_explicit(&recorded[fd / 64],
					  ~(UINT64_C(1) << fd % 64),
					  memory_order_relaxed);
	close(fd);
}

static void close_recorded(void)
{
	for (int i = 0; i < BCL_PROCESS_FDS / 64; i++) {
		uint64_t bits = atomic_exchange_explicit(&recorded[i], 0,
							 memory_order_relaxed);

		for (; bits; bits &= bits - 1)
			close(i * 64 + __builtin_ctzll(bits));
	}
}

static void in_child(void)
{
	close_recorded();
	atomic_fetch_add_explicit(&bcl_process.fork_generation, 1,
				  memory_order_relaxed);
	if (atomic_load_explicit(&bcl_process.contexts, memory_order_relaxed))
		atomic_store_explicit(&bcl_process.orphaned, true,
				      memory_order_relaxed);
}

static void register_fork_handler(void)
{
	pthread_atfork(NULL, NULL, in_child);
}

void bcl_process_init(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, register_fork_handler);
}
