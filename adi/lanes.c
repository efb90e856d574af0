/* SPDX-License-Identifier: MIT */
/* The messages of schedules, counted by lanes: the end of a lane's last message
 * and the first failure make a schedule ready for the next turn. */
#include "adi/request.h"
#include "adi/schedule.h"
#include "env/log.h"
#include "transport/context.h"

void bcl_adi_schedule_ready(struct bcl_adi *adi,
			    struct bcl_adi_schedule *schedule)
{
	if (schedule->queued)
		return;
	schedule->queued = true;
	schedule->next = NULL;
	*adi->ready_last = schedule;
	adi->ready_last = &schedule->next;
	adi->chores |= BCL_CHORE_SCHEDULES;
}

void bcl_adi_schedule_fail(struct bcl_adi_schedule *schedule,
			   enum bcl_status status)
{
	if (schedule->status)
		return;
	schedule->status = status;
	bcl_adi_schedule_ready(schedule->adi, schedule);
}

void bcl_adi_schedule_link(struct bcl_adi_schedule *schedule,
			   struct bcl_adi_request *request)
{
	bcl_assert(schedule->lane < BCL_ADI_LANES);
	request->end |= BCL_END_SCHEDULE | BCL_END_FREE;
	request->schedule = schedule;
	request->lane = schedule->lane;
	request->schedule_prev = NULL;
	request->schedule_next = schedule->messages;
	if (schedule->messages)
		schedule->messages->schedule_prev = request;
	schedule->messages = request;
	schedule->pending++;
	schedule->lanes[request->lane]++;
}

enum bcl_status bcl_adi_schedule_differs(struct bcl_adi *adi, unsigned rank,
					 size_t sent, size_t due)
{
	bcl_log(&adi->context->config, BCL_LOG_WARN, "coll",
		"rank %u has sent %zu bytes where %zu are due: ranks call one "
		"operation with different lengths, or different operations",
		rank, sent, due);
	return BCL_ERR_TRUNCATED;
}

void bcl_adi_schedule_check(struct bcl_adi *adi,
			    struct bcl_adi_request *request)
{
	struct bcl_adi_status *status = &request->status;

	if ((status->status != BCL_OK && status->status != BCL_ERR_TRUNCATED) ||
	    status->length == request->length)
		return;
	status->status = bcl_adi_schedule_differs(
		adi, (unsigned)status->source, status->length, request->length);
}

void bcl_adi_schedule_message(struct bcl_adi *adi,
			      struct bcl_adi_request *request)
{
	struct bcl_adi_schedule *schedule = request->schedule;

	bcl_assert(schedule->pending && schedule->lanes[request->lane]);
	if (request->schedule_prev)
		request->schedule_prev->schedule_next = request->schedule_next;
	else
		schedule->messages = request->schedule_next;
	if (request->schedule_next)
		request->schedule_next->schedule_prev = request->schedule_prev;
	if (request->status.status)
		bcl_adi_schedule_fail(schedule, request->status.status);
	schedule->pending--;
	if (!--schedule->lanes[request->lane])
		bcl_adi_schedule_ready(adi, schedule);
}
