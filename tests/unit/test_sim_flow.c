/* SPDX-License-Identifier: MIT */
/* The maximum flow: by hand, and by trial of all ways to part places. */
#include "unit.h"

#include "sim/bounds/flow.h"
#include "sim/random.h"

enum {
	PLACES = 8,
	LINKS = 20,
	ROUNDS = 20,
	NETWORKS = 200, /* of a round */
};

struct link {
	uint32_t a, b;
	uint64_t capacity;
};

static uint64_t most(const struct link *links, unsigned n, uint32_t from,
		     uint32_t to)
{
	struct sim_flow *flow = sim_flow_open(PLACES);
	uint64_t all;
	unsigned i;

	for (i = 0; i < n; i++)
		sim_flow_link(flow, links[i].a, links[i].b, links[i].capacity);
	all = sim_flow_most(flow, from, to);
	sim_flow_close(flow);
	return all;
}

START_TEST(by_hand)
{
	static const struct link links[] = {
		{ 0, 1, 3 }, { 1, 2, 2 }, { 0, 2, 4 },
		{ 2, 3, 7 }, { 2, 3, 1 }, { 3, 4, SIM_FLOW_ANY },
	};

	ck_assert_uint_eq(most(links, 6, 0, 1), 5);
	ck_assert_uint_eq(most(links, 6, 0, 2), 6);
	ck_assert_uint_eq(most(links, 6, 0, 4), 6);
	ck_assert_uint_eq(most(links, 6, 4, 0), 6);
	ck_assert_uint_eq(most(links, 6, 2, 4), 8);
	ck_assert_uint_eq(most(links, 6, 0, 5), 0);
}
END_TEST

/* The first way goes from 3 to 2, but in the end the flow must go from 2 to
 * 3. */
START_TEST(against_the_first)
{
	static const struct link links[] = {
		{ 4, 0, 5 }, { 3, 1, 4 }, { 3, 0, 1 }, { 3, 2, 1 },
		{ 5, 2, 1 }, { 2, 4, 3 }, { 1, 5, 2 },
	};

	ck_assert_uint_eq(most(links, 7, 0, 5), 3);
}
END_TEST

/* The capacity of links between the places in `side` and all other places. */
static uint64_t across(const struct link *links, unsigned n, unsigned side)
{
	uint64_t all = 0;
	unsigned i;

	for (i = 0; i < n; i++)
		if ((side >> links[i].a & 1) != (side >> links[i].b & 1))
			all += links[i].capacity;
	return all;
}

static void try_any(uint64_t *seed)
{
	unsigned n = (unsigned)(sim_random(seed) % LINKS), side, i;
	uint64_t least = UINT64_MAX;
	struct link links[LINKS];

	for (i = 0; i < n; i++)
		links[i] = (struct link){
			.a = (uint32_t)(sim_random(seed) % PLACES),
			.b = (uint32_t)(sim_random(seed) % PLACES),
			.capacity = sim_random(seed) % 10,
		};
	/* The first place is in `side`, the last place is not. */
	for (side = 1; side < 1u << (PLACES - 1); side += 2)
		if (across(links, n, side) < least)
			least = across(links, n, side);
	ck_assert_uint_eq(most(links, n, 0, PLACES - 1), least);
}

START_TEST(by_trying)
{
	uint64_t seed = (uint64_t)_i;
	unsigned i;

	for (i = 0; i < NETWORKS; i++)
		try_any(&seed);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sim_flow");
	TCase *tcase = tcase_create("sim_flow");

	tcase_add_test(tcase, by_hand);
	tcase_add_test(tcase, against_the_first);
	tcase_add_loop_test(tcase, by_trying, 0, ROUNDS);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
