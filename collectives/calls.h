/* SPDX-License-Identifier: MIT */
/*
 * The calls of a team's operations, as each member keeps the last ones: all
 * members make the same calls, and who waits in vain compares its own with
 * those of others (compare.h). What lengths of alltoallv are is nobody else's
 * business.
 */
#ifndef BCL_COLLECTIVES_CALLS_H
#define BCL_COLLECTIVES_CALLS_H

#include <stddef.h>
#include <stdint.h>

#include <bcl/coll.h>

enum {
	BCL_CALLS_KEPT = 32,	 /* of a team, by sequence number */
	BCL_CALLS_OPERATION = 4, /* bits of a call; before it bytes */
	BCL_CALLS_TRACE = 32,	 /* bits of a trace that are compared */
};

struct bcl_calls {
	uint64_t call[BCL_CALLS_KEPT];
	uint64_t trace[BCL_CALLS_KEPT]; /* mixed of it and all before it */
	uint64_t last;			/* the last of those */
};

static inline uint64_t bcl_calls_call(unsigned operation, size_t length)
{
	return (uint64_t)length << BCL_CALLS_OPERATION | operation;
}

static inline void bcl_calls_note(struct bcl_calls *calls, unsigned sequence,
				  uint64_t call)
{
	unsigned i = sequence % BCL_CALLS_KEPT;

	calls->last = (calls->last ^ call) * UINT64_C(0x9e3779b97f4a7c15);
	calls->last ^= calls->last >> BCL_CALLS_TRACE;
	calls->call[i] = call;
	calls->trace[i] = calls->last;
}

#endif
