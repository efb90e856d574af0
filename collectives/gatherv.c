/* SPDX-License-Identifier: MIT */
/*
 * Gather and scatter of blocks of different lengths, by one message between the
 * root and each other rank: only the root knows the lengths of others, so no
 * rank can pass on what it has not been told of. Empty blocks send no message,
 * and their offsets are not used.
 */
#include "collectives/builders.h"

enum {
	AT_A_TIME = 32, /* messages that the root has in flight */
};

static void build_gatherv(struct bcl_schedule *schedule,
			  const struct bcl_call *call, unsigned parameter)
{
	unsigned me = schedule->team->rank, i, moved = 0;

	(void)parameter;
	if (me != call->root) {
		if (call->own)
			bcl_step_send(schedule, call->root, call->send,
				      call->own);
		bcl_step_round(schedule);
		return;
	}
	if (call->own && !call->in_place)
		bcl_step_copy(schedule,
			      call->receive + call->receive_offsets[me],
			      call->send, call->own);
	for (i = 0; i < schedule->team->size; i++) {
		if (i == me || !call->receive_lengths[i])
			continue;
		bcl_step_receive(schedule, i,
				 call->receive + call->receive_offsets[i],
				 call->receive_lengths[i]);
		if (++moved % AT_A_TIME == 0)
			bcl_step_round(schedule);
	}
	bcl_step_round(schedule);
}

static void build_scatterv(struct bcl_schedule *schedule,
			   const struct bcl_call *call, unsigned parameter)
{
	unsigned me = schedule->team->rank, i, moved = 0;

	(void)parameter;
	if (me != call->root) {
		if (call->own)
			bcl_step_receive(schedule, call->root, call->receive,
					 call->own);
		bcl_step_round(schedule);
		return;
	}
	for (i = 0; i < schedule->team->size; i++) {
		if (i == me || !call->send_lengths[i])
			continue;
		bcl_step_send(schedule, i, call->send + call->send_offsets[i],
			      call->send_lengths[i]);
		if (++moved % AT_A_TIME == 0)
			bcl_step_round(schedule);
	}
	if (call->own && !call->in_place)
		bcl_step_copy(schedule, call->receive,
			      call->send + call->send_offsets[me], call->own);
	bcl_step_round(schedule);
}

/* There is nothing to choose from. */
static double cost_direct(const struct bcl_model *model, double length,
			  unsigned parameter)
{
	(void)model;
	(void)parameter;
	return length;
}

const struct bcl_algorithm bcl_gatherv_algorithms[] = {
	{ "direct", 0, 0, build_gatherv, cost_direct, 0 },
	{ 0 },
};

const struct bcl_algorithm bcl_scatterv_algorithms[] = {
	{ "direct", 0, 0, build_scatterv, cost_direct, 0 },
	{ 0 },
};
