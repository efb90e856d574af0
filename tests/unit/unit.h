/* SPDX-License-Identifier: MIT */
#ifndef BCL_TESTS_UNIT_H
#define BCL_TESTS_UNIT_H

#include <check.h>
#include <stdlib.h>

#include "tests/tier.h"

/* With a sanitizer all code is many times slower, so tests do a part of the
 * work. */
#ifndef __has_feature /* a macro of clang */
#define __has_feature(feature) 0
#endif
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__) || \
	__has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
#define UNIT_SLOW 1
#else
#define UNIT_SLOW 0
#endif

/* Runs and frees the suite. Returns the exit status for main(). */
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
