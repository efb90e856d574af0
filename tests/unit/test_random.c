/* SPDX-License-Identifier: MIT */
/* Random numbers that nobody can guess. Without the numbers no context may
 * open. */
#include "unit.h"

#include <bcl/bcl.h>

#include "env/random.h"
#include "transport/context.h"

static struct bcl_env env;
static unsigned left; /* numbers that the system still gives */

static uint64_t running_out(void *world)
{
	if (!left)
		return 0;
	left--;
	return bcl_env_linux.random(world);
}

static void setup(void)
{
	env = bcl_env_linux;
	env.random = running_out;
}

/* Half a key is not enough, either. */
START_TEST(no_context_without)
{
	struct bcl_context *context = NULL;

	left = (unsigned)_i;
	ck_assert_int_eq(bcl_context_open(&env, NULL, -1, &context),
			 BCL_ERR_SYSTEM);
	ck_assert_ptr_null(context);
}
END_TEST

/* The numbers that the system gives at first must be enough for good. */
START_TEST(asked_once)
{
	struct bcl_random one = { 0 }, other = { 0 };
	uint64_t ones = 0, zeroes = 0;
	unsigned i;

	left = 4;
	ck_assert(bcl_random_open(&one, &env));
	ck_assert(bcl_random_open(&other, &env));
	ck_assert_uint_eq(left, 0);
	for (i = 0; i < 1000; i++) {
		uint64_t number = bcl_random_draw(&one);

		ck_assert_uint_ne(number, 0);
		ck_assert_uint_ne(number, bcl_random_draw(&other));
		ones |= number;
		zeroes |= ~number;
	}
	ck_assert_uint_eq(ones & zeroes, UINT64_MAX);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("random");
	TCase *tcase = tcase_create("random");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_add_loop_test(tcase, no_context_without, 0, 2);
	tcase_add_test(tcase, asked_once);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
