/* SPDX-License-Identifier: MIT */
/*
 * Members give different lengths to one operation. No member may wait for ever,
 * no operation may write outside of the receive buffer, and all members must
 * learn of the difference.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collectives/team.h"
#include "env/counters.h"
#include "tests/unit/capture.h"
#include "tests/unit/unit.h"
#include "transport/boot/fork.h"

enum {
	RANKS_MAX = 4,
	LONGEST = 100000, /* bytes, of a block */
	GUARD = 4096,
	UNTOUCHED = 0x55,
};

struct lengths {
	unsigned usual, other;
};

/* Both lengths fit a flag line or a slot; one length fits and the other takes a
 * chunk; both lengths take chunks; the lengths take two algorithms. */
static const struct lengths all_lengths[] = {
	{ 8, 4 },	{ 4, 8 },	{ 8, 3000 },	    { 3000, 8 },
	{ 3000, 5000 }, { 5000, 3000 }, { 20000, LONGEST }, { LONGEST, 20000 },
};

struct shape {
	const char *nodes; /* a letter per rank */
	bool shares;	   /* some nodes have several members */
};

static const struct shape shapes[] = {
	{ "aa", true },
	{ "aaaa", true },
	{ "ab", false },
	{ "aabb", true },
};

/* Counts of all ranks, in shared memory. */
static struct seen {
	_Atomic unsigned truncated; /* in the operation itself */
	_Atomic unsigned differ, compared;
} * seen;

static unsigned char out[RANKS_MAX * LONGEST];
static unsigned char in[RANKS_MAX * LONGEST + GUARD];

static enum bcl_status call(struct bcl_team *team, enum bcl_operation operation,
			    size_t length)
{
	const struct bcl_reduction *sum = bcl_reduction(BCL_SUM, BCL_UINT32);
	size_t lengths[RANKS_MAX], offsets[RANKS_MAX], counts[RANKS_MAX];
	static const unsigned ranks[RANKS_MAX] = { 0, 1, 2, 3 };
	const struct bcl_blocks blocks = {
		.n = bcl_team_size(team),
		.ranks = ranks,
		.lengths = lengths,
		.offsets = offsets,
	};
	unsigned i;

	for (i = 0; i < RANKS_MAX; i++) {
		lengths[i] = length;
		offsets[i] = i * length;
		counts[i] = length / 4;
	}
	switch (operation) {
	case BCL_OPERATION_BROADCAST:
		return bcl_broadcast(team, in, length, 0);
	case BCL_OPERATION_REDUCE:
		return bcl_reduce(team, out, in, length / 4, sum, 0);
	case BCL_OPERATION_ALLREDUCE:
		return bcl_allreduce(team, out, in, length / 4, sum);
	case BCL_OPERATION_GATHER:
		return bcl_gather(team, out, length, in, 0);
	case BCL_OPERATION_SCATTER:
		return bcl_scatter(team, out, in, length, 0);
	case BCL_OPERATION_ALLGATHER:
		return bcl_allgather(team, out, length, in);
	case BCL_OPERATION_ALLTOALL:
		return bcl_alltoall(team, out, in, length);
	case BCL_OPERATION_ALLTOALLV:
		return bcl_alltoallv(team, out, lengths, offsets, in, lengths,
				     offsets);
	case BCL_OPERATION_REDUCE_SCATTER:
		return bcl_reduce_scatter(team, out, in, length / 4, sum);
	case BCL_OPERATION_SCAN:
		return bcl_scan(team, out, in, length / 4, sum);
	case BCL_OPERATION_EXSCAN:
		return bcl_exscan(team, out, in, length / 4, sum);
	case BCL_OPERATION_GATHERV:
		return bcl_gatherv(team, out, length, in, lengths, offsets, 0);
	case BCL_OPERATION_SCATTERV:
		return bcl_scatterv(team, out, lengths, offsets, in, length, 0);
	case BCL_OPERATION_ALLGATHERV:
		return bcl_allgatherv(team, out, length, in, lengths, offsets);
	case BCL_OPERATION_REDUCE_SCATTERV:
		return bcl_reduce_scatterv(team, out, in, counts, sum);
	case BCL_OPERATION_SHIFT:
		return bcl_shift(team, out, in, length, 1);
	case BCL_OPERATION_EXCHANGE:
		return bcl_exchange(team, out, &blocks, in, &blocks);
	default: /* a barrier has no length: ranks of other lengths broadcast */
		return length == all_lengths[0].usual
			       ? bcl_barrier(team)
			       : bcl_broadcast(team, in, length, 0);
	}
}

/* Number of bytes that the operation may write at the rank. */
static size_t room(const struct bcl_team *team, enum bcl_operation operation,
		   size_t length)
{
	switch (operation) {
	case BCL_OPERATION_GATHER:
	case BCL_OPERATION_GATHERV:
		return team->rank == 0 ? team->size * length : 0;
	case BCL_OPERATION_REDUCE:
		return team->rank == 0 ? length : 0;
	case BCL_OPERATION_ALLGATHER:
	case BCL_OPERATION_ALLTOALL:
	case BCL_OPERATION_ALLTOALLV:
	case BCL_OPERATION_ALLGATHERV:
	case BCL_OPERATION_EXCHANGE:
		return team->size * length;
	case BCL_OPERATION_EXSCAN:
		return team->rank ? length : 0;
	default:
		return length;
	}
}

static bool is_untouched(size_t from)
{
	while (from < sizeof(in) && in[from] == UNTOUCHED)
		from++;
	return from == sizeof(in);
}

/* Rank `odd` gives the other length. The operation may end with OK or
 * TRUNCATED, and the barrier after the operation must end with TRUNCATED. */
static int differ(struct bcl_team *world, enum bcl_operation operation,
		  const struct lengths *lengths, unsigned odd, unsigned id)
{
	size_t length = world->rank == odd ? lengths->other : lengths->usual;
	static const unsigned ranks[] = { 0, 1, 2, 3 };
	enum bcl_status status, after;
	struct bcl_team *team;
	int failed;

	/* all members must have the team before any member loses the team */
	if (bcl_team_create(world, ranks, world->size, id, &team) ||
	    bcl_barrier(world))
		return 1;
	memset(in, UNTOUCHED, sizeof(in));
	status = call(team, operation, length);
	after = bcl_barrier(team);
	seen->truncated += status == BCL_ERR_TRUNCATED;
	failed = (status != BCL_OK && status != BCL_ERR_TRUNCATED) ||
		 after != BCL_ERR_TRUNCATED ||
		 !is_untouched(room(team, operation, length));
	if (failed)
		fprintf(stderr, "rank %u of %u: %s, %u and %u bytes: %s, %s\n",
			team->rank, team->size, bcl_operation_names[operation],
			lengths->usual, lengths->other, bcl_strstatus(status),
			bcl_strstatus(after));
	bcl_team_free(team);
	return failed;
}

static int rank_of(unsigned rank, void *argument)
{
	const struct shape *shape = argument;
	char node[] = { shape->nodes[rank], 0 };
	struct bcl_counter_page *counters;
	unsigned operation, i, odd, id = 0;
	struct bcl_team *world;
	struct bcl_adi *adi;
	int failures = 0;

	setenv("BCL_NODE", node, 1);
	setenv("BCL_NET", "lo", 1);
	setenv("BCL_RAILS", "udp", 1);
	alarm(UNIT_SLOW ? 500 : 100);
	if (bcl_adi_open(NULL, &adi) || bcl_team_world(adi, &world))
		return 100;
	for (operation = 0; operation < BCL_OPERATIONS; operation++)
		for (i = 0; i < sizeof(all_lengths) / sizeof(*all_lengths); i++)
			for (odd = 0; odd < 2; odd++) {
				if (operation == BCL_OPERATION_BARRIER && i)
					continue;
				failures += differ(
					world, (enum bcl_operation)operation,
					&all_lengths[i], odd, id++);
				/* at least one rank must have got TRUNCATED
				 * from the operation */
				failures +=
					bcl_barrier(world) || !seen->truncated;
				bcl_barrier(world);
				seen->truncated = 0;
			}
	counters = bcl_adi_counters(adi);
	seen->differ += bcl_counter_get(counters, BCL_COUNT_coll_differ);
	seen->compared += bcl_counter_get(counters, BCL_COUNT_coll_compared);
	bcl_team_free(world);
	bcl_adi_close(adi);
	return failures != 0;
}

START_TEST(lengths)
{
	const struct shape *shape = &shapes[_i];
	struct capture capture;
	char *said;
	int failed;

	/* a member compares lengths after a part of BCL_PEER_TIMEOUT */
	setenv("BCL_PEER_TIMEOUT", "1s", 1);
	seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert(seen != MAP_FAILED);
	capture_begin(&capture);
	failed = bcl_boot_job_run((unsigned)strlen(shape->nodes), rank_of,
				  (void *)shape);
	said = capture_end(&capture);
	if (failed)
		fputs(said, stderr);
	ck_assert_int_eq(failed, 0);
	if (shape->shares) {
		ck_assert_uint_gt(seen->differ, 0);
		ck_assert_uint_gt(seen->compared, 0);
		/* both readers and waiting members must report the
		 * difference */
		ck_assert_ptr_nonnull(strstr(said, "rank 1 gives 4 bytes to "
						   "gather where rank 0 gives "
						   "8"));
		ck_assert_ptr_nonnull(strstr(said, " bytes where rank "));
	}
	free(said);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("coll_differ");
	TCase *tests = tcase_create("jobs");

	tcase_set_timeout(tests, 600);
	tcase_add_loop_test(tests, lengths, 0,
			    sizeof(shapes) / sizeof(shapes[0]));
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
