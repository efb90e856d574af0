/* SPDX-License-Identifier: MIT */
/*
 * Collective operations, back to back. The root rotates, so that each operation
 * waits for the previous operation and the time is a latency.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/perf_call.h"
#include "bench/perf_rank.h"

enum {
	ITERATIONS = 200,
	BYTES_PER_SAMPLE = 4 << 20,
	ITERATIONS_MIN = 8,
};

/* Computes for `ns` ns of this process's CPU time, even if the CPU
 * is shared. */
static void compute_for(uint64_t ns)
{
	struct timespec now;
	uint64_t end = 0, time;

	do {
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
		time = (uint64_t)now.tv_sec * 1000000000 +
		       (uint64_t)now.tv_nsec;
		end = end ? end : time + ns;
	} while (time < end);
}

/*
 * Every rank computes for a random time, 0 to `late` us. All ranks draw the
 * same times by the same seed. Returns the ns until the last rank can have
 * finished: ranks are pinned to two CPUs in turn, and ranks of the same CPU
 * compute one after another.
 */
static uint64_t be_late(const struct perf_rank *rank, size_t late,
			unsigned int *seed)
{
	uint64_t busy[2] = { 0 }, mine = 0;
	int i;

	for (i = 0; i < rank->size; i++) {
		uint64_t ns = (uint64_t)rand_r(seed) % (late * 1000);

		busy[i % 2] += ns;
		if (i == rank->rank)
			mine = ns;
	}
	compute_for(mine);
	return busy[0] > busy[1] ? busy[0] : busy[1];
}

static size_t batch_of(const struct perf_rank *rank, size_t size)
{
	size_t bytes = size * (size_t)rank->size;
	size_t asked = ref_number(rank->ref, "iterations");
	size_t n = bytes ? BYTES_PER_SAMPLE / bytes : ITERATIONS;

	if (asked)
		return asked;
	return n > ITERATIONS	    ? ITERATIONS
	       : n < ITERATIONS_MIN ? ITERATIONS_MIN
				    : n;
}

/* Allocates buffers and arrays for all ranks' blocks; the next round reuses
 * them. */
static void make_buffers(const struct perf_rank *rank, struct perf_call *call)
{
	size_t ranks = (size_t)rank->size;
	size_t room = (call->size + REF_LINE) * ranks;
	static unsigned char *buffer;
	static size_t *arrays;

	buffer = realloc(buffer, 2 * room);
	arrays = realloc(arrays, 2 * ranks * sizeof(*arrays));
	if (!buffer || !arrays)
		ref_exit(rank->ref, 1, "no memory for %zu bytes", 2 * room);
	/* Zeros are valid doubles, whatever ran before. */
	memset(buffer, 0, 2 * room);
	perf_call_use(call, ranks, buffer, buffer + room, arrays);
}

size_t perf_collective(struct perf_rank *rank)
{
	const char *name = ref_string(rank->ref, "call");
	perf_call_function *function = perf_call_find(name);
	size_t samples = ref_number(rank->ref, "samples"), s;
	size_t late = ref_number(rank->ref, "late"), i;
	struct perf_call call = { .team = rank->team,
				  .size = ref_number(rank->ref, "size"),
				  .sum = bcl_reduction(BCL_SUM, BCL_DOUBLE) };
	size_t batch = batch_of(rank, call.size);
	unsigned int seed = 1;

	if (!function)
		ref_exit(rank->ref, 1, "call=%s is unknown", name);
	make_buffers(rank, &call);
	for (s = 0; s <= samples; s++) {
		uint64_t start = ref_now(), ideal = 0;

		call.root = 0;
		for (i = 0; i < batch; i++) {
			if (late)
				ideal += be_late(rank, late, &seed);
			perf_must(rank, function(&call), name);
			if (++call.root == (unsigned int)rank->size)
				call.root = 0;
		}
		if (s)
			ref_sample(rank->ref, ((double)(ref_now() - start) -
					       (double)ideal) /
						      (double)batch);
	}
	return 0;
}
