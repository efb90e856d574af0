/* SPDX-License-Identifier: MIT */
/* Schedules: runs the state machines of collective operations, and starts and
 * counts their messages. See internal.h. */
#include <string.h>

#include "adi/job.h"
#include "adi/match.h"
#include "adi/peer.h"
#include "adi/progress.h"
#include "adi/protocol.h"
#include "adi/receive.h"
#include "adi/request.h"
#include "adi/schedule.h"
#include "adi/send.h"
#include "transport/context.h"
#include "transport/log.h"

static void make_ready(struct bcl_adi *adi, struct bcl_adi_schedule *schedule)
{
	if (schedule->queued)
		return;
	schedule->queued = true;
	schedule->next = NULL;
	*adi->ready_last = schedule;
	adi->ready_last = &schedule->next;
	adi->chores |= BCL_CHORE_SCHEDULES;
}

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
			make_ready(adi, schedule);
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

static void start_schedule(struct bcl_adi *adi,
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
	start_schedule(adi, schedule, *request);
	return BCL_OK;
}

enum bcl_status bcl_adi_schedule_run(struct bcl_adi *adi,
				     struct bcl_adi_schedule *schedule)
{
	struct bcl_adi_request request = { .state = BCL_REQUEST_NEW };
	enum bcl_status status;

	start_schedule(adi, schedule, &request);
	status = bcl_adi_wait_done(adi, &request);
	return status ? status : request.status.status;
}

/* ---- messages --------------------------------------------------------------
 */

/* Notes the first failure. The next turn takes back the pending messages. */
static void fail_schedule(struct bcl_adi *adi,
			  struct bcl_adi_schedule *schedule,
			  enum bcl_status status)
{
	if (schedule->status)
		return;
	schedule->status = status;
	make_ready(adi, schedule);
}

void bcl_adi_schedule_fail(struct bcl_adi_schedule *schedule,
			   enum bcl_status status)
{
	fail_schedule(schedule->adi, schedule, status);
}

static void link_message(struct bcl_adi_schedule *schedule,
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

void bcl_adi_schedule_check(struct bcl_adi *adi,
			    struct bcl_adi_request *request)
{
	struct bcl_adi_status *status = &request->status;

	if ((status->status != BCL_OK && status->status != BCL_ERR_TRUNCATED) ||
	    status->length == request->length)
		return;
	status->status = BCL_ERR_TRUNCATED;
	bcl_log(&adi->context->config, BCL_LOG_WARN, "coll",
		"rank %d has sent %zu bytes where %zu are due: ranks call one "
		"operation with different lengths, or different operations",
		status->source, status->length, request->length);
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
		fail_schedule(adi, schedule, request->status.status);
	schedule->pending--;
	if (!--schedule->lanes[request->lane])
		make_ready(adi, schedule);
}

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
		fail_schedule(adi, schedule, BCL_ERR_NOMEM);
		return BCL_ERR_NOMEM;
	}
	request->buffer = (void *)buffer;
	request->length = length;
	request->sync = false;
	link_message(schedule, request);
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
		fail_schedule(adi, schedule, BCL_ERR_NOMEM);
		return BCL_ERR_NOMEM;
	}
	request->buffer = (void *)buffer;
	request->length = length;
	memcpy(request->token, key, BCL_KEY_MAX);
	request->remote = offset;
	request->state = BCL_REQUEST_PUT;
	request->limited = false;
	request->released = false;
	link_message(schedule, request);
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
		fail_schedule(adi, schedule, BCL_ERR_NOMEM);
		return BCL_ERR_NOMEM;
	}
	request->buffer = buffer;
	request->length = length;
	link_message(schedule, request);
	request->end |= BCL_END_EXACT;
	bcl_adi_start_receive(adi, request, bcl_match_key(context, rank, tag),
			      BCL_MATCH_EXACT);
	return schedule->status;
}
