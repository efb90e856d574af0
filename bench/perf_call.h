/* SPDX-License-Identifier: MIT */
/*
 * The collective operations by name, with arguments of one form, for all
 * programs that measure them.
 */
#ifndef BCL_BENCH_PERF_CALL_H
#define BCL_BENCH_PERF_CALL_H

#include <bcl/coll.h>

/* Arguments of an operation; an operation uses the members that it needs. */
struct perf_call {
	struct bcl_team *team;
	size_t size; /* bytes of a vector, or of each rank's block */
	unsigned int root;
	unsigned char *send, *receive;	 /* `size` bytes for each rank */
	const size_t *lengths, *offsets; /* of the blocks of all ranks */
	const struct bcl_reduction *sum; /* whole elements of it fit `size` */
};

typedef enum bcl_status perf_call_function(const struct perf_call *call);

/* The call uses these buffers, and `arrays` for the lengths and offsets of the
 * blocks of all ranks: 2 * ranks numbers. */
void perf_call_use(struct perf_call *call, size_t ranks, unsigned char *send,
		   unsigned char *receive, size_t *arrays);

/* Returns NULL if no operation has the name. */
perf_call_function *perf_call_find(const char *name);

#endif
