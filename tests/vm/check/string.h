/* SPDX-License-Identifier: MIT */
#include <linux/string.h>
