/* SPDX-License-Identifier: MIT */
#ifndef BCL_TOOLS_FAILED_H
#define BCL_TOOLS_FAILED_H

#include <bcl/status.h>

/* Says what of this tool failed, and why. Returns 1. */
int tool_failed(const char *what, enum bcl_status status);

#endif
