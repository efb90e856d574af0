/* SPDX-License-Identifier: MIT */
/* C's <stdlib.h> for tests in a kernel module: memory from the kernel's
 * allocators. */
#ifndef BCL_VM_STDLIB_H
#define BCL_VM_STDLIB_H

#include <linux/bug.h>
#include <linux/kernel.h>

#include "check.h"

enum {
	EXIT_SUCCESS,
	EXIT_FAILURE,
};

/* vm_fail() does not return; BUG() tells the compiler. */
#define abort()                                       \
	({                                            \
		vm_fail(__FILE__, __LINE__, "abort"); \
		BUG();                                \
	})

/* Zeroed memory at a cache line. */
void *malloc(size_t size);
void *realloc(void *memory, size_t size);
void free(void *memory);

static inline void *aligned_alloc(size_t alignment, size_t size)
{
	(void)alignment;
	return malloc(size);
}

static inline void *calloc(size_t n, size_t size)
{
	return malloc(n * size);
}

/* The environment is one parameter of the module: the seeds of each test. */
char *getenv(const char *name);

static inline unsigned long strtoul(const char *text, char **end, int base)
{
	(void)end;
	return simple_strtoul(text, NULL, base);
}

static inline unsigned long long strtoull(const char *text, char **end,
					  int base)
{
	(void)end;
	return simple_strtoull(text, NULL, base);
}

static inline int atexit(void (*run)(void))
{
	(void)run;
	return 0;
}

#endif
