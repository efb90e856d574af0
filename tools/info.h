/* SPDX-License-Identifier: MIT */
/* The parts of bcl-info. Each prints, and returns an exit status. */
#ifndef BCL_TOOLS_INFO_H
#define BCL_TOOLS_INFO_H

#include <sys/types.h>

#include "transport/context.h"

/* The rails that a context finds, and what others lack. */
int info_rails(void);

/* Two processes of this host: do they share memory, can they attach? */
int info_inside(void);

/* In a job: rank 0 prints which path each pair of ranks uses, and why. */
int info_paths(void);

/* In a job: rank 0 prints which algorithm each collective operation uses, and,
 * for a length in bytes (NULL: none), the cost of each by the model. */
int info_collectives(const size_t *length);

/* The counters of a running process. */
int info_counters(pid_t pid);

#endif
