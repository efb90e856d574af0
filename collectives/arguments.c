/* SPDX-License-Identifier: MIT */
/*
 * The arguments of operations on blocks of different lengths. See arguments.h.
 */
#include "collectives/arguments.h"

struct bcl_call bcl_arguments_exchanged(const void *send,
					const size_t *send_lengths,
					const size_t *send_offsets,
					void *receive,
					const size_t *receive_lengths,
					const size_t *receive_offsets)
{
	bool in_place = send == BCL_IN_PLACE;

	return (struct bcl_call){
		.operation = BCL_OPERATION_ALLTOALLV,
		.in_place = in_place,
		.send = in_place ? receive : send,
		.receive = receive,
		.send_lengths = in_place ? receive_lengths : send_lengths,
		.send_offsets = in_place ? receive_offsets : send_offsets,
		.receive_lengths = receive_lengths,
		.receive_offsets = receive_offsets,
	};
}

struct bcl_call bcl_arguments_gathered(enum bcl_operation operation,
				       const void *send, size_t length,
				       void *receive,
				       const size_t *receive_lengths,
				       const size_t *receive_offsets,
				       unsigned root)
{
	return (struct bcl_call){
		.operation = operation,
		.in_place = send == BCL_IN_PLACE,
		.send = send == BCL_IN_PLACE ? NULL : send,
		.own = length,
		.receive = receive,
		.receive_lengths = receive_lengths,
		.receive_offsets = receive_offsets,
		.root = root,
	};
}

struct bcl_call bcl_arguments_scattered(const void *send,
					const size_t *send_lengths,
					const size_t *send_offsets,
					void *receive, size_t length,
					unsigned root)
{
	return (struct bcl_call){
		.operation = BCL_OPERATION_SCATTERV,
		.in_place = receive == BCL_IN_PLACE,
		.receive = receive == BCL_IN_PLACE ? NULL : receive,
		.own = length,
		.send = send,
		.send_lengths = send_lengths,
		.send_offsets = send_offsets,
		.root = root,
	};
}

bool bcl_arguments_are_equal(const struct bcl_team *team, const size_t *counts)
{
	unsigned i;

	if (!team || !counts)
		return false;
	for (i = 1; i < team->size; i++)
		if (counts[i] != counts[0])
			return false;
	return true;
}

struct bcl_call bcl_arguments_counted(const struct bcl_team *team,
				      const void *send, void *receive,
				      const size_t *counts,
				      const struct bcl_reduction *reduction)
{
	if (bcl_arguments_are_equal(team, counts))
		return bcl_arguments_vector(BCL_OPERATION_REDUCE_SCATTER, send,
					    receive, counts[0], reduction, 0);
	return (struct bcl_call){
		.operation = BCL_OPERATION_REDUCE_SCATTERV,
		.in_place = send == BCL_IN_PLACE,
		.send = send == BCL_IN_PLACE ? receive : send,
		.receive = receive,
		.counts = counts,
		.reduction = reduction,
	};
}

struct bcl_call bcl_arguments_listed(const void *send,
				     const struct bcl_blocks *to, void *receive,
				     const struct bcl_blocks *from)
{
	return (struct bcl_call){
		.operation = BCL_OPERATION_EXCHANGE,
		.send = send,
		.to = to,
		.receive = receive,
		.from = from,
	};
}

/* True if any length is not 0. */
static bool any(const size_t *lengths, unsigned n)
{
	while (n)
		if (lengths[--n])
			return true;
	return false;
}

/*
 * Rules for a gatherv, scatterv or allgatherv. `mine`: the own block, apart.
 * has_all: this member has `blocks`, with lengths and offsets, and its own
 * block is as long as they say.
 */
static bool is_own_right(const struct bcl_team *team, struct bcl_call *call,
			 const void *mine, bool has_all, const void *blocks,
			 const size_t *lengths, const size_t *offsets)
{
	if (!has_all)
		return !call->in_place && (mine || !call->own);
	if (!lengths || !offsets || (!blocks && any(lengths, team->size)))
		return false;
	if (call->in_place)
		call->own = lengths[team->rank];
	return call->own == lengths[team->rank] &&
	       (call->in_place || mine || !call->own);
}

static bool is_gatherv_right(const struct bcl_team *team, struct bcl_call *call,
			     bool gets)
{
	return is_own_right(team, call, call->send, gets, call->receive,
			    call->receive_lengths, call->receive_offsets);
}

static bool is_scatterv_right(const struct bcl_team *team,
			      struct bcl_call *call)
{
	return is_own_right(team, call, call->receive, team->rank == call->root,
			    call->send, call->send_lengths, call->send_offsets);
}

/* All members of an allgatherv know all lengths: how long is a block? */
static size_t average(const size_t *lengths, unsigned n)
{
	size_t sum = 0;
	unsigned i;

	for (i = 0; i < n; i++)
		sum += lengths[i];
	return sum / n + (sum % n != 0);
}

static bool are_exchanged_right(const struct bcl_team *team,
				const struct bcl_call *call)
{
	const size_t *sent = call->send_lengths;
	const size_t *received = call->receive_lengths;

	return sent && call->send_offsets && received &&
	       call->receive_offsets &&
	       sent[team->rank] == received[team->rank] &&
	       (call->send || !any(sent, team->size)) &&
	       (call->receive || !any(received, team->size));
}

/* Sets the lengths of the own block and, on average, of a block. */
static bool are_counts_right(const struct bcl_team *team, struct bcl_call *call)
{
	size_t element = call->reduction ? call->reduction->element : 0;
	size_t all = 0, bytes;
	unsigned i;

	if (!element || !call->counts)
		return false;
	for (i = 0; i < team->size; i++)
		if (__builtin_add_overflow(all, call->counts[i], &all))
			return false;
	if (__builtin_mul_overflow(all, element, &bytes))
		return false;
	call->own = call->counts[team->rank] * element;
	call->length = average(call->counts, team->size) * element;
	return (call->send || !all) && (call->receive || !call->own);
}

static bool are_blocks_right(const struct bcl_team *team, const void *buffer,
			     const struct bcl_blocks *blocks)
{
	unsigned i;

	if (!blocks || buffer == BCL_IN_PLACE)
		return false;
	if (!blocks->n)
		return true;
	if (!blocks->ranks || !blocks->lengths || !blocks->offsets ||
	    (!buffer && any(blocks->lengths, blocks->n)))
		return false;
	for (i = 0; i < blocks->n; i++)
		if (blocks->ranks[i] >= team->size)
			return false;
	return true;
}

/* The blocks that a member sends to itself are those that the member receives
 * from itself. */
static bool are_own_blocks_right(const struct bcl_call *call, unsigned me)
{
	const struct bcl_blocks *to = call->to, *from = call->from;
	unsigned i = bcl_blocks_next(to, 0, me);
	unsigned k = bcl_blocks_next(from, 0, me);

	while (i < to->n && k < from->n) {
		if (to->lengths[i] != from->lengths[k])
			return false;
		i = bcl_blocks_next(to, i + 1, me);
		k = bcl_blocks_next(from, k + 1, me);
	}
	return i == to->n && k == from->n;
}

/* The longer one of the blocks that pass between two members, which both know;
 * 0 in a larger team. */
static size_t swapped(const struct bcl_team *team, const struct bcl_call *call)
{
	bool root = team->rank == call->root;
	unsigned other = !team->rank;
	size_t sent, received;

	if (team->size != 2)
		return 0;
	if (call->operation == BCL_OPERATION_GATHERV)
		return root ? call->receive_lengths[other] : call->own;
	if (call->operation == BCL_OPERATION_SCATTERV)
		return root ? call->send_lengths[other] : call->own;
	sent = call->operation == BCL_OPERATION_ALLGATHERV
		       ? call->own
		       : call->send_lengths[other];
	received = call->receive_lengths[other];
	return sent > received ? sent : received;
}

bool bcl_arguments_are_various_right(const struct bcl_team *team,
				     struct bcl_call *call)
{
	if (call->root >= team->size)
		return false;
	switch (call->operation) {
	case BCL_OPERATION_GATHERV:
		if (!is_gatherv_right(team, call, team->rank == call->root))
			return false;
		break;
	case BCL_OPERATION_SCATTERV:
		if (!is_scatterv_right(team, call))
			return false;
		break;
	case BCL_OPERATION_ALLTOALLV:
		if (!are_exchanged_right(team, call))
			return false;
		break;
	case BCL_OPERATION_ALLGATHERV:
		if (!is_gatherv_right(team, call, true))
			return false;
		if (team->size == 2)
			break;
		call->length = average(call->receive_lengths, team->size);
		return true;
	case BCL_OPERATION_REDUCE_SCATTERV:
		return are_counts_right(team, call);
	default:
		return are_blocks_right(team, call->send, call->to) &&
		       are_blocks_right(team, call->receive, call->from) &&
		       are_own_blocks_right(call, team->rank);
	}
	call->length = swapped(team, call);
	return true;
}
