/* SPDX-License-Identifier: MIT */
/* What a request does in each state: one row names the functions of the state's
 * protocol. request.h has the states. */
#include "adi/match.h"
#include "adi/peer.h"
#include "adi/protocol.h"
#include "adi/request.h"
#include "base/base.h"

static bool cancel(struct bcl_adi *adi, struct bcl_adi_request *request)
{
	bcl_request_complete(adi, request, BCL_ERR_CANCELLED);
	return true;
}

static bool cancel_queued(struct bcl_adi *adi, struct bcl_adi_request *request)
{
	bcl_adi_unqueue(request);
	return cancel(adi, request);
}

static bool unpost(struct bcl_adi *adi, struct bcl_adi_request *request)
{
	bcl_match_unpost(&adi->match, &request->receive);
	request->status = (struct bcl_adi_status){ .source = -1, .tag = -1 };
	return cancel(adi, request);
}

/* A message that may not go eagerly is offered. */
static enum bcl_status push_message(struct bcl_adi *adi,
				    struct bcl_adi_request *request)
{
	enum bcl_status status = bcl_request_send(adi, request);

	return status == BCL_ERR_UNSUPPORTED ? bcl_request_offer(adi, request)
					     : status;
}

static const struct {
	/* NULL: the request does not wait in the queue of its peer */
	enum bcl_status (*push)(struct bcl_adi *adi,
				struct bcl_adi_request *request);
	/* NULL: the request stands in no queue */
	void (*fail)(struct bcl_adi *adi, struct bcl_adi_request *request,
		     enum bcl_status status);
	/* NULL: too late */
	bool (*take_back)(struct bcl_adi *adi, struct bcl_adi_request *request);
} states[BCL_REQUEST_STATES] = {
	/* sender */
	[BCL_REQUEST_WITHHELD] = { .fail = bcl_request_complete },
	[BCL_REQUEST_EAGER] = { push_message, bcl_request_complete,
				cancel_queued },
	[BCL_REQUEST_OFFER] = { bcl_request_offer, bcl_request_complete,
				cancel_queued },
	[BCL_REQUEST_ANNOUNCE] = { bcl_request_offer, bcl_request_fail_offered,
				   bcl_request_withdraw },
	[BCL_REQUEST_LISTED] = { .take_back = cancel },
	[BCL_REQUEST_GRANT] = { bcl_request_grant, bcl_request_complete, NULL },
	[BCL_REQUEST_GIVE] = { bcl_request_grant, bcl_request_fail_offered,
			       NULL },
	[BCL_REQUEST_READ] = { .take_back = bcl_request_withdraw },
	/* receiver */
	[BCL_REQUEST_POSTED] = { .take_back = unpost },
	[BCL_REQUEST_ANSWER] = { bcl_request_answer, bcl_request_fail_answer,
				 NULL },
	[BCL_REQUEST_CALL] = { bcl_request_call, bcl_adi_pulled, NULL },
	[BCL_REQUEST_CALLED] = { .fail = bcl_adi_pulled },
	[BCL_REQUEST_PULL] = { bcl_request_pull, bcl_adi_pulled, NULL },
	/* others */
	[BCL_REQUEST_PACKET] = { bcl_request_packet, bcl_request_complete,
				 NULL },
	[BCL_REQUEST_PUT] = { bcl_request_put, bcl_request_complete,
			      cancel_queued },
};

enum bcl_status bcl_request_push(struct bcl_adi *adi,
				 struct bcl_adi_request *request)
{
	bcl_assert(states[request->state].push);
	return states[request->state].push(adi, request);
}

void bcl_request_fail(struct bcl_adi *adi, struct bcl_adi_request *request,
		      enum bcl_status status)
{
	bcl_assert(states[request->state].fail);
	states[request->state].fail(adi, request, status);
}

bool bcl_request_take_back(struct bcl_adi *adi, struct bcl_adi_request *request)
{
	return states[request->state].take_back &&
	       states[request->state].take_back(adi, request);
}
