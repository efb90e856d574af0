/* SPDX-License-Identifier: MIT */
/*
 * Facts about the process, and the handler that runs in forked children; see
 * process.h.
 */
#include "env/process.h"

#include <pthread.h>

struct bcl_process bcl_process;

static void in_child(void)
{
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
