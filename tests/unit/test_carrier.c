/* SPDX-License-Identifier: MIT */
/*
 * Collectives whose messages the caller carries: members are threads, and what
 * they send lies in one list.
 */
#include "unit.h"

#include <pthread.h>
#include <string.h>

#include <bcl/coll.h>

#include "transport/port.h"

enum {
	MEMBERS_MAX = 35, /* a root has 32 messages on their way */
	COUNT = 3,
};

struct message {
	struct message *next;
	unsigned from, to;
	int kind; /* of the errand */
	size_t length;
	unsigned char bytes[];
};

static struct message *messages, **last;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t come = PTHREAD_COND_INITIALIZER;

static unsigned size;

struct member {
	pthread_t thread;
	unsigned rank;
	struct bcl_port port;
	struct bcl_carrier *carrier;
	unsigned received;
	enum bcl_status status; /* of what it receives */
};

struct errand {
	struct member *member;
	int kind;
};

static enum bcl_status carry_to(void *arg, unsigned rank, const void *data,
				size_t length)
{
	const struct errand *errand = arg;
	struct message *message = malloc(sizeof(*message) + length);

	*message = (struct message){ .from = errand->member->rank,
				     .to = rank,
				     .kind = errand->kind,
				     .length = length };
	if (length)
		memcpy(message->bytes, data, length);
	pthread_mutex_lock(&lock);
	*last = message;
	last = &message->next;
	pthread_cond_broadcast(&come);
	pthread_mutex_unlock(&lock);
	return BCL_OK;
}

static struct message *take(const struct errand *errand, unsigned from)
{
	struct message **place = &messages, *message;

	for (; (message = *place); place = &message->next) {
		if (message->from != from ||
		    message->to != errand->member->rank ||
		    message->kind != errand->kind)
			continue;
		*place = message->next;
		if (!*place)
			last = place;
		break;
	}
	return message;
}

static enum bcl_status carry_from(void *arg, unsigned rank, void *data,
				  size_t length)
{
	struct errand *errand = arg;
	struct message *message;

	errand->member->received++;
	if (errand->member->status)
		return errand->member->status;
	pthread_mutex_lock(&lock);
	while (!(message = take(errand, rank)))
		pthread_cond_wait(&come, &lock);
	pthread_mutex_unlock(&lock);
	ck_assert_uint_eq(message->length, length);
	if (length)
		memcpy(data, message->bytes, length);
	free(message);
	return BCL_OK;
}

static void open_member(struct member *member, unsigned rank)
{
	const struct bcl_carrier_options options = {
		.struct_size = sizeof(options),
		.rank = rank,
		.size = size,
		.port = &member->port,
		.send = carry_to,
		.receive = carry_from,
	};

	member->rank = rank;
	member->port.counters = calloc(1, sizeof(*member->port.counters));
	ck_assert_int_eq(bcl_carrier_open(&options, &member->carrier), BCL_OK);
}

static void close_member(struct member *member)
{
	bcl_carrier_close(member->carrier);
	free(member->port.counters);
}

/* All of a number of members do the same at once. */
static void run(unsigned members, void *(*what)(void *member))
{
	struct member *all = calloc(members, sizeof(*all));

	size = members;
	last = &messages;
	for (unsigned i = 0; i < members; i++) {
		open_member(&all[i], i);
		ck_assert_int_eq(
			pthread_create(&all[i].thread, NULL, what, &all[i]), 0);
	}
	for (unsigned i = 0; i < members; i++) {
		pthread_join(all[i].thread, NULL);
		close_member(&all[i]);
	}
	ck_assert_ptr_null(messages);
	free(all);
}

static const unsigned sizes[] = { 1, 2, 3, 5, 8, 13, MEMBERS_MAX };

static uint64_t counted(const struct member *member, enum bcl_counter_id id)
{
	return bcl_counter_get(member->port.counters, id);
}

/* ---- barrier ---- */

static unsigned in;

static void *barriers(void *arg)
{
	struct member *member = arg;
	struct errand errand = { member, 1 };

	for (unsigned i = 1; i <= COUNT; i++) {
		__atomic_add_fetch(&in, 1, __ATOMIC_SEQ_CST);
		ck_assert_int_eq(bcl_carrier_barrier(member->carrier, &errand),
				 BCL_OK);
		ck_assert_uint_ge(__atomic_load_n(&in, __ATOMIC_SEQ_CST),
				  i * size);
	}
	ck_assert_uint_eq(counted(member, BCL_COUNT_coll_barrier), COUNT);
	return NULL;
}

START_TEST(nobody_is_out_before_all_are_in)
{
	in = 0;
	run(sizes[_i], barriers);
}
END_TEST

/* ---- reduce ---- */

static unsigned levels(void)
{
	unsigned n = 0;

	while (1u << n < size)
		n++;
	return n;
}

static void *reduce(void *arg)
{
	struct member *member = arg;
	struct errand errand = { member, 1 };
	int64_t values[COUNT], sum[COUNT];

	for (unsigned root = 0; root < size; root++) {
		for (int i = 0; i < COUNT; i++)
			values[i] = (int64_t)member->rank + i;
		member->received = 0;
		ck_assert_int_eq(
			bcl_carrier_reduce(member->carrier, &errand, values,
					   root % 2 ? values : sum, COUNT,
					   bcl_reduction(BCL_SUM, BCL_INT64),
					   root),
			BCL_OK);
		ck_assert_uint_le(member->received, levels());
		if (root != member->rank)
			continue;
		ck_assert_uint_eq(member->received, levels());
		for (int i = 0; i < COUNT; i++)
			ck_assert_int_eq((root % 2 ? values : sum)[i],
					 (int64_t)size * (size - 1) / 2 +
						 (int64_t)size * i);
	}
	ck_assert_uint_eq(counted(member, BCL_COUNT_coll_reduce), size);
	return NULL;
}

START_TEST(sums_take_few_messages)
{
	run(sizes[_i], reduce);
}
END_TEST

/* ---- gather and scatter ---- */

static void *blocks(void *arg)
{
	struct member *member = arg;
	struct errand gather = { member, 1 }, scatter = { member, 2 };
	unsigned mine[COUNT], *all = calloc(size, sizeof(mine));

	for (unsigned root = 0; root < size; root++) {
		for (unsigned i = 0; i < COUNT; i++)
			mine[i] = member->rank * COUNT + i;
		memset(all, 0xff, size * sizeof(mine));
		ck_assert_int_eq(bcl_carrier_gather(member->carrier, &gather,
						    mine, sizeof(mine), all,
						    root),
				 BCL_OK);
		for (unsigned i = 0; root == member->rank && i < size * COUNT;
		     i++)
			ck_assert_uint_eq(all[i], i);
		memset(mine, 0xff, sizeof(mine));
		ck_assert_int_eq(bcl_carrier_scatter(member->carrier, &scatter,
						     all, mine, sizeof(mine),
						     root),
				 BCL_OK);
		for (unsigned i = 0; i < COUNT; i++)
			ck_assert_uint_eq(mine[i], member->rank * COUNT + i);
	}
	ck_assert_uint_eq(counted(member, BCL_COUNT_coll_gather), size);
	ck_assert_uint_eq(counted(member, BCL_COUNT_coll_scatter), size);
	free(all);
	return NULL;
}

START_TEST(blocks_come_where_they_belong)
{
	run(sizes[_i], blocks);
}
END_TEST

/* ---- order ---- */

/* Half of the members run two in the other order. */
static void *crossed(void *arg)
{
	const struct bcl_reduction *sum = bcl_reduction(BCL_SUM, BCL_INT64);
	struct member *member = arg;

	for (int i = 0; i < 2; i++) {
		int kind = member->rank % 2 ? 1 - i : i;
		struct errand errand = { member, kind };
		int64_t value = kind ? 1 : 1000, all[MEMBERS_MAX];

		ck_assert_int_eq(bcl_carrier_reduce(member->carrier, &errand,
						    &value, &value, 1, sum, 0),
				 BCL_OK);
		if (!member->rank)
			ck_assert_int_eq(value, size * (kind ? 1 : 1000));
		value = kind;
		errand.kind += 2;
		ck_assert_int_eq(bcl_carrier_gather(member->carrier, &errand,
						    &value, sizeof(value), all,
						    0),
				 BCL_OK);
		for (unsigned k = 0; !member->rank && k < size; k++)
			ck_assert_int_eq(all[k], kind);
	}
	return NULL;
}

START_TEST(members_may_run_them_in_any_order)
{
	run(sizes[_i], crossed);
}
END_TEST

/* ---- what is wrong ---- */

START_TEST(what_a_carrier_says_ends_it)
{
	struct member member = { .status = BCL_ERR_DEAD };
	struct errand errand = { &member, 1 };
	int64_t value = 1, all[2];

	size = 2;
	last = &messages;
	open_member(&member, 0);
	ck_assert_int_eq(bcl_carrier_barrier(member.carrier, &errand),
			 BCL_ERR_DEAD);
	ck_assert_int_eq(
		bcl_carrier_reduce(member.carrier, &errand, &value, &value, 1,
				   bcl_reduction(BCL_SUM, BCL_INT64), 0),
		BCL_ERR_DEAD);
	ck_assert_int_eq(bcl_carrier_gather(member.carrier, &errand, &value,
					    sizeof(value), all, 0),
			 BCL_ERR_DEAD);
	ck_assert_int_eq(bcl_carrier_gather(member.carrier, &errand, &value,
					    sizeof(value), all, 2),
			 BCL_ERR_ARG);
	ck_assert_ptr_null(messages);
	close_member(&member);
}
END_TEST

START_TEST(options_that_make_no_sense)
{
	struct bcl_port port = { 0 };
	const struct bcl_carrier_options good = {
		.struct_size = sizeof(good),
		.rank = 1,
		.size = 2,
		.port = &port,
		.send = carry_to,
		.receive = carry_from,
	};
	struct bcl_carrier_options options = good;
	struct bcl_carrier *carrier;

	options.struct_size--;
	ck_assert_int_eq(bcl_carrier_open(&options, &carrier), BCL_ERR_ARG);
	options = good;
	options.rank = 2;
	ck_assert_int_eq(bcl_carrier_open(&options, &carrier), BCL_ERR_ARG);
	options = good;
	options.receive = NULL;
	ck_assert_int_eq(bcl_carrier_open(&options, &carrier), BCL_ERR_ARG);
	ck_assert_int_eq(bcl_carrier_open(NULL, &carrier), BCL_ERR_ARG);
}
END_TEST

int main(void)
{
	enum {
		SIZES = sizeof(sizes) / sizeof(*sizes)
	};
	Suite *suite = suite_create("carrier");
	TCase *tests = tcase_create("carrier");

	tcase_add_loop_test(tests, nobody_is_out_before_all_are_in, 0, SIZES);
	tcase_add_loop_test(tests, sums_take_few_messages, 0, SIZES);
	tcase_add_loop_test(tests, blocks_come_where_they_belong, 0, SIZES);
	tcase_add_loop_test(tests, members_may_run_them_in_any_order, 0, SIZES);
	tcase_add_test(tests, what_a_carrier_says_ends_it);
	tcase_add_test(tests, options_that_make_no_sense);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
