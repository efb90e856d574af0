/* SPDX-License-Identifier: MIT */
/* The parts of bcl-ctl. Each function returns an exit status; each failure was
 * reported. */
#ifndef BCL_TOOLS_CTL_H
#define BCL_TOOLS_CTL_H

#include <stdint.h>

/* Call the device `fd`. Returns the call's status, or -1 after a report. */
int ctl_call(int fd, unsigned long call, void *argument);

/* ---- ctl-show.c ---- */

/* A line for each card that the caller may see. */
int ctl_list(int fd);
/* All of one card. */
int ctl_show(int fd, uint64_t card);

#endif
