/* SPDX-License-Identifier: MIT */
/* The card core: idle connections make room if there is no room for all. */
#include "unit.h"

#include "card_world.h"

static const uint64_t MS = 1000000, SECOND = 1000000000;

START_TEST(idle_connections_make_room)
{
	uint64_t seed = world_seed((unsigned)_i);
	struct world_config config = {
		.seed = seed,
		.pending = seed & 1,
		.cards = 9,
		.ports = 1,
		.connections = 3,
		.drop = seed & 2 ? 100 : 0,
	};
	struct world *world = world_new(&config);
	struct world_port *port[9];
	struct bcl_completion entry;
	uint32_t node[9];

	for (unsigned i = 0; i < 9; i++)
		port[i] = world_port_open(world, i, 1);
	for (unsigned i = 1; i < 9; i++)
		node[i] = world_connect_later(world, 0, i, 2 * MS);
	for (unsigned round = 0; round < 50; round++) {
		unsigned to = 1 + world_random(world, 8);

		ck_assert(world_send(port[0], node[to], 1, "x", 1, round));
		world_run_for(world, 100 * MS);
		ck_assert(world_sent(port[0], &entry));
		ck_assert_int_eq(entry.status, BCL_OK);
		ck_assert(world_received(port[to], &entry));
		ck_assert_uint_eq(entry.targ64, round);
		world_block_free(port[to], entry.index);
	}
	for (unsigned i = 1; i < 9; i++)
		ck_assert_uint_eq(world->card[0].node[node[i]].losses, 0);
	ck_assert_uint_gt(world_counter(world, 0, BCL_CARD_evicted), 5);
	world_free(world);
}
END_TEST

/* Cards send to one another while connections come and go. Nothing is lost. */
START_TEST(eviction_loses_nothing)
{
	uint64_t seed = world_seed((unsigned)_i);
	struct world_config config = {
		.seed = seed,
		.pending = seed & 1,
		.cards = 6,
		.ports = 1,
		.connections = 2,
		.drop = 50,
		.reorder = 100,
	};
	struct world *world = world_new(&config);
	uint32_t sent[6][6] = { 0 }, got[6][6] = { 0 }, node[6][6];
	struct world_port *port[6];
	struct bcl_completion entry;
	unsigned done = 0, want = 0, all;
	uint64_t end;

	for (unsigned i = 0; i < 6; i++)
		port[i] = world_port_open(world, i, 1);
	for (unsigned i = 0; i < 6; i++)
		for (unsigned k = 0; k < 6; k++)
			if (i != k)
				node[i][k] =
					world_connect_later(world, i, k, MS);
	end = world->now + 200 * SECOND;
	all = 300;
	while ((want < all || done < all) && world->now < end) {
		if (want < all) {
			unsigned i = world_random(world, 6);
			unsigned k = world_random(world, 6);

			if (i != k && world_send(port[i], node[i][k], 1, "x", 1,
						 i * 10000 + sent[i][k])) {
				sent[i][k]++;
				want++;
			}
		}
		world_run_for(world, world_random(world, 3 * MS));
		for (unsigned i = 0; i < 6; i++) {
			while (world_sent(port[i], &entry)) {
				ck_assert_int_eq(entry.status, BCL_OK);
				done++;
			}
			while (world_received(port[i], &entry)) {
				unsigned from = entry.targ64 / 10000;

				ck_assert_uint_eq(entry.targ64 % 10000,
						  got[from][i]);
				got[from][i]++;
				world_block_free(port[i], entry.index);
			}
		}
	}
	if (done < all)
		world_dump(world);
	ck_assert_uint_eq(done, all);
	ck_assert_uint_gt(world_counter(world, 0, BCL_CARD_evicted), 0);
	world_free(world);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("card eviction");
	TCase *tcase = tcase_create("eviction");

	tcase_set_timeout(tcase, 120);
	tcase_add_loop_test(tcase, idle_connections_make_room, 0,
			    (int)world_seeds(4));
	tcase_add_loop_test(tcase, eviction_loses_nothing, 0,
			    (int)world_seeds(10));
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
