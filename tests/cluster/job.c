/* SPDX-License-Identifier: MIT */
/*
 * A job that talks to itself: every pair of ranks exchanges messages of all
 * sizes, up to JOB_LONGEST bytes, with collectives in between, once, or until
 * the file JOB_UNTIL is there. Then the counters of all ranks are added up and
 * held against the arguments: "+udp.sendmsg" must have counted, "-udp.sendmsg"
 * must not, "<card.frames_sent=4000" must be less, ">card.frames_sent=4000"
 * more.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bcl/coll.h>

enum {
	LONGEST = 3 << 20,
	COUNTERS_MAX = 512,
};

static const size_t sizes[] = { 0, 1, 8, 64, 4096, 4097, 100000, LONGEST };
static size_t longest = LONGEST; /* bytes of a message in this job */

static void check(enum bcl_status status, const char *what)
{
	if (status == BCL_OK)
		return;
	fprintf(stderr, "job: %s: %s\n", what, bcl_strstatus(status));
	exit(1);
}

static uint8_t pattern(unsigned from, unsigned to, size_t size, size_t at)
{
	return (uint8_t)(from * 31 + to * 7 + size + at * 13 + at / 251);
}

static void exchange(struct bcl_adi *adi, unsigned to, unsigned from,
		     size_t size, uint8_t *out, uint8_t *in)
{
	unsigned rank = bcl_adi_rank(adi);
	struct bcl_adi_request *request[2];
	struct bcl_adi_status status[2];
	size_t i;

	for (i = 0; i < size; i++)
		out[i] = pattern(rank, to, size, i);
	memset(in, 0, size);
	check(bcl_adi_irecv(adi, in, size, (int)from, (int)size, 0,
			    &request[0]),
	      "irecv");
	check(bcl_adi_isend(adi, out, size, (int)to, (int)size, 0, &request[1]),
	      "isend");
	check(bcl_adi_waitall(adi, request, 2, status), "waitall");
	for (i = 0; i < size && in[i] == pattern(from, rank, size, i); i++)
		;
	if (i == size && status[0].length == size)
		return;
	fprintf(stderr, "job: %zu bytes from %u: byte %zu is wrong\n", size,
		from, i);
	exit(1);
}

static void round_of_all(struct bcl_adi *adi, struct bcl_team *team,
			 uint8_t *out, uint8_t *in)
{
	unsigned rank = bcl_adi_rank(adi), n = bcl_adi_size(adi), shift;
	uint64_t one = rank + 1, sum;

	for (size_t i = 0;
	     i < sizeof(sizes) / sizeof(*sizes) && sizes[i] <= longest; i++) {
		for (shift = 1; shift < n; shift++)
			exchange(adi, (rank + shift) % n,
				 (rank + n - shift) % n, sizes[i], out, in);
		check(bcl_allreduce(team, &one, &sum, 1,
				    bcl_reduction(BCL_SUM, BCL_UINT64)),
		      "allreduce");
		if (sum == (uint64_t)n * (n + 1) / 2)
			continue;
		fprintf(stderr, "job: the sum of %u ranks is %lu\n", n,
			(unsigned long)sum);
		exit(1);
	}
}

/* A sum of long vectors goes to the last rank, and from there to all. */
static void long_sum(struct bcl_adi *adi, struct bcl_team *team, uint64_t *out,
		     uint64_t *in)
{
	unsigned rank = bcl_adi_rank(adi), n = bcl_adi_size(adi);
	size_t words = longest / sizeof(*out), i;

	for (i = 0; i < words; i++)
		out[i] = (rank + 1) * i;
	memset(in, 0, longest);
	check(bcl_reduce(team, out, in, words,
			 bcl_reduction(BCL_SUM, BCL_UINT64), n - 1),
	      "reduce");
	check(bcl_broadcast(team, in, longest, n - 1), "broadcast");
	for (i = 0; i < words && in[i] == n * (n + 1) / 2 * i; i++)
		;
	if (i == words)
		return;
	fprintf(stderr, "job: the sum of %u long vectors is wrong at %zu\n", n,
		i);
	exit(1);
}

/* Rank 0 decides, so that all ranks do the same number of rounds. */
static uint64_t goes_on(struct bcl_team *team)
{
	const char *until = getenv("JOB_UNTIL");
	uint64_t more = until && access(until, F_OK);

	check(bcl_broadcast(team, &more, sizeof(more), 0), "broadcast");
	return more;
}

static bool as_expected(char relation, uint64_t sum, uint64_t bound)
{
	switch (relation) {
	case '+':
		return sum > 0;
	case '-':
		return sum == 0;
	case '<':
		return sum < bound;
	default:
		return relation == '>' && sum > bound;
	}
}

static int expect(const struct bcl_counter *counter, const uint64_t *sum,
		  size_t n, const char *wanted)
{
	size_t length = strcspn(wanted + 1, "="), i;
	const char *bound = wanted + 1 + length;

	for (i = 0; i < n; i++) {
		const char *name = counter[i].name;

		if (strlen(name) != length || memcmp(name, wanted + 1, length))
			continue;
		if (as_expected(wanted[0], sum[i],
				*bound ? strtoull(bound + 1, NULL, 10) : 0))
			return 0;
		fprintf(stderr, "job: %s is %lu, expected %s\n", name,
			(unsigned long)sum[i], wanted);
		return 1;
	}
	fprintf(stderr, "job: no counter %s\n", wanted);
	return 1;
}

int main(int argc, char **argv)
{
	static struct bcl_counter counter[COUNTERS_MAX];
	static uint64_t own[COUNTERS_MAX], sum[COUNTERS_MAX];
	uint8_t *out = malloc(LONGEST), *in = malloc(LONGEST);
	const char *shorter = getenv("JOB_LONGEST");
	size_t n = COUNTERS_MAX;
	struct bcl_team *team;
	struct bcl_adi *adi;
	int failed = 0;

	if (!out || !in)
		return 1;
	if (shorter && strtoull(shorter, NULL, 10) < LONGEST)
		longest = strtoull(shorter, NULL, 10);
	check(bcl_adi_open(NULL, &adi), "open");
	check(bcl_team_world(adi, &team), "team");
	do {
		round_of_all(adi, team, out, in);
		long_sum(adi, team, (uint64_t *)(void *)out,
			 (uint64_t *)(void *)in);
	} while (goes_on(team));

	bcl_counters(bcl_adi_context(adi), counter, &n);
	if (n > COUNTERS_MAX)
		return 1;
	for (size_t i = 0; i < n; i++)
		own[i] = counter[i].value;
	check(bcl_allreduce(team, own, sum, n,
			    bcl_reduction(BCL_SUM, BCL_UINT64)),
	      "allreduce");
	for (int i = 1; i < argc && bcl_adi_rank(adi) == 0; i++)
		failed |= expect(counter, sum, n, argv[i]);
	if (bcl_adi_rank(adi) == 0 && !failed)
		printf("job: %u ranks\n", bcl_adi_size(adi));
	bcl_team_free(team);
	bcl_adi_close(adi);
	free(out);
	free(in);
	return failed;
}
