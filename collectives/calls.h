/* SPDX-License-Identifier: MIT */
/*
 * The operations, and the last calls of a team's operations. All members make
 * the same calls; each member records its own, and a member that waits for long
 * compares them with the calls of other members (compare.h). The lengths of an
 * alltoallv, gatherv, scatterv or exchange differ between members and are not
 * recorded; only two members have a length in common.
 */
#ifndef BCL_COLLECTIVES_CALLS_H
#define BCL_COLLECTIVES_CALLS_H

#include <stddef.h>
#include <stdint.h>

#include <bcl/coll.h>

enum bcl_operation {
	BCL_OPERATION_BARRIER,
	BCL_OPERATION_BROADCAST,
	BCL_OPERATION_REDUCE,
	BCL_OPERATION_ALLREDUCE,
	BCL_OPERATION_GATHER,
	BCL_OPERATION_SCATTER,
	BCL_OPERATION_ALLGATHER,
	BCL_OPERATION_ALLTOALL,
	BCL_OPERATION_ALLTOALLV,
	BCL_OPERATION_REDUCE_SCATTER,
	BCL_OPERATION_SCAN,
	BCL_OPERATION_EXSCAN,
	BCL_OPERATION_GATHERV,
	BCL_OPERATION_SCATTERV,
	BCL_OPERATION_ALLGATHERV,
	BCL_OPERATION_REDUCE_SCATTERV,
	BCL_OPERATION_SHIFT,
	BCL_OPERATION_EXCHANGE,
	BCL_OPERATIONS
};

extern const char *const bcl_operation_names[BCL_OPERATIONS];

enum {
	BCL_CALLS_KEPT = 32,	 /* calls of a team, by sequence number */
	BCL_CALLS_OPERATION = 6, /* bits of a call; above: bytes */
	BCL_CALLS_TRACE = 32,	 /* bits of a trace that are compared */
};

struct bcl_calls {
	uint64_t call[BCL_CALLS_KEPT];
	uint64_t trace[BCL_CALLS_KEPT]; /* hash of this and all earlier calls */
	uint64_t last;			/* the trace of the last call */
};

static inline uint64_t bcl_calls_call(unsigned operation, size_t length)
{
	_Static_assert(BCL_OPERATIONS <= 1 << BCL_CALLS_OPERATION,
		       "a call has room for each operation");
	return (uint64_t)length << BCL_CALLS_OPERATION | operation;
}

static inline unsigned long long bcl_calls_length(uint64_t call)
{
	return call >> BCL_CALLS_OPERATION;
}

/* The name of the operation; "something" if it is none. */
const char *bcl_calls_name(uint64_t call);

/* A hash of earlier values and of this one. */
static inline uint64_t bcl_calls_hash(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> BCL_CALLS_TRACE;
}

static inline void bcl_calls_note(struct bcl_calls *calls, unsigned sequence,
				  uint64_t call)
{
	unsigned i = sequence % BCL_CALLS_KEPT;

	calls->last = bcl_calls_hash(calls->last, call);
	calls->call[i] = call;
	calls->trace[i] = calls->last;
}

#endif
