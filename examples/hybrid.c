/* SPDX-License-Identifier: MIT */
/*
 * hybrid [LIMIT]: counts the primes below LIMIT with all threads of all ranks.
 *
 * cc -fopenmp hybrid.c -o hybrid $(pkg-config --cflags --libs bcl)
 *
 * Each OpenMP thread calls the library by itself. One thread of rank 0 hands
 * out ranges of numbers to whichever thread asks next. Ranges take different
 * times, and no thread waits for another.
 */
#include <bcl/coll.h>
#include <ctype.h>
#include <errno.h>
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	CONTEXT = 1,
	TAG_ASK = 0,	/* carries the asking thread's number */
	TAG_ANSWER = 1, /* TAG_ANSWER + thread's number */
	RANGE = 20000,
};

static void check(enum bcl_status status, const char *what)
{
	if (status == BCL_OK)
		return;
	fprintf(stderr, "hybrid: %s: %s\n", what, bcl_strstatus(status));
	exit(1);
}

/* Answers until every asking thread has been told that no range is left, by an
 * answer of `limit`. */
static void hand_out(struct bcl_adi *adi, uint64_t limit, unsigned askers)
{
	struct bcl_adi_status asked;
	uint64_t begin = 0;
	int thread;

	while (askers) {
		check(bcl_adi_recv(adi, &thread, sizeof(thread), BCL_ANY_SOURCE,
				   TAG_ASK, CONTEXT, &asked),
		      "receive");
		check(bcl_adi_send(adi, &begin, sizeof(begin), asked.source,
				   TAG_ANSWER + thread, CONTEXT),
		      "send");
		if (begin == limit)
			askers--;
		else
			begin = begin + RANGE < limit ? begin + RANGE : limit;
	}
}

static bool is_prime(uint64_t n)
{
	uint64_t i;

	if (n < 4)
		return n > 1;
	if (n % 2 == 0)
		return false;
	for (i = 3; i * i <= n; i += 2)
		if (n % i == 0)
			return false;
	return true;
}

static uint64_t count(struct bcl_adi *adi, uint64_t limit, int thread)
{
	uint64_t begin, end, primes = 0;

	for (;;) {
		check(bcl_adi_send(adi, &thread, sizeof(thread), 0, TAG_ASK,
				   CONTEXT),
		      "send");
		check(bcl_adi_recv(adi, &begin, sizeof(begin), 0,
				   TAG_ANSWER + thread, CONTEXT, NULL),
		      "receive");
		if (begin == limit)
			return primes;
		end = begin + RANGE < limit ? begin + RANGE : limit;
		for (; begin < end; begin++)
			primes += is_prime(begin);
	}
}

static int usage(bool asked)
{
	fputs("usage: mpiexec -n RANKS hybrid [LIMIT]\n"
	      "Counts the primes below LIMIT (2000000) with all threads of all "
	      "ranks.\n"
	      "OMP_NUM_THREADS says how many threads a rank has; else it is "
	      "all "
	      "processors\n"
	      "that its launcher gives it.\n",
	      asked ? stdout : stderr);
	return asked ? 0 : 2;
}

static bool number(const char *text, uint64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoull(text, &end, 10);
	return isdigit((unsigned char)*text) && !*end && !errno;
}

int main(int argc, char **argv)
{
	const struct bcl_adi_options options = { .struct_size = sizeof(options),
						 .flags = BCL_ADI_THREADS };
	const struct bcl_reduction *sum = bcl_reduction(BCL_SUM, BCL_UINT64);
	uint64_t threads, primes = 0, totals[2];
	struct bcl_team *team;
	struct bcl_adi *adi;
	uint64_t limit = 2000000;
	bool first;

	if (argc > 1 && !strcmp(argv[1], "--help"))
		return usage(true);
	if (argc > 2 || (argc > 1 && !number(argv[1], &limit)))
		return usage(false);
	check(bcl_adi_open(&options, &adi), "start");
	check(bcl_team_world(adi, &team), "team");
	first = bcl_adi_rank(adi) == 0;
	/* Rank 0 has an additional thread, which only answers. */
	threads = (unsigned)omp_get_max_threads();
	check(bcl_allreduce(team, &threads, totals, 1, sum), "threads");

#pragma omp parallel num_threads((int)threads + first) reduction(+ : primes)
	{
		int thread = omp_get_thread_num();

		if (first && thread == (int)threads)
			hand_out(adi, limit, (unsigned)totals[0]);
		else
			primes += count(adi, limit, thread);
	}

	check(bcl_reduce(team, &primes, &totals[1], 1, sum, 0), "sum");
	if (first)
		printf("%lu primes below %lu, counted by %lu threads of %u "
		       "ranks\n",
		       (unsigned long)totals[1], (unsigned long)limit,
		       (unsigned long)totals[0], bcl_adi_size(adi));
	bcl_team_free(team);
	bcl_adi_close(adi);
	return 0;
}
