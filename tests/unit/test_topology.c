/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include <sched.h>
#include <stdio.h>
#include <unistd.h>

#include "env/env.h"
#include "transport/topology.h"

START_TEST(agrees_with_the_mask)
{
	struct bcl_topology t;

	ck_assert_int_eq(bcl_topology_read(&t), BCL_OK);
	ck_assert_uint_eq(t.processors, bcl_env_linux.processors(NULL));
	ck_assert_uint_ge(t.machine_processors, t.processors);
	ck_assert_uint_ge(t.processors, t.cores);
	ck_assert_uint_ge(t.cores, 1);
	ck_assert_int_eq(t.bound, t.processors < t.machine_processors);
}
END_TEST

START_TEST(bound_to_one)
{
	struct bcl_topology t;
	char mask[16];
	cpu_set_t set;
	int cpu = 0;

	ck_assert_int_eq(sched_getaffinity(0, sizeof(set), &set), 0);
	while (!CPU_ISSET(cpu, &set))
		cpu++;
	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(set), &set), 0);
	ck_assert_int_eq(bcl_topology_read(&t), BCL_OK);
	ck_assert_uint_eq(t.processors, 1);
	ck_assert_uint_eq(t.cores, 1);
	/* the parent's processors are for all ranks of the parent */
	ck_assert_int_eq(sched_getaffinity(getppid(), sizeof(set), &set), 0);
	ck_assert_uint_eq(bcl_env_linux.processors(NULL), CPU_COUNT(&set));
	ck_assert_int_eq(t.bound, t.machine_processors > 1);
	snprintf(mask, sizeof(mask), "%d", cpu);
	ck_assert_str_eq(t.mask, mask);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("topology");
	TCase *tcase = tcase_create("topology");

	tcase_add_test(tcase, agrees_with_the_mask);
	tcase_add_test(tcase, bound_to_one);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
