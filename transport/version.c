/* SPDX-License-Identifier: MIT */
#include <bcl/version.h>

const char *bcl_version(void)
{
	return BCL_VERSION_STRING;
}
