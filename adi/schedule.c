/* SPDX-License-Identifier: MIT */
/* Schedules: runs the state machines of collective operations, and starts their
 * messages. See internal.h. */
#include <string.h>

#include "adi/job.h"
#include "adi/match.h"
#include "adi/peer.h"
#include "adi/protocol.h"
#include "adi/receive.h"
#include "adi/request.h"
#include "adi/schedule.h"
#include "adi/send.h"

/* Takes back the messages of a schedule that failed. Returns false if some are
 * still under way. */
static bool take_back_all(struct bcl_adi *adi,
			  struct bcl_adi_schedule *schedule)
{
	struct bcl_adi_request *request, *next;

	schedule->queued = true;
	for (request = schedule->messages; request; request = next) {
		next = request->schedule_next;
		bcl_request_take_back(adi, request);
	}
	schedule->queued = false;
	return !schedule->pending;
}

/* Calls advance() once and does what follows. Returns true if the schedule is
 * over. */
static bool run_schedule(struct bcl_adi *adi, struct bcl_adi_schedule *schedule)
{
	struct bcl_adi_request *request = schedule->request;
	bool over;

	/* messages may complete at once: they need not make the schedule
	 * ready */
	schedule->queued = true;
	over = schedule->advance(schedule);
	schedule->queued = false;
	if (!over) {
		if (!schedule->pending || schedule->polled || schedule->status)
			bcl_adi_schedule_ready(adi, schedule);
		return false;
	}
	bcl_assert(!schedule->pending);
	bcl_request_complete(adi, request, schedule->status);
	if (schedule->release)
		schedule->release(schedule);
	return true;
}

bool bcl_adi_schedules_serve(struct bcl_adi *adi)
{
	struct bcl_adi_schedule *schedule = adi->ready, *next;
	bool over = false;

	adi->ready = NULL;
	adi->ready_last = &adi->ready;
	adi->chores &= ~(unsigned)BCL_CHORE_SCHEDULES;
	for (; schedule; schedule = next) {
		next = schedule->next;
		schedule->queued = false;
		if (!schedule->status || take_back_all(adi, schedule))
			over |= run_schedule(adi, schedule);
	}
	return over;
}

void bcl_adi_schedule_begin(struct bcl_adi *adi,
			    struct bcl_adi_schedule *schedule,
			    struct bcl_adi_request *request)
{
	bcl_assert(request->state == BCL_REQUEST_NEW);
	request->state = BCL_REQUEST_RUNNING;
	request->status = (struct bcl_adi_status){ .source = -1, .tag = -1 };
	schedule->status = BCL_OK;
	schedule->adi = adi;
	schedule->request = request;
	schedule->messages = NULL;
	schedule->pending = 0;
	memset(schedule->lanes, 0, sizeof(schedule->lanes));
	run_schedule(adi, schedule);
}

enum bcl_status bcl_adi_schedule_start(struct bcl_adi *adi,
				       struct bcl_adi_schedule *schedule,
				       struct bcl_adi_request **request)
{
	*request = bcl_request_new(adi);
	if (!*request)
		return BCL_ERR_NOMEM;
	bcl_adi_schedule_begin(adi, schedule, *request);
	return BCL_OK;
}

enum bcl_status bcl_adi_schedule_launch(struct bcl_adi *adi,
					struct bcl_adi_schedule *schedule)
{
	struct bcl_adi_request *request = bcl_request_new(adi);

	if (!request)
		return BCL_ERR_NOMEM;
	request->end |= BCL_END_FREE;
	bcl_adi_schedule_begin(adi, schedule, request);
	return BCL_OK;
}

/* ---- messages ---- */

enum bcl_status bcl_adi_schedule_send(struct bcl_adi_schedule *schedule,
				      const void *buffer, size_t length,
				      unsigned rank, unsigned tag,
				      unsigned context)
{
	struct bcl_adi *adi = schedule->adi;
	uint64_t key = bcl_match_key(context, adi->rank, tag);
	struct bcl_adi_request *request;

	if (bcl_adi_send_direct(adi, rank, key, buffer, length) == BCL_OK)
		return BCL_OK;
	request = bcl_request_new(adi);
	if (!request) {
		bcl_adi_schedule_fail(schedule, BCL_ERR_NOMEM);
		return BCL_ERR_NOMEM;
	}
	request->buffer = (void *)buffer;
	request->length = length;
	request->sync = false;
	bcl_adi_schedule_link(schedule, request);
	bcl_adi_send_queued(adi, request, rank, key);
	return schedule->status;
}

enum bcl_status bcl_adi_schedule_put(struct bcl_adi_schedule *schedule,
				     const void *buffer, size_t length,
				     unsigned rank, const uint8_t *key,
				     uint64_t offset)
{
	struct bcl_adi *adi = schedule->adi;
	struct bcl_adi_request *request = bcl_request_new(adi);

	if (!request) {
		bcl_adi_schedule_fail(schedule, BCL_ERR_NOMEM);
		return BCL_ERR_NOMEM;
	}
	request->buffer = (void *)buffer;
	request->length = length;
	memcpy(request->token, key, BCL_KEY_MAX);
	request->remote = offset;
	request->state = BCL_REQUEST_PUT;
	request->limited = false;
	request->released = false;
	bcl_adi_schedule_link(schedule, request);
	request->peer = bcl_adi_peer_get(adi, rank);
	if (request->peer)
		bcl_adi_submit(adi, request);
	else
		bcl_request_complete(adi, request, BCL_ERR_NOMEM);
	return schedule->status;
}

enum bcl_status bcl_adi_schedule_receive(struct bcl_adi_schedule *schedule,
					 void *buffer, size_t length,
					 unsigned rank, unsigned tag,
					 unsigned context)
{
	struct bcl_adi *adi = schedule->adi;
	struct bcl_adi_request *request = bcl_request_new(adi);

	if (!request) {
		bcl_adi_schedule_fail(schedule, BCL_ERR_NOMEM);
		return BCL_ERR_NOMEM;
	}
	request->buffer = buffer;
	request->length = length;
	bcl_adi_schedule_link(schedule, request);
	request->end |= BCL_END_EXACT;
	bcl_adi_start_receive(adi, request, bcl_match_key(context, rank, tag),
			      BCL_MATCH_EXACT);
	return schedule->status;
}
