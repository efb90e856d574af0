/* SPDX-License-Identifier: MIT */
/*
 * The builtin reductions, each beside the same loop compiled without vectors
 * (plain_reduction()): GB/s of the vectors `in` and `inout` together, in the
 * first cache and in the second. Prints one line for each reduction.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <bcl/coll.h>

enum {
	LEAST = 8 << 10, /* bytes of a vector: two fit into the first cache */
	MOST = 128 << 10,
	BYTES = 4 << 20, /* of `inout` in a sample */
	SAMPLES = 15,	 /* of which the fastest counts */
};

/* reduction.c again, compiled without vectors. */
const struct bcl_reduction *plain_reduction(enum bcl_op op, enum bcl_type type);

static const char *const op_names[] = {
	"sum",	"prod", "min", "max",  "band",	 "bor",
	"bxor", "land", "lor", "lxor", "minloc", "maxloc",
};
static const char *const type_names[] = {
	"int8",	     "uint8",	    "int16",
	"uint16",    "int32",	    "uint32",
	"int64",     "uint64",	    "float",
	"double",    "long_double", "bool",
	"cfloat",    "cdouble",	    "clong_double",
	"float_int", "double_int",  "long_int",
	"int_int",   "short_int",   "long_double_int",
};

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Zeros stay zeros whatever combines them, so no sample meets slow numbers. */
static double speed(const struct bcl_reduction *reduction, void *in,
		    void *inout, size_t length)
{
	size_t count = length / reduction->element, i, s;
	double best = 0;

	for (s = 0; s < SAMPLES; s++) {
		uint64_t start = now();
		double speed;

		for (i = 0; i < BYTES / length; i++)
			reduction->apply(in, inout, count, reduction->arg);
		speed = 2. * BYTES / (double)(now() - start);
		best = speed > best ? speed : best;
	}
	return best;
}

static void print_speeds(unsigned op, unsigned type, void *in, void *inout)
{
	const struct bcl_reduction *vectors =
		bcl_reduction((enum bcl_op)op, (enum bcl_type)type);
	const struct bcl_reduction *plain =
		plain_reduction((enum bcl_op)op, (enum bcl_type)type);
	size_t length;

	if (!vectors)
		return;
	printf("%-6s %-15s", op_names[op], type_names[type]);
	for (length = LEAST; length <= MOST; length *= MOST / LEAST) {
		double slow = speed(plain, in, inout, length);
		double fast = speed(vectors, in, inout, length);

		printf(" %8.2f %8.2f %6.2f", slow, fast, fast / slow);
	}
	putchar('\n');
}

int main(void)
{
	void *in = aligned_alloc(64, MOST), *inout = aligned_alloc(64, MOST);
	unsigned op, type;

	if (!in || !inout)
		return 1;
	memset(in, 0, MOST);
	memset(inout, 0, MOST);
	printf("%-22s %8s %8s %6s %8s %8s %6s\n", "GB/s", "plain", "8K",
	       "times", "plain", "128K", "times");
	for (op = BCL_SUM; op <= BCL_MAXLOC; op++)
		for (type = BCL_INT8; type <= BCL_LONG_DOUBLE_INT; type++)
			print_speeds(op, type, in, inout);
	free(in);
	free(inout);
	return 0;
}
