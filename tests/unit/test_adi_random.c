/* SPDX-License-Identifier: MIT */
/* Random traffic in all weathers: adi_traffic.h. */
#include "adi_traffic.h"
#include "adi_world.h"

enum {
	RANKS = 4,
};

static uint64_t seed_of_run;

static void play(struct bcl_adi *adi, unsigned rank)
{
	(void)rank;
	traffic_play(adi, seed_of_run, world_pause);
}

START_TEST(random_traffic)
{
	const char *given = getenv("BCL_TEST_SEED");
	struct mock_options options = world_weather[_i % WORLD_WEATHERS];

	seed_of_run = given ? strtoull(given, NULL, 0) : 7000u + (unsigned)_i;
	printf("adi_random: BCL_TEST_SEED=%llu\n",
	       (unsigned long long)seed_of_run);
	options.seed = seed_of_run;
	world_run(&options, RANKS, play);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("adi_random");
	TCase *tcase = tcase_create("random");

	tcase_add_loop_test(tcase, random_traffic, 0, 3 * WORLD_WEATHERS);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
