/* SPDX-License-Identifier: MIT */
#include "collectives/builders.h"

/* As with blocks of one length (alltoall.c); empty ones send no message. */
static void build_pairs(struct bcl_schedule *schedule,
			const struct bcl_call *call)
{
	const struct bcl_team *team = schedule->team;
	struct bcl_group group = bcl_group_ordered(team);
	unsigned n = group.size, me = team->rank, k;
	const unsigned char *send = call->send;
	size_t extent = 0, end;

	if (send == call->receive) {
		for (k = 0; k < n; k++) {
			end = call->receive_offsets[k] +
			      call->receive_lengths[k];
			extent = end > extent ? end : extent;
		}
		send = bcl_step_scratch(schedule, extent);
		bcl_step_copy(schedule, (void *)send, call->receive, extent);
	}
	if (call->send_lengths[me])
		bcl_step_copy(schedule,
			      call->receive + call->receive_offsets[me],
			      send + call->send_offsets[me],
			      call->send_lengths[me]);
	for (k = 1; k < n; k++) {
		unsigned to = bcl_group_rank(&group, (group.me + k) % n);
		unsigned from = bcl_group_rank(&group, (group.me + n - k) % n);

		if (call->receive_lengths[from])
			bcl_step_receive(schedule, from,
					 call->receive +
						 call->receive_offsets[from],
					 call->receive_lengths[from]);
		if (call->send_lengths[to])
			bcl_step_send(schedule, to,
				      send + call->send_offsets[to],
				      call->send_lengths[to]);
		bcl_step_round(schedule);
	}
}

static double cost_pairs(const struct bcl_model *model, double length)
{
	(void)model;
	return length;
}

const struct bcl_algorithm bcl_alltoallv_algorithms[] = {
	{ "pairs", 0, 0, build_pairs, cost_pairs },
	{ 0 },
};

static enum bcl_status
check(const struct bcl_team *team, const void *send, const size_t *send_lengths,
      const size_t *send_offsets, void *receive, const size_t *receive_lengths,
      const size_t *receive_offsets, struct bcl_call *call)
{
	bool in_place = send == BCL_IN_PLACE;

	if (!receive_lengths || !receive_offsets ||
	    (!in_place && (!send_lengths || !send_offsets)))
		return BCL_ERR_ARG;
	*call = (struct bcl_call){
		.operation = BCL_OPERATION_ALLTOALLV,
		.send = in_place ? receive : send,
		.receive = receive,
		.send_lengths = in_place ? receive_lengths : send_lengths,
		.send_offsets = in_place ? receive_offsets : send_offsets,
		.receive_lengths = receive_lengths,
		.receive_offsets = receive_offsets,
	};
	if (call->send_lengths[team->rank] != receive_lengths[team->rank])
		return BCL_ERR_ARG;
	return BCL_OK;
}

enum bcl_status bcl_alltoallv(struct bcl_team *team, const void *send,
			      const size_t *send_lengths,
			      const size_t *send_offsets, void *receive,
			      const size_t *receive_lengths,
			      const size_t *receive_offsets)
{
	struct bcl_call call;
	enum bcl_status status =
		check(team, send, send_lengths, send_offsets, receive,
		      receive_lengths, receive_offsets, &call);

	if (status != BCL_OK)
		return status;
	return bcl_call_run(team, call);
}

enum bcl_status bcl_ialltoallv(struct bcl_team *team, const void *send,
			       const size_t *send_lengths,
			       const size_t *send_offsets, void *receive,
			       const size_t *receive_lengths,
			       const size_t *receive_offsets,
			       struct bcl_adi_request **request)
{
	struct bcl_call call;
	enum bcl_status status =
		check(team, send, send_lengths, send_offsets, receive,
		      receive_lengths, receive_offsets, &call);

	if (status != BCL_OK)
		return status;
	return bcl_call_start(team, &call, request);
}
