/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include <bcl/version.h>
#include <stdio.h>

START_TEST(library_matches_header)
{
	char text[32];

	snprintf(text, sizeof(text), "%d.%d.%d", BCL_VERSION_MAJOR,
		 BCL_VERSION_MINOR, BCL_VERSION_PATCH);
	ck_assert_str_eq(bcl_version(), text);
	ck_assert_str_eq(bcl_version(), BCL_VERSION_STRING);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("version");
	TCase *tcase = tcase_create("version");

	tcase_add_test(tcase, library_matches_header);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
