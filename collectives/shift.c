/* SPDX-License-Identifier: MIT */
/*
 * Shift: each rank sends its block to the rank `distance` places up, and
 * receives the block of the rank as many places down. Ranks count circularly.
 */
#include "collectives/builders.h"
#include "collectives/cost.h"

static void build_shift(struct bcl_schedule *schedule,
			const struct bcl_call *call, unsigned parameter)
{
	int n = (int)schedule->team->size, me = (int)schedule->team->rank;
	int places = call->distance % n;
	unsigned to = (unsigned)((me + places + n) % n);
	unsigned from = (unsigned)((me - places + n) % n);
	const unsigned char *send = call->send;

	(void)parameter;
	if (!places) {
		bcl_step_copy(schedule, call->receive, send, call->length);
		return;
	}
	/* in place: the block that arrives overwrites the block that leaves */
	if (send == call->receive) {
		void *copy = bcl_step_scratch(schedule, call->length);

		bcl_step_copy(schedule, copy, send, call->length);
		send = copy;
	}
	bcl_step_receive(schedule, from, call->receive, call->length);
	bcl_step_send(schedule, to, send, call->length);
}

static double cost_shift(const struct bcl_model *model, double length,
			 unsigned parameter)
{
	struct bcl_cost cost = bcl_cost_exchange(model, length);

	(void)parameter;
	return cost.message + length * cost.byte;
}

const struct bcl_algorithm bcl_shift_algorithms[] = {
	{ "direct", 0, 0, build_shift, cost_shift, 0 },
	{ 0 },
};
