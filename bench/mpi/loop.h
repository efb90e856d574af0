/* SPDX-License-Identifier: MIT */
/*
 * The loop of all ranks that bench/mpi-compare starts: the ranks of each MPI
 * and the ranks on coll.h repeat, synchronize and time everything in the same
 * way.
 */
#ifndef BCL_BENCH_MPI_LOOP_H
#define BCL_BENCH_MPI_LOOP_H

#include <stdbool.h>

enum {
	LONGEST = 4 << 20, /* bytes of a message, or of all ranks' blocks */
};

struct test {
	const char *name;
	const char *lengths; /* unless the command names others */

	/* A test has one of these three: */
	/* the same thing n times; */
	void (*batch)(long n, int bytes);
	/* an operation, which the loop repeats with another root each time, so
	 * that no rank runs ahead; */
	void (*operation)(const struct test *test, int bytes, int root);
	/* an operation beside which the ranks compute. */
	void (*start)(int bytes);
	void (*finish)(void);

	bool blocks;	     /* the bytes are those of a block for each rank */
	unsigned int number; /* for operation() */
	/* Without: the time of one batch, operation, in us. */
	double (*figure)(double seconds, int bytes);
	const char *unit;
};

struct loop {
	const struct test *test; /* ends with a test without a name */
	int rank, size;
	void (*barrier)(void);
	double (*slowest)(double seconds); /* the greatest of all ranks */
};

/* Binds the calling rank to a processor of its own, if there are enough
 * processors. A rank calls this before it starts its library. */
void bind_to_processor(void);

/*
 * Measures the tests that the arguments name, each TEST[:BYTES[,BYTES]...].
 * Rank 0 prints a line of test, bytes, value and unit for each. Returns false
 * if an argument names no test or is too long.
 */
bool measure_arguments(const struct loop *loop, char **argument);

#endif
