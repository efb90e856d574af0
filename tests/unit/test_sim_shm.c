/* SPDX-License-Identifier: MIT */
/*
 * Ranks of one simulated node: the library's own shared-memory path, in virtual
 * time. The tests check that messages and collectives take the time that the
 * costs of the cluster file give.
 */
#include <bcl/coll.h>
#include <stdlib.h>
#include <string.h>

#include "adi/internal.h"
#include "counter.h"
#include "sim/job.h"
#include "unit.h"

#define SECOND 1000000000ull

/* All costs differ, so that a test fails if the simulator charges the wrong
 * cost. */
static const char text[] =
	"cluster nodes=1 ranks=4\n"
	"host send=1.1us receive=0.9us trap=2us pio-write=0.13us "
	"copy=1GB/s line=70ns\n"
	"card mtu=4KB buffers=16 frame-sent=1.3us frame-received=1.7us "
	"read-start=2.3us read=250MB/s write-start=2.9us write=500MB/s\n"
	"wire w bandwidth=200MB/s latency=50ns\n"
	"crossbar x latency=700ns queue=1MB forwarding=cut-through\n"
	"star switch crossbar=x wire=w\n";

enum {
	SEND = 1100, /* ns, as in text[] */
	RECEIVE = 900,
	TRAP = 2000,
	LINE = 70,
	ROUNDS = 10,
	LONG = 1 << 20,
	PIECES = 40000,
};

static struct sim_cluster cluster;
static struct sim_job *job;

static void open_job(void)
{
	char error[SIM_ERROR_SIZE];
	FILE *in = fmemopen((void *)(uintptr_t)text, strlen(text), "r");

	ck_assert_ptr_nonnull(in);
	ck_assert_msg(sim_cluster_read(&cluster, "test", in, error), "%s",
		      error);
	fclose(in);
	job = sim_job_open(&cluster, 1);
}

static void close_job(void)
{
	sim_job_close(job);
	sim_cluster_free(&cluster);
}

static void run(void (*what)(struct sim_rank *rank))
{
	ck_assert_uint_eq(sim_job_run(job, what, NULL, 600 * SECOND), 0);
}

static uint64_t now(const struct sim_rank *rank)
{
	return rank->env->now(rank->env->world);
}

/* ns of copying at 1 GB/s, a GB of 1024 MB. */
static uint64_t copying(uint64_t bytes)
{
	return bytes * 1000000000 / (1 << 30);
}

static uint64_t count(struct bcl_adi *adi, const char *name)
{
	return counter_of(bcl_adi_context(adi), name);
}

static struct bcl_adi *join(struct sim_rank *rank)
{
	struct bcl_adi *adi;

	ck_assert_int_eq(sim_rank_join(rank, &adi), BCL_OK);
	return adi;
}

/* ---- messages ---- */

/* A round of ping-pong between rank 0 (`first`) and rank 1. */
static void turn(struct bcl_adi *adi, bool first, void *bytes, size_t length)
{
	int other = first ? 1 : 0;

	if (first)
		ck_assert_int_eq(bcl_adi_send(adi, bytes, length, other, 1, 0),
				 BCL_OK);
	ck_assert_int_eq(bcl_adi_recv(adi, bytes, length, other, 1, 0, NULL),
			 BCL_OK);
	if (!first)
		ck_assert_int_eq(bcl_adi_send(adi, bytes, length, other, 1, 0),
				 BCL_OK);
}

/* ns of a message of `length` bytes one way: half the round trip of ping-pong
 * between ranks 0 and 1. The measurement begins after ROUNDS rounds, when both
 * ranks have learned of each other. */
static uint64_t one_way(struct sim_rank *rank, struct bcl_adi *adi,
			size_t length)
{
	uint8_t *bytes = calloc(1, length + 1);
	uint64_t start = 0;
	unsigned i;

	for (i = 0; i < 2 * ROUNDS; i++) {
		if (i == ROUNDS)
			start = now(rank);
		turn(adi, rank->boot.rank == 0, bytes, length);
	}
	free(bytes);
	return (now(rank) - start) / (2 * ROUNDS);
}

static void send_short(struct sim_rank *rank)
{
	struct bcl_adi *adi = join(rank);
	uint64_t ns;

	if (rank->boot.rank < 2) {
		ck_assert_uint_eq(one_way(rank, adi, 8), SEND + LINE + RECEIVE);
		/* of 17 lines, sender and receiver copy 16: the first
		 * line costs no copying */
		ns = one_way(rank, adi, 1024);
		ck_assert_uint_ge(ns,
				  SEND + LINE + RECEIVE + 2 * copying(16 * 64));
		ck_assert_uint_le(ns, SEND + LINE + RECEIVE +
					      2 * copying(16 * 64) + SEND);
		ck_assert_uint_ge(count(adi, "shm.messages_line"), 4 * ROUNDS);
	}
	sim_rank_leave(adi);
}

/*
 * Ranks 0 and 1 exchange short messages. A message of one line takes SEND, LINE
 * and RECEIVE. A message of 1 KB takes the copying on both sides as well.
 */
START_TEST(a_message_takes_its_line_and_both_sides)
{
	open_job();
	run(send_short);
	close_job();
}
END_TEST

static void send_long(struct sim_rank *rank)
{
	struct bcl_adi *adi = join(rank);
	uint64_t ns, half = TRAP + copying(LONG / 2);

	if (rank->boot.rank < 2) {
		ns = one_way(rank, adi, LONG);
		ck_assert_uint_ge(ns, half);
		ck_assert_uint_le(ns, half + 6 * (SEND + LINE + RECEIVE));
		ck_assert_uint_eq(count(adi, "shm.bytes_joined"),
				  ROUNDS * (uint64_t)LONG);
	}
	sim_rank_leave(adi);
}

/* A message of LONG bytes is copied by attach: sender and receiver copy half
 * each, at the same time. The message takes as long as a trap and the copying
 * of one half, and at most six short messages more. */
START_TEST(a_long_message_is_copied_by_both)
{
	open_job();
	run(send_long);
	close_job();
}
END_TEST

/* ---- collectives ---- */

/* Pairs of barriers: rank 2 comes to the second barrier 100 us late. */
static void late(struct sim_rank *rank)
{
	struct bcl_adi *adi = join(rank);
	uint64_t arrived, wait = rank->boot.rank == 2 ? 100000 : 0;
	struct bcl_team *team;
	uint64_t messages;
	unsigned i;

	ck_assert_int_eq(bcl_team_world(adi, &team), BCL_OK);
	for (i = 0; i < ROUNDS; i++) {
		ck_assert_int_eq(bcl_barrier(team), BCL_OK);
		messages = count(adi, "shm.messages_received");
		arrived = now(rank);
		sim_compute(sim_job_world(job), wait);
		ck_assert_int_eq(bcl_barrier(team), BCL_OK);
		/* a line from the last rank, and a line by which ranks
		 * left the barrier before at different times */
		ck_assert_uint_le(now(rank) - arrived, 100000 + 2 * LINE);
		ck_assert_uint_ge(now(rank) - arrived, 100000 - LINE);
		ck_assert_uint_eq(count(adi, "shm.messages_received"),
				  messages);
	}
	bcl_team_free(team);
	sim_rank_leave(adi);
}

/* The barrier ends when a line from the last rank arrives, and the ranks send
 * no messages. */
START_TEST(a_barrier_ends_a_line_after_the_last)
{
	open_job();
	run(late);
	close_job();
}
END_TEST

static void sum(struct sim_rank *rank)
{
	struct bcl_adi *adi = join(rank);
	uint32_t *vector = calloc(PIECES, sizeof(*vector));
	uint64_t start, bytes = PIECES * sizeof(*vector);
	struct bcl_team *team;
	unsigned i;

	ck_assert_int_eq(bcl_team_world(adi, &team), BCL_OK);
	for (i = 0; i < PIECES; i++)
		vector[i] = i + rank->boot.rank;
	start = now(rank);
	ck_assert_int_eq(bcl_allreduce(team, vector, vector, PIECES,
				       bcl_reduction(BCL_SUM, BCL_UINT32)),
			 BCL_OK);
	/* Each rank writes a whole vector to the segment, and reads at least
	 * three quarters of a vector. */
	ck_assert_uint_ge(now(rank) - start, copying(bytes * 7 / 4));
	ck_assert_uint_le(now(rank) - start, 4 * copying(bytes));
	for (i = 0; i < PIECES; i++)
		ck_assert_uint_eq(vector[i], 4 * i + 6);
	free(vector);
	bcl_team_free(team);
	sim_rank_leave(adi);
}

/* An allreduce through the node's segment: the result is right, and the time is
 * between 7/4 and 4 times that of copying the vector once. */
START_TEST(copying_in_the_segment_takes_its_time)
{
	open_job();
	run(sum);
	close_job();
}
END_TEST

static void exchange(struct sim_rank *rank)
{
	enum {
		BLOCK = 512,
		RANKS = 4
	};
	static uint8_t blocks[2][RANKS * BLOCK];
	struct bcl_adi *adi = join(rank);
	struct bcl_team *team;
	uint64_t start;
	unsigned i;

	ck_assert_int_eq(bcl_team_world(adi, &team), BCL_OK);
	for (i = 0; i < ROUNDS; i++) {
		ck_assert_int_eq(bcl_barrier(team), BCL_OK);
		start = now(rank);
		ck_assert_int_eq(
			bcl_alltoall(team, blocks[0], blocks[1], BLOCK),
			BCL_OK);
		ck_assert_uint_lt(now(rank) - start,
				  copying(2 * RANKS * BLOCK));
	}
	bcl_team_free(team);
	sim_rank_leave(adi);
}

/*
 * An all-to-all through the segment. All ranks write their blocks, then all
 * ranks read at the same time. No rank waits until another rank has read: the
 * exchange takes less than copying the blocks twice.
 */
START_TEST(an_exchange_is_copied_by_all_at_once)
{
	open_job();
	run(exchange);
	close_job();
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sim shm");
	TCase *tests = tcase_create("one node");

	tcase_set_timeout(tests, 60);
	tcase_add_test(tests, a_message_takes_its_line_and_both_sides);
	tcase_add_test(tests, a_long_message_is_copied_by_both);
	tcase_add_test(tests, a_barrier_ends_a_line_after_the_last);
	tcase_add_test(tests, copying_in_the_segment_takes_its_time);
	tcase_add_test(tests, an_exchange_is_copied_by_all_at_once);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
