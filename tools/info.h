/* SPDX-License-Identifier: MIT */
/* The parts of bcl-info. Each function prints a part and returns an exit
 * status. */
#ifndef BCL_TOOLS_INFO_H
#define BCL_TOOLS_INFO_H

#include <sys/types.h>

#include "collectives/calls.h"
#include "transport/context.h"

/* The rails of a context, and why a rail is missing. */
int info_rails(void);

/* Two processes of this host: can they share memory, can they attach? */
int info_inside(void);

/* In a job: rank 0 prints the path between each pair of ranks, and why. */
int info_paths(void);

/* The request of a user for explanations of choices. */
struct info_request {
	enum bcl_operation operation; /* BCL_OPERATIONS: all */
	bool has_length;
	size_t length;	       /* bytes of a vector or of a block */
	unsigned ranks, nodes; /* a described team; 0: that of the job */
	bool measure;	       /* the candidates of the operation, too */
};

/* In a job: rank 0 prints which algorithm each collective operation uses and,
 * if the request has a length, the cost of each candidate by the model. */
int info_collectives(const struct info_request *request);

/* The counters of a running process. */
int info_counters(pid_t pid);

#endif
