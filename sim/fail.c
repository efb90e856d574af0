/* SPDX-License-Identifier: MIT */
#include "sim/fail.h"

#include <stdio.h>
#include <stdlib.h>

void sim_fail(const char *what)
{
	fprintf(stderr, "sim: %s\n", what);
	abort();
}
