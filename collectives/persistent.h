/* SPDX-License-Identifier: MIT */
/*
 * Persistent operations: a call with right arguments, an algorithm and a
 * schedule, to be run many times. A team has a list of operations. When the
 * team is freed, the team parts from the operations, which can then only be
 * freed.
 */
#ifndef BCL_COLLECTIVES_PERSISTENT_H
#define BCL_COLLECTIVES_PERSISTENT_H

#include "collectives/call.h"

struct bcl_persistent {
	struct bcl_team *team; /* NULL: freed */
	struct bcl_persistent *next, **link;
	/* The fastest way to run the call to the end, and to start it. */
	enum bcl_status (*run)(struct bcl_persistent *operation);
	enum bcl_status (*start)(struct bcl_persistent *operation,
				 struct bcl_adi_request **request);
	/* Arrays of the call are not valid any more. */
	struct bcl_call call;
	enum bcl_node_kind node;       /* of an algorithm inside the node */
	struct bcl_schedule *schedule; /* NULL: there is nothing to do */
};

/* Make an operation of a call whose arguments are right. */
enum bcl_status bcl_persistent_make(struct bcl_team *team,
				    const struct bcl_call *call,
				    struct bcl_persistent **operation);

/* The team is being freed: takes the schedules away from the operations of the
 * team. */
void bcl_persistent_part(struct bcl_team *team);

#endif
