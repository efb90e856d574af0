/* SPDX-License-Identifier: MIT */
/* How tools say that something failed. */
#include "tools/failed.h"

#include <errno.h>
#include <stdio.h>

#include <bcl/bcl.h>

int tool_failed(const char *what, enum bcl_status status)
{
	fprintf(stderr, "%s: %s: %s\n", program_invocation_short_name, what,
		bcl_strstatus(status));
	return 1;
}
