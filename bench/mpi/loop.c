/* SPDX-License-Identifier: MIT */
/* Repeats, synchronizes and times; see loop.h. */
#define _GNU_SOURCE
#include "loop.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/*
 * A batch that counts takes ENOUGH seconds and has FEW operations, so that a
 * time slice of a foreign process is not taken for the time of an operation.
 * With operations as long as time slices, LIMIT seconds end the test.
 */
static const double ENOUGH = 0.015, LIMIT = 0.25;
static const long FEW = 16;

/* A test, a computation, or a test beside a computation. */
struct work {
	const struct loop *loop;
	const struct test *test; /* NULL: only compute */
	long steps;		 /* to compute beside each operation */
};

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* The compiler must keep each step, since the assembler may read x. */
static void compute(long steps)
{
	double x = 1;

	for (; steps > 0; steps--) {
		x = x * 0.999999 + 1e-6;
		__asm__ volatile("" : : "m"(x));
	}
}

static void repeat(const struct work *work, long n, int bytes)
{
	const struct test *test = work->test;

	if (test && test->batch) {
		test->batch(n, bytes);
		return;
	}
	for (; n; n--) {
		if (test && test->operation)
			test->operation(test, bytes,
					(int)(n % work->loop->size));
		else if (test)
			test->start(bytes);
		compute(work->steps);
		if (test && test->start)
			test->finish();
	}
}

static long more_operations(long n, double taken)
{
	long more = taken > ENOUGH / 64
			    ? (long)(1.2 * (double)n * ENOUGH / taken) + 1
			    : 64 * n;

	return more > FEW ? more : FEW;
}

/* Returns the seconds that a repetition takes the slowest rank. */
static double time_work(const struct work *work, int bytes)
{
	const struct loop *loop = work->loop;
	double spent = 0;
	long n = 1;

	repeat(work, 1, bytes);
	for (;;) {
		double taken;

		loop->barrier();
		taken = -now();
		repeat(work, n, bytes);
		taken = loop->slowest(taken + now());
		spent += taken;
		if ((taken >= ENOUGH && n >= FEW) || spent >= LIMIT)
			return taken / (double)n;
		n = more_operations(n, taken);
	}
}

/* Returns the steps of a computation that takes so many seconds. */
static long steps_of(const struct loop *loop, double seconds)
{
	struct work work = { .loop = loop, .steps = 1000 };

	return 1 + (long)(1000 * seconds / time_work(&work, 0));
}

/*
 * Returns the percentage of an operation's time that a computation of the same
 * length hides: 100 if operation and computation together take no longer than
 * the computation, 0 if they take as long as one after the other.
 */
static double time_overlap(const struct loop *loop, const struct test *test,
			   int bytes)
{
	struct work work = { .loop = loop, .test = test };
	double apart = time_work(&work, bytes), alone, together;

	work.steps = steps_of(loop, apart);
	work.test = NULL;
	alone = time_work(&work, bytes);
	work.test = test;
	together = time_work(&work, bytes);
	return 100 * (1 - (together - alone) / apart);
}

static double figure_of(const struct loop *loop, const struct test *test,
			int bytes)
{
	struct work work = { .loop = loop, .test = test };
	double seconds;

	if (test->start)
		return time_overlap(loop, test, bytes);
	seconds = time_work(&work, bytes);
	return test->figure ? test->figure(seconds, bytes) : 1e6 * seconds;
}

static bool measure(const struct loop *loop, const struct test *test,
		    const char *lengths)
{
	char *end;

	for (;; lengths = end + 1) {
		int bytes = (int)strtol(lengths, &end, 10);
		double figure;

		if (bytes > LONGEST / (test->blocks ? loop->size : 1)) {
			fprintf(stderr, "%s: %d bytes are too many\n",
				test->name, bytes);
			return false;
		}
		figure = figure_of(loop, test, bytes);
		if (loop->rank == 0) {
			printf("%s %d %.6g %s\n", test->name, bytes, figure,
			       test->start  ? "%"
			       : test->unit ? test->unit
					    : "us");
			fflush(stdout);
		}
		if (*end != ',')
			return true;
	}
}

static bool measure_argument(const struct loop *loop, const char *argument)
{
	size_t n = strcspn(argument, ":");
	const struct test *test;

	for (test = loop->test; test->name; test++)
		if (strlen(test->name) == n &&
		    !strncmp(argument, test->name, n))
			return measure(loop, test,
				       argument[n] ? argument + n + 1
						   : test->lengths);
	fprintf(stderr, "%s: not a test here\n", argument);
	return false;
}

bool measure_arguments(const struct loop *loop, char **argument)
{
	bool good = true;

	for (; *argument; argument++)
		good &= measure_argument(loop, *argument);
	return good;
}

static int read_number(const char *hydra, const char *open_mpi)
{
	const char *value = getenv(hydra);

	if (!value)
		value = getenv(open_mpi);
	return value ? atoi(value) : 0;
}

void bind_to_processor(void)
{
	int ranks = read_number("PMI_SIZE", "OMPI_COMM_WORLD_SIZE");
	cpu_set_t set;

	if (ranks > sysconf(_SC_NPROCESSORS_ONLN))
		return;
	CPU_ZERO(&set);
	CPU_SET(read_number("PMI_RANK", "OMPI_COMM_WORLD_RANK"), &set);
	sched_setaffinity(0, sizeof(set), &set);
}
