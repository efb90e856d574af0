/* SPDX-License-Identifier: MIT */
/* Ends a simulation that cannot go on; see fail.h. */
#include "sim/fail.h"

#include <stdio.h>
#include <stdlib.h>

void sim_fail(const char *what)
{
	fprintf(stderr, "sim: %s\n", what);
	abort();
}
