/* SPDX-License-Identifier: MIT */
/* Fed pulls with a peer that breaks the rules, and with a claim word that
 * another process has changed: the pair ends with an error, and nobody waits
 * for ever. */
#include <unistd.h>

#include "tests/unit/ranks.h"
#include "tests/unit/unit.h"
#include "transport/shm/host.h"
#include "transport/shm/message.h"
#include "transport/shm/port.h"

enum {
	LENGTH = 60000,
};

static uint8_t buffer[LENGTH];

static struct bcl_connection *connection_of(struct rank *rank)
{
	return rank->peers[!rank->me]->path;
}

static void give(struct rank *rank, unsigned signal)
{
	atomic_store(&rank->all->signals[signal], 1);
}

/* Does not poll the port. */
static void await(struct rank *rank, unsigned signal)
{
	while (!atomic_load(&rank->all->signals[signal]))
		usleep(1000);
}

enum {
	READY, /* rank 0 is */
	ASKED, /* rank 1 has asked for the offer */
};

/* Rank 0 offers the buffer; both ranks return with the token. */
static struct bcl_token offer_again(struct rank *rank)
{
	struct bcl_token token;
	struct bcl_event event;

	if (rank->me == 0) {
		ck_assert_int_eq(
			bcl_offer(rank->peers[1], buffer, LENGTH, 1, &token),
			BCL_OK);
		rank_send(rank, 1, 0, &token, sizeof(token));
	} else {
		rank_expect(rank, BCL_EVENT_MESSAGE, &event);
		memcpy(&token, event.data, sizeof(token));
	}
	return token;
}

static struct bcl_token offered(struct rank *rank)
{
	ck_assert_int_eq(rank_connect(rank, !rank->me), BCL_OK);
	return offer_again(rank);
}

static void begin_pull(struct rank *rank, const struct bcl_token *token)
{
	ck_assert_int_eq(bcl_pull(rank->peers[0], token, buffer, LENGTH, 2),
			 BCL_OK);
}

static void expect_failure(struct rank *rank, enum bcl_event_kind kind)
{
	struct bcl_event event;

	rank_expect(rank, kind, &event);
	ck_assert_int_ne(event.status, BCL_OK);
}

static void fetch(struct rank *rank, const struct bcl_token *token,
		  uint64_t length)
{
	const struct bcl_join join = { .length = length };

	ck_assert_int_eq(bcl_pair_send(&connection_of(rank)->pair,
				       BCL_SHM_FETCH,
				       bcl_message_slot(token->slot,
							token->generation, 2),
				       &join, sizeof(join)),
			 BCL_OK);
}

/* `back` of the claim word grows: the word says that no chunk is left, although
 * nobody has copied one. */
static void scribble(struct rank *rank)
{
	struct bcl_token token = offered(rank);
	struct bcl_connection *c = connection_of(rank);
	const struct bcl_pull *pull;

	if (rank->me == 0) {
		give(rank, READY);
		await(rank, ASKED);
		expect_failure(rank, BCL_EVENT_READ);
	} else {
		await(rank, READY);
		begin_pull(rank, &token);
		pull = c->large.tables->draining;
		ck_assert_ptr_nonnull(pull);
		atomic_fetch_add(&bcl_pull_claim(c, pull)->word, 5);
		give(rank, ASKED);
		expect_failure(rank, BCL_EVENT_PULLED);
	}
	rank_barrier(rank);
}

START_TEST(a_changed_claim_ends_the_pair)
{
	if (_i)
		setenv("BCL_ATTACH", "0", 1);
	setenv("BCL_PEER_TIMEOUT", "1s", 1); /* an audit every eighth of it */
	ranks_run(2, scribble, 0);
}
END_TEST

/* Rank 1 asks twice for nothing. The queue of offers must not become a ring. */
static void ask_for_nothing(struct rank *rank)
{
	struct bcl_token token = offered(rank);

	if (rank->me == 0) {
		give(rank, READY);
		await(rank, ASKED);
		expect_failure(rank, BCL_EVENT_READ);
	} else {
		await(rank, READY);
		fetch(rank, &token, 0);
		fetch(rank, &token, 0);
		give(rank, ASKED);
	}
	rank_barrier(rank);
}

START_TEST(a_fetch_of_nothing_is_refused)
{
	ranks_run(2, ask_for_nothing, 0);
}
END_TEST

/* Rank 1 asks without a claim. The offer must not be withdrawn while it is in
 * the queue. */
static void ask_without_claim(struct rank *rank)
{
	struct bcl_token token = offered(rank);
	struct bcl_connection *c = connection_of(rank);
	struct bcl_event event;

	if (rank->me == 0) {
		while (!c->large.tables->offers[token.slot].wanted)
			bcl_poll(rank->port, &event);
		ck_assert_int_eq(bcl_withdraw(rank->peers[1], &token),
				 BCL_ERR_BUSY);
	} else {
		fetch(rank, &token, LENGTH);
	}
	rank_barrier(rank);
}

START_TEST(an_offer_that_is_fed_is_not_withdrawn)
{
	ranks_run(2, ask_without_claim, 0);
}
END_TEST

/* ---- a host of which the test takes something away ---- */

static _Atomic bool no_memory;
static _Atomic unsigned refused;     /* times that there was none */
static struct bcl_claim *claim_read; /* NULL: reads are the system's */
static struct bcl_token token_read;

static bool reserve_some(void *world, int fd, size_t offset, size_t size)
{
	if (!no_memory)
		return bcl_shm_linux.reserve(world, fd, offset, size);
	refused++;
	return false;
}

static enum bcl_status populate_some(void *world, void *address, size_t size)
{
	if (!no_memory)
		return bcl_shm_linux.populate(world, address, size);
	refused++;
	return BCL_ERR_NOMEM;
}

/* The offer ends while the start of its buffer is read. */
static enum bcl_status read_what_ends(void *world, pid_t pid, void *local,
				      uint64_t remote, size_t length)
{
	enum bcl_status status =
		bcl_shm_linux.read(world, pid, local, remote, length);

	if (claim_read && remote == token_read.address)
		bcl_claim_free(claim_read, token_read.generation);
	return status;
}

static void open_on_host(struct rank *rank)
{
	static struct bcl_shm_host host;
	static struct bcl_env env;

	host = bcl_shm_linux;
	host.reserve = reserve_some;
	host.populate = populate_some;
	host.read = read_what_ends;
	env = bcl_env_linux;
	env.shm_host = &host;
	rank->env = &env;
	rank_open(rank, NULL);
	rank_barrier(rank);
}

/* Rank 0 has no memory for its bounce area. Rank 1 reads by attach. */
static void feed_without_memory(struct rank *rank)
{
	struct bcl_token token;
	struct bcl_event event;

	open_on_host(rank);
	token = offered(rank);
	if (rank->me == 0) {
		no_memory = true;
		give(rank, READY);
		rank_expect(rank, BCL_EVENT_READ, &event);
	} else {
		await(rank, READY);
		begin_pull(rank, &token);
		rank_expect(rank, BCL_EVENT_PULLED, &event);
		ck_assert_uint_eq(rank_counter(rank, "shm.bytes_bounced"), 0);
	}
	ck_assert_int_eq(event.status, BCL_OK);
	rank_barrier(rank);
	rank_close(rank);
}

START_TEST(a_sender_without_memory_need_not_feed)
{
	ranks_run_bare(2, feed_without_memory, 0);
}
END_TEST

/* Rank 1 has no memory for a bounce area. It reads by attach, and asks for the
 * memory at the first of many messages. */
static void read_without_memory(struct rank *rank)
{
	enum {
		MESSAGES = 100
	};
	struct bcl_token token;
	struct bcl_event event;
	unsigned i;

	open_on_host(rank);
	ck_assert_int_eq(rank_connect(rank, !rank->me), BCL_OK);
	no_memory = rank->me;
	for (i = 0; i < MESSAGES; i++) {
		token = offer_again(rank);
		if (rank->me == 0) {
			rank_expect(rank, BCL_EVENT_READ, &event);
		} else {
			begin_pull(rank, &token);
			rank_expect(rank, BCL_EVENT_PULLED, &event);
		}
		ck_assert_int_eq(event.status, BCL_OK);
	}
	ck_assert_uint_eq(refused, rank->me);
	rank_barrier(rank);
	rank_close(rank);
}

START_TEST(a_reader_without_memory_does_not_ask_each_time)
{
	ranks_run_bare(2, read_without_memory, 0);
}
END_TEST

/* Rank 0 feeds nothing, so rank 1 reads by attach, the start of the buffer
 * last. The offer ends during the last read; rank 1 cannot know whether the
 * bytes are still those of the offer. */
static void read_too_late(struct rank *rank)
{
	struct bcl_connection *c;
	struct bcl_token token;
	struct bcl_event event;

	open_on_host(rank);
	token = offered(rank);
	c = connection_of(rank);
	if (rank->me == 0) {
		await(rank, READY);
	} else {
		claim_read = &c->segment.head->claims[!c->side][token.slot];
		token_read = token;
		begin_pull(rank, &token);
		rank_expect(rank, BCL_EVENT_PULLED, &event);
		ck_assert_int_eq(event.status, BCL_ERR_CANCELLED);
		give(rank, READY);
	}
	rank_barrier(rank);
	rank_close(rank);
}

START_TEST(an_offer_that_ends_is_not_read)
{
	ranks_run_bare(2, read_too_late, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("fed");
	TCase *tests = tcase_create("fed");

	tcase_add_loop_test(tests, a_changed_claim_ends_the_pair, 0, 2);
	tcase_add_test(tests, a_fetch_of_nothing_is_refused);
	tcase_add_test(tests, an_offer_that_is_fed_is_not_withdrawn);
	tcase_add_test(tests, a_sender_without_memory_need_not_feed);
	tcase_add_test(tests, a_reader_without_memory_does_not_ask_each_time);
	tcase_add_test(tests, an_offer_that_ends_is_not_read);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
