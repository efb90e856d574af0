/* SPDX-License-Identifier: MIT */
/* The version of the library, as a text. */
#include <bcl/version.h>

const char *bcl_version(void)
{
	return BCL_VERSION_STRING;
}
