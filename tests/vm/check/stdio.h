/* SPDX-License-Identifier: MIT */
/* C's <stdio.h> for tests in a kernel module. */
#ifndef BCL_VM_STDIO_H
#define BCL_VM_STDIO_H

#include <linux/kernel.h>
#include <linux/printk.h>

#define stderr		     0
#define fprintf(stream, ...) pr_info(__VA_ARGS__)

#endif
