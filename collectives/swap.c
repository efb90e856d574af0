/* SPDX-License-Identifier: MIT */
/* Finds the blocks that pass between two members. See swap.h. */
#include "collectives/swap.h"

/* The place of a block. The offset of an empty block may be anything. */
static unsigned char *block_at(const void *blocks, const size_t *lengths,
			       const size_t *offsets, unsigned rank)
{
	return lengths[rank] ? (unsigned char *)blocks + offsets[rank] : NULL;
}

/* The member gives the other its block. */
static void give(struct bcl_swap *swap, const struct bcl_call *call,
		 unsigned me)
{
	swap->send = block_at(call->send, call->send_lengths,
			      call->send_offsets, !me);
}

static void get(struct bcl_swap *swap, const struct bcl_call *call, unsigned me)
{
	swap->receive = call->receive;
	swap->lengths[!me] = call->receive_lengths[!me];
	swap->offsets[!me] = call->receive_offsets[!me];
}

static void gather(struct bcl_swap *swap, const struct bcl_call *call,
		   unsigned me)
{
	if (me != call->root) {
		swap->send = call->send;
		swap->lengths[me] = call->own;
		return;
	}
	get(swap, call, me);
	swap->from = call->send;
	swap->to = block_at(call->receive, call->receive_lengths,
			    call->receive_offsets, me);
	swap->own = call->own;
}

static void scatter(struct bcl_swap *swap, const struct bcl_call *call,
		    unsigned me)
{
	if (me != call->root) {
		swap->receive = call->receive;
		return;
	}
	give(swap, call, me);
	swap->from = block_at(call->send, call->send_lengths,
			      call->send_offsets, me);
	swap->to = call->receive;
	swap->own = call->own;
}

static void gather_all(struct bcl_swap *swap, const struct bcl_call *call,
		       unsigned me)
{
	get(swap, call, me);
	swap->to = block_at(call->receive, call->receive_lengths,
			    call->receive_offsets, me);
	swap->from = swap->send = call->in_place ? swap->to : call->send;
	swap->lengths[me] = swap->own = call->own;
}

static void exchange(struct bcl_swap *swap, const struct bcl_call *call,
		     unsigned me)
{
	give(swap, call, me);
	swap->lengths[me] = call->send_lengths[!me];
	get(swap, call, me);
	swap->from = block_at(call->send, call->send_lengths,
			      call->send_offsets, me);
	swap->to = block_at(call->receive, call->receive_lengths,
			    call->receive_offsets, me);
	swap->own = call->send_lengths[me];
}

struct bcl_swap bcl_swap_of(const struct bcl_team *team,
			    const struct bcl_call *call)
{
	struct bcl_swap swap = { 0 };

	bcl_assert(team->size == 2);
	switch (call->operation) {
	case BCL_OPERATION_GATHERV:
		gather(&swap, call, team->rank);
		break;
	case BCL_OPERATION_SCATTERV:
		scatter(&swap, call, team->rank);
		break;
	case BCL_OPERATION_ALLGATHERV:
		gather_all(&swap, call, team->rank);
		break;
	default:
		exchange(&swap, call, team->rank);
		break;
	}
	if (call->in_place)
		swap.own = 0;
	return swap;
}
