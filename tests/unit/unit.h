/* SPDX-License-Identifier: MIT */
#ifndef BCL_TESTS_UNIT_H
#define BCL_TESTS_UNIT_H

#include <check.h>
#include <stdlib.h>

/* Runs the suite and frees it; what main() returns. */
static inline int unit_run(Suite *suite)
{
	SRunner *runner = srunner_create(suite);
	int failed;

	srunner_run_all(runner, CK_NORMAL);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

#endif
