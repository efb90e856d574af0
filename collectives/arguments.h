/* SPDX-License-Identifier: MIT */
/*
 * The arguments of an operation: they become a call (call.h), and are checked.
 * Blocking operations do both in line, where the compiler knows the operation.
 */
#ifndef BCL_COLLECTIVES_ARGUMENTS_H
#define BCL_COLLECTIVES_ARGUMENTS_H

#include "base/base.h"
#include "collectives/call.h"

/* Rules for the arguments of an operation. */
enum {
	BCL_RULE_ROOT = 1,
	/* Only the root needs `send`, and BCL_IN_PLACE stands for `receive`,
	 * not for `send`. */
	BCL_RULE_ROOT_SENDS = 2,
	BCL_RULE_ROOT_RECEIVES = 4, /* only the root needs `receive` */
	/* BCL_IN_PLACE stands for the own block of the other buffer, if there
	 * is a root only at the root. Otherwise for all of the other buffer. */
	BCL_RULE_BLOCKS = 8,
	BCL_RULE_REDUCES = 16,
	BCL_RULE_VARIOUS = 32, /* blocks of different lengths */
};

static const unsigned char bcl_argument_rules[BCL_OPERATIONS] = {
	[BCL_OPERATION_BROADCAST] = BCL_RULE_ROOT,
	[BCL_OPERATION_REDUCE] =
		BCL_RULE_ROOT | BCL_RULE_ROOT_RECEIVES | BCL_RULE_REDUCES,
	[BCL_OPERATION_ALLREDUCE] = BCL_RULE_REDUCES,
	[BCL_OPERATION_GATHER] =
		BCL_RULE_ROOT | BCL_RULE_ROOT_RECEIVES | BCL_RULE_BLOCKS,
	[BCL_OPERATION_SCATTER] =
		BCL_RULE_ROOT | BCL_RULE_ROOT_SENDS | BCL_RULE_BLOCKS,
	[BCL_OPERATION_ALLGATHER] = BCL_RULE_BLOCKS,
	[BCL_OPERATION_REDUCE_SCATTER] = BCL_RULE_REDUCES,
	[BCL_OPERATION_SCAN] = BCL_RULE_REDUCES,
	[BCL_OPERATION_EXSCAN] = BCL_RULE_REDUCES,
	[BCL_OPERATION_ALLTOALLV] = BCL_RULE_VARIOUS,
	[BCL_OPERATION_GATHERV] = BCL_RULE_VARIOUS | BCL_RULE_ROOT,
	[BCL_OPERATION_SCATTERV] = BCL_RULE_VARIOUS | BCL_RULE_ROOT,
	[BCL_OPERATION_ALLGATHERV] = BCL_RULE_VARIOUS,
	[BCL_OPERATION_REDUCE_SCATTERV] = BCL_RULE_VARIOUS,
	[BCL_OPERATION_EXCHANGE] = BCL_RULE_VARIOUS,
};

static bcl_always_inline struct bcl_call
bcl_arguments_blocks(enum bcl_operation operation, const void *send,
		     void *receive, size_t length, unsigned root)
{
	return (struct bcl_call){
		.operation = operation,
		.send = send,
		.receive = receive,
		.length = length,
		.root = root,
	};
}

/* No reduction in the result: the vector or the reduction is wrong. */
static bcl_always_inline struct bcl_call
bcl_arguments_vector(enum bcl_operation operation, const void *send,
		     void *receive, size_t count,
		     const struct bcl_reduction *reduction, unsigned root)
{
	struct bcl_call call =
		bcl_arguments_blocks(operation, send, receive, 0, root);

	if (reduction && reduction->element &&
	    !__builtin_mul_overflow(count, reduction->element, &call.length))
		call.reduction = reduction;
	return call;
}

static bcl_always_inline struct bcl_call bcl_arguments_shifted(const void *send,
							       void *receive,
							       size_t length,
							       int distance)
{
	struct bcl_call call = bcl_arguments_blocks(BCL_OPERATION_SHIFT, send,
						    receive, length, 0);

	call.distance = distance;
	return call;
}

struct bcl_call bcl_arguments_exchanged(const void *send,
					const size_t *send_lengths,
					const size_t *send_offsets,
					void *receive,
					const size_t *receive_lengths,
					const size_t *receive_offsets);
/* A gatherv, or an allgatherv. */
struct bcl_call bcl_arguments_gathered(enum bcl_operation operation,
				       const void *send, size_t length,
				       void *receive,
				       const size_t *receive_lengths,
				       const size_t *receive_offsets,
				       unsigned root);
struct bcl_call bcl_arguments_scattered(const void *send,
					const size_t *send_lengths,
					const size_t *send_offsets,
					void *receive, size_t length,
					unsigned root);

/* A reduce_scatterv; if all counts are equal, a reduce_scatter, which has
 * faster algorithms. All members give the same counts. */
struct bcl_call bcl_arguments_counted(const struct bcl_team *team,
				      const void *send, void *receive,
				      const size_t *counts,
				      const struct bcl_reduction *reduction);
bool bcl_arguments_are_equal(const struct bcl_team *team, const size_t *counts);
/* An exchange. */
struct bcl_call bcl_arguments_listed(const void *send,
				     const struct bcl_blocks *to, void *receive,
				     const struct bcl_blocks *from);

/* bcl_arguments_are_right() for blocks of different lengths. Sets the length of
 * the call. */
bool bcl_arguments_are_various_right(const struct bcl_team *team,
				     struct bcl_call *call);

/* Puts an address in place of BCL_IN_PLACE. Returns false if an argument is
 * wrong. */
static bcl_always_inline bool
bcl_arguments_are_right(const struct bcl_team *team, struct bcl_call *call)
{
	unsigned rule = bcl_argument_rules[call->operation];
	bool root = !(rule & BCL_RULE_ROOT) || call->root == team->rank;
	const void *in_place;

	if (bcl_unlikely(rule & BCL_RULE_VARIOUS))
		return bcl_arguments_are_various_right(team, call);
	if ((rule & BCL_RULE_ROOT && call->root >= team->size) ||
	    (rule & BCL_RULE_REDUCES && !call->reduction))
		return false;
	in_place = rule & BCL_RULE_ROOT_SENDS ? call->receive : call->send;
	if (bcl_unlikely(in_place == BCL_IN_PLACE)) {
		size_t own =
			rule & BCL_RULE_BLOCKS ? team->rank * call->length : 0;

		if (rule & BCL_RULE_BLOCKS && !root)
			return false;
		if (rule & BCL_RULE_ROOT_SENDS)
			call->receive = (unsigned char *)call->send + own;
		else
			call->send = call->receive + own;
	}
	if (!call->length)
		return true;
	return (call->send || (rule & BCL_RULE_ROOT_SENDS && !root)) &&
	       (call->receive || (rule & BCL_RULE_ROOT_RECEIVES && !root));
}

#endif
