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

/* The counters of a running process. */
int info_counters(pid_t pid);

#endif
