/* SPDX-License-Identifier: MIT */
/* Everyone gets every piece once, from somebody who has it. */
#include <stdbool.h>
#include <string.h>

#include "collectives/circulant.h"
#include "tests/unit/need.h"
#include "tests/unit/unit.h"

enum {
	MEMBERS = 130,
	PIECES = 20,
};

/* Do a round at all members; what was received in it counts from the next. */
static void play(const struct bcl_circulant *plans, unsigned size, unsigned i,
		 bool (*has)[PIECES])
{
	static bool had[MEMBERS][PIECES];
	unsigned me;

	memcpy(had, has, sizeof(had));
	for (me = 0; me < size; me++) {
		struct bcl_circulant_round mine, other;

		mine = bcl_circulant_round(&plans[me], i);
		other = bcl_circulant_round(&plans[mine.to], i);
		need_equal(other.from, me);
		need_equal(other.receive, mine.send);
		if (mine.send == BCL_CIRCULANT_NONE)
			continue;
		need(had[me][mine.send]);
		need(!has[mine.to][mine.send]);
		has[mine.to][mine.send] = true;
	}
}

START_TEST(rounds)
{
	static struct bcl_circulant plans[MEMBERS];
	static bool has[MEMBERS][PIECES];
	unsigned size = (unsigned)_i, pieces, i, k;

	for (pieces = 1; pieces <= PIECES; pieces++) {
		memset(has, 0, sizeof(has));
		memset(has[0], 1, sizeof(has[0]));
		for (i = 0; i < size; i++)
			bcl_circulant_init(&plans[i], size, i, pieces);
		for (i = 0; i < plans[0].rounds; i++)
			play(plans, size, i, has);
		for (i = 0; i < size; i++)
			for (k = 0; k < pieces; k++)
				need(has[i][k]);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("circulant");
	TCase *tests = tcase_create("rounds");

	tcase_set_timeout(tests, 60);
	tcase_add_loop_test(tests, rounds, 2, MEMBERS);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
