/* SPDX-License-Identifier: MIT */
/*
 * The matching engine, against a list that is searched from the start. The list
 * defines the right results.
 */
#include "unit.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "adi/match.h"

enum {
	POOL = 1000,
	STEPS = 50000,
};

static bool no_memory;
static unsigned allocations;

static void *allocate(void *world, size_t size)
{
	(void)world;
	if (no_memory)
		return NULL;
	allocations++;
	return calloc(1, size);
}

static void release(void *world, void *memory, size_t size)
{
	(void)world;
	(void)size;
	allocations--;
	free(memory);
}

static const struct bcl_env env = { .allocate = allocate, .release = release };
static struct bcl_match match;

static void setup(void)
{
	no_memory = false;
	allocations = 0;
	bcl_match_open(&match, &env);
}

static void teardown(void)
{
	bcl_match_close(&match);
	ck_assert_uint_eq(allocations, 0);
}

START_TEST(key_is_context_source_tag)
{
	uint64_t key = bcl_match_key(0xabcd, 0x1234, 0x7fffffff);

	ck_assert_uint_eq(key, 0xabcd12347fffffff);
	ck_assert_uint_eq(bcl_match_context(key), 0xabcd);
	ck_assert_uint_eq(bcl_match_source(key), 0x1234);
	ck_assert_uint_eq(bcl_match_tag(key), 0x7fffffff);
}
END_TEST

START_TEST(same_key_in_order)
{
	struct bcl_match_receive receives[100];
	struct bcl_match_message messages[100];
	uint64_t key = bcl_match_key(1, 2, 3);
	unsigned i;

	for (i = 0; i < 100; i++)
		bcl_match_post(&match, &receives[i], key, BCL_MATCH_EXACT);
	/* from the middle, the end and the start */
	bcl_match_unpost(&match, &receives[50]);
	bcl_match_unpost(&match, &receives[99]);
	bcl_match_unpost(&match, &receives[0]);
	for (i = 1; i < 99; i++) {
		if (i != 50)
			ck_assert_ptr_eq(bcl_match_arrive(&match, key),
					 &receives[i]);
	}
	ck_assert_ptr_null(bcl_match_arrive(&match, key));

	for (i = 0; i < 100; i++)
		bcl_match_keep(&match, &messages[i], key);
	for (i = 0; i < 100; i++) {
		ck_assert_ptr_eq(bcl_match_find(&match, key, i % 4),
				 &messages[i]);
		bcl_match_take(&match, &messages[i]);
	}
	ck_assert_ptr_null(bcl_match_find(&match, key, BCL_MATCH_EXACT));
}
END_TEST

START_TEST(oldest_receive_of_all_classes)
{
	static const enum bcl_match_class orders[][4] = {
		{ 0, 1, 2, 3 }, { 3, 2, 1, 0 }, { 2, 0, 3, 1 }, { 1, 3, 0, 2 }
	};
	struct bcl_match_receive receives[4];
	uint64_t key = bcl_match_key(7, 8, 9);
	unsigned i, order;

	for (order = 0; order < 4; order++) {
		for (i = 0; i < 4; i++)
			bcl_match_post(&match, &receives[i], key,
				       orders[order][i]);
		for (i = 0; i < 4; i++)
			ck_assert_ptr_eq(bcl_match_arrive(&match, key),
					 &receives[i]);
		ck_assert_ptr_null(bcl_match_arrive(&match, key));
	}
}
END_TEST

START_TEST(first_receive_is_oldest)
{
	struct bcl_match_receive first, second, third;
	uint64_t key = bcl_match_key(1, 2, 3), other = bcl_match_key(1, 2, 4);

	bcl_match_post(&match, &first, key, BCL_MATCH_ANY_TAG);
	bcl_match_post(&match, &second, key, BCL_MATCH_EXACT);
	ck_assert_ptr_eq(bcl_match_arrive(&match, key), &first);
	/* second is older than the receives that follow, though none
	 * precedes */
	bcl_match_post(&match, &third, key, BCL_MATCH_ANY_SOURCE);
	bcl_match_post(&match, &first, other, BCL_MATCH_EXACT);
	ck_assert_ptr_eq(bcl_match_arrive(&match, key), &second);
	bcl_match_unpost(&match, &third);
	ck_assert_ptr_null(bcl_match_arrive(&match, key));
	bcl_match_unpost(&match, &first);
	ck_assert_ptr_null(bcl_match_arrive(&match, other));
}
END_TEST

START_TEST(window_in_front_is_oldest)
{
	struct bcl_match_receive receives[6];
	uint64_t key = bcl_match_key(1, 2, 3);
	unsigned i;

	for (i = 0; i < 6; i++)
		bcl_match_post(&match, &receives[i], key,
			       i == 3 ? BCL_MATCH_ANY_TAG : BCL_MATCH_EXACT);
	/* a receive in front, and a receive behind the wildcard */
	bcl_match_unpost(&match, &receives[1]);
	bcl_match_unpost(&match, &receives[5]);
	for (i = 0; i < 5; i++) {
		if (i != 1)
			ck_assert_ptr_eq(bcl_match_arrive(&match, key),
					 &receives[i]);
	}
	ck_assert_ptr_null(bcl_match_arrive(&match, key));
}
END_TEST

static void unpost(struct bcl_match_receive *receive, void *arg)
{
	unsigned *n = arg;

	bcl_match_unpost(&match, receive);
	++*n;
}

START_TEST(each_in_front_may_be_taken_out)
{
	struct bcl_match_receive receives[4];
	uint64_t key = bcl_match_key(1, 2, 3);
	unsigned i, n = 0;

	for (i = 0; i < 4; i++)
		bcl_match_post(&match, &receives[i], key + (i == 3),
			       BCL_MATCH_EXACT);
	bcl_match_each(&match, unpost, &n);
	ck_assert_uint_eq(n, 4);
	ck_assert_ptr_null(bcl_match_arrive(&match, key));
	ck_assert_ptr_null(bcl_match_arrive(&match, key + 1));
}
END_TEST

START_TEST(wildcards_leave_context)
{
	struct bcl_match_receive receive;

	bcl_match_post(&match, &receive, bcl_match_key(5, 0, 0),
		       BCL_MATCH_ANY_SOURCE | BCL_MATCH_ANY_TAG);
	ck_assert_ptr_null(bcl_match_arrive(&match, bcl_match_key(6, 1, 1)));
	ck_assert_ptr_eq(bcl_match_arrive(&match, bcl_match_key(5, 9, 9)),
			 &receive);
}
END_TEST

START_TEST(without_memory_only_slower)
{
	static struct bcl_match_receive receives[5000];
	unsigned i;

	no_memory = true;
	for (i = 0; i < 5000; i++)
		bcl_match_post(&match, &receives[i], bcl_match_key(0, 0, i),
			       BCL_MATCH_EXACT);
	for (i = 5000; i-- > 0;)
		ck_assert_ptr_eq(
			bcl_match_arrive(&match, bcl_match_key(0, 0, i)),
			&receives[i]);
}
END_TEST

START_TEST(growth_is_rare)
{
	static struct bcl_match_receive receives[10000];
	unsigned i, round;

	for (round = 0; round < 3; round++) {
		for (i = 0; i < 10000; i++)
			bcl_match_post(&match, &receives[i],
				       bcl_match_key(i & 3, i & 255,
						     i + round * 10000),
				       BCL_MATCH_EXACT);
		for (i = 0; i < 10000; i++)
			ck_assert_ptr_eq(
				bcl_match_arrive(
					&match,
					bcl_match_key(i & 3, i & 255,
						      i + round * 10000)),
				&receives[i]);
	}
	/* one larger array in use, the earlier arrays given back */
	ck_assert_uint_eq(allocations, 1);
}
END_TEST

/* ---- random traffic ------------------------------------------------------ */

struct naive {
	uint64_t key;
	unsigned class;
	unsigned id;
};

struct naive_list {
	struct naive entries[POOL];
	unsigned n;
};

static bool fits(uint64_t receive, unsigned class, uint64_t message)
{
	if (bcl_match_context(receive) != bcl_match_context(message))
		return false;
	if (!(class & BCL_MATCH_ANY_SOURCE) &&
	    bcl_match_source(receive) != bcl_match_source(message))
		return false;
	return class & BCL_MATCH_ANY_TAG ||
	       bcl_match_tag(receive) == bcl_match_tag(message);
}

static void append(struct naive_list *list, uint64_t key, unsigned class,
		   unsigned id)
{
	list->entries[list->n++] = (struct naive){ key, class, id };
}

/* Remove the entry and return the entry's id. */
static unsigned take(struct naive_list *list, unsigned i)
{
	unsigned id = list->entries[i].id;

	memmove(&list->entries[i], &list->entries[i + 1],
		(--list->n - i) * sizeof(list->entries[0]));
	return id;
}

static struct naive_list naive_receives, naive_messages;
static struct bcl_match_receive receives[POOL];
static struct bcl_match_message messages[POOL];
static unsigned free_receives[POOL], free_messages[POOL];
static unsigned nfree_receives, nfree_messages;

static uint64_t random_key(unsigned spread)
{
	return bcl_match_key(rand() % 3, rand() % spread, rand() % spread);
}

static void step_message(uint64_t key)
{
	struct bcl_match_receive *got;
	unsigned i, id;

	if (!nfree_messages)
		return;
	for (i = 0; i < naive_receives.n; i++) {
		if (fits(naive_receives.entries[i].key,
			 naive_receives.entries[i].class, key))
			break;
	}
	got = bcl_match_arrive(&match, key);
	if (i < naive_receives.n) {
		id = take(&naive_receives, i);
		ck_assert_ptr_eq(got, &receives[id]);
		free_receives[nfree_receives++] = id;
		return;
	}
	ck_assert_ptr_null(got);
	id = free_messages[--nfree_messages];
	bcl_match_keep(&match, &messages[id], key);
	append(&naive_messages, key, 0, id);
}

static void step_receive(uint64_t key, unsigned class)
{
	struct bcl_match_message *got = bcl_match_find(&match, key, class);
	unsigned i, id;

	for (i = 0; i < naive_messages.n; i++) {
		if (fits(key, class, naive_messages.entries[i].key))
			break;
	}
	if (i < naive_messages.n) {
		id = take(&naive_messages, i);
		ck_assert_ptr_eq(got, &messages[id]);
		bcl_match_take(&match, got);
		free_messages[nfree_messages++] = id;
		return;
	}
	ck_assert_ptr_null(got);
	if (!nfree_receives)
		return;
	id = free_receives[--nfree_receives];
	bcl_match_post(&match, &receives[id], key, class);
	append(&naive_receives, key, class, id);
}

static void step_cancel(void)
{
	unsigned id;

	if (!naive_receives.n)
		return;
	id = take(&naive_receives, rand() % naive_receives.n);
	bcl_match_unpost(&match, &receives[id]);
	free_receives[nfree_receives++] = id;
}

static void count_each(struct bcl_match_receive *receive, void *arg)
{
	unsigned *n = arg;

	(*n)++;
	bcl_match_unpost(&match, receive);
}

START_TEST(random_traffic_as_by_definition)
{
	const char *given = getenv("BCL_TEST_SEED");
	unsigned seed = given ? strtoul(given, NULL, 0) : 1000u + _i;
	unsigned spread, class, bias = 50, step, n = 0;

	printf("match: BCL_TEST_SEED=%u\n", seed);
	srand(seed);
	spread = 1 + rand() % 40;
	nfree_receives = 0;
	nfree_messages = 0;
	naive_receives.n = 0;
	naive_messages.n = 0;
	while (nfree_receives < POOL) {
		free_receives[nfree_receives] = nfree_receives;
		nfree_receives++;
		free_messages[nfree_messages] = nfree_messages;
		nfree_messages++;
	}
	for (step = 0; step < STEPS; step++) {
		/* now more messages, now more receives */
		if (step % 5000 == 0)
			bias = 20 + rand() % 60;
		class = rand() % 100 < 60 ? 0 : rand() % 4;
		if (rand() % 50 == 0)
			step_cancel();
		else if ((unsigned)(rand() % 100) < bias)
			step_message(random_key(spread));
		else
			step_receive(random_key(spread), class);
	}
	bcl_match_each(&match, count_each, &n);
	ck_assert_uint_eq(n, naive_receives.n);
	ck_assert_uint_eq(match.wild, 0);
	for (class = 0; class < BCL_MATCH_CLASSES; class ++)
		ck_assert_uint_eq(match.receives[class].keys, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("match");
	TCase *tcase = tcase_create("match");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, key_is_context_source_tag);
	tcase_add_test(tcase, same_key_in_order);
	tcase_add_test(tcase, oldest_receive_of_all_classes);
	tcase_add_test(tcase, first_receive_is_oldest);
	tcase_add_test(tcase, window_in_front_is_oldest);
	tcase_add_test(tcase, each_in_front_may_be_taken_out);
	tcase_add_test(tcase, wildcards_leave_context);
	tcase_add_test(tcase, without_memory_only_slower);
	tcase_add_test(tcase, growth_is_rare);
	tcase_add_loop_test(tcase, random_traffic_as_by_definition, 0, 8);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
