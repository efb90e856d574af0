/* SPDX-License-Identifier: MIT */
/* C's <assert.h> for tests in a kernel module. */
#include "check.h"

#undef assert
#define assert(holds) ck_assert(holds)
