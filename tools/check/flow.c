/* SPDX-License-Identifier: MIT */
/* Matches submissions with deliveries, one queue of requests per flow from port
 * to port; see flow.h. */
#include "tools/check/flow.h"

#include <stdlib.h>
#include <string.h>

enum {
	BUCKETS = 4096,
	PENDING = -1, /* instead of a status: not completed */
};

/* A submitted message, or a delivery read before the request. */
struct message {
	struct message *next;
	struct bcl_record record;
	uint64_t order; /* of the request at the card */
	uint64_t life;	/* incarnation of the card that submitted */
	uint64_t time;	/* of the request; once it completed, of the
			 * completion */
	int status;	/* enum bcl_status, or PENDING */
	bool delivered;
	struct check_place place, passed; /* passed: where a later message was
					   * delivered */
};

struct queue {
	struct message *first, **end;
};

struct flow {
	struct flow *next, *busy;
	uint64_t from, to;
	uint16_t from_port, to_port;
	struct queue asked, early;
	struct message last; /* last message delivered */
	bool any;	     /* `last` is valid */
	bool listed;	     /* in flows->busy */
};

struct check_flows {
	struct flow *buckets[BUCKETS];
	struct flow *busy; /* flows to be looked at in a sweep */
	struct check_finding *found;
	unsigned nfound, room;
	uint64_t sweep; /* time of the next search for overdue messages */
};

static void *allocate_zeroed(size_t size)
{
	void *memory = calloc(1, size);

	if (!memory)
		abort();
	return memory;
}

struct check_flows *check_flows_open(void)
{
	return allocate_zeroed(sizeof(struct check_flows));
}

/* ---- queues ---- */

static void append_message(struct queue *queue, const struct message *new)
{
	struct message *message = allocate_zeroed(sizeof(*message));

	*message = *new;
	if (!queue->first)
		queue->end = &queue->first;
	*queue->end = message;
	queue->end = &message->next;
}

static void drop_first(struct queue *queue)
{
	struct message *message = queue->first;

	queue->first = message->next;
	free(message);
}

void check_flows_close(struct check_flows *flows)
{
	struct flow *flow;
	unsigned i;

	for (i = 0; i < BUCKETS; i++)
		while ((flow = flows->buckets[i])) {
			flows->buckets[i] = flow->next;
			while (flow->asked.first)
				drop_first(&flow->asked);
			while (flow->early.first)
				drop_first(&flow->early);
			free(flow);
		}
	free(flows->found);
	free(flows);
}

static struct flow *find_flow(struct check_flows *flows, uint64_t from,
			      unsigned from_port, uint64_t to, unsigned to_port)
{
	uint64_t hash = (from * 31 + from_port) * 31 + to * 7 + to_port;
	struct flow **at = &flows->buckets[(hash ^ hash >> 32) % BUCKETS];
	struct flow *flow;

	for (flow = *at; flow; flow = flow->next)
		if (flow->from == from && flow->to == to &&
		    flow->from_port == from_port && flow->to_port == to_port)
			break;
	if (!flow) {
		flow = allocate_zeroed(sizeof(*flow));
		flow->from = from;
		flow->to = to;
		flow->from_port = (uint16_t)from_port;
		flow->to_port = (uint16_t)to_port;
		flow->next = *at;
		*at = flow;
	}
	if (!flow->listed) {
		flow->listed = true;
		flow->busy = flows->busy;
		flows->busy = flow;
	}
	return flow;
}

/* ---- findings ---- */

static void add_finding(struct check_flows *flows, const struct flow *flow,
			enum check_end end, const struct check_place *place,
			const struct check_place *other)
{
	if (flows->nfound == flows->room) {
		flows->room = flows->room ? 2 * flows->room : 16;
		flows->found = realloc(flows->found,
				       flows->room * sizeof(*flows->found));
	}
	if (!flows->found)
		abort();
	flows->found[flows->nfound++] = (struct check_finding){
		.end = end,
		.place = *place,
		.other = *other,
		.card = flow->from,
		.port = flow->from_port,
		.peer_port = flow->to_port,
	};
}

const struct check_finding *check_flows_found(const struct check_flows *flows,
					      unsigned i)
{
	return i < flows->nfound ? &flows->found[i] : NULL;
}

void check_flows_forget(struct check_flows *flows)
{
	flows->nfound = 0;
}

/* True if the trace has all records of the port. */
static bool told_of(const struct check_world *world, uint64_t card,
		    unsigned port)
{
	const struct check_life *life = check_life_find(world, card);
	const struct check_port *at;

	if (!life || !life->records)
		return false;
	at = check_port_find(life, port);
	return !at || !at->gap;
}

/* ---- matching ---- */

static bool matches_request(const struct bcl_record *asked,
			    const struct bcl_record *delivered)
{
	bool notify = delivered->op == BCL_CQ_NOTIFY;

	return asked->op == (notify ? BCL_REQ_PUT_NOTIFY : BCL_REQ_SYSTEM) &&
	       asked->length == delivered->length &&
	       asked->type == delivered->type &&
	       asked->value == delivered->value &&
	       (!notify || asked->arg32 == delivered->arg32) &&
	       (notify ||
		!(asked->flags & delivered->flags & BCL_RECORD_DIGEST) ||
		asked->digest == delivered->digest);
}

/* True if both deliveries may be of the same message. */
static bool may_be_same(const struct bcl_record *a, const struct bcl_record *b)
{
	return a->op == b->op && a->length == b->length && a->type == b->type &&
	       a->value == b->value && a->digest == b->digest;
}

/* Matches a delivery with a request that a later message has passed. */
static bool match_passed(struct check_flows *flows, struct flow *flow,
			 const struct message *delivered)
{
	struct message *message;

	for (message = flow->asked.first; message; message = message->next)
		if (!message->delivered && message->passed.number &&
		    matches_request(&message->record, &delivered->record))
			break;
	if (!message)
		return false;
	message->delivered = true;
	add_finding(flows, flow, CHECK_END_ORDER, &delivered->place,
		    &message->passed);
	return true;
}

/* Matches a delivery with the oldest request that agrees. Earlier undelivered
 * requests are marked as passed. */
static bool match_delivery(struct check_flows *flows, struct flow *flow,
			   const struct message *delivered)
{
	struct message *message, *before;

	for (message = flow->asked.first; message; message = message->next)
		if (!message->delivered && !message->passed.number &&
		    matches_request(&message->record, &delivered->record))
			break;
	if (!message)
		return match_passed(flows, flow, delivered);
	message->delivered = true;
	flow->last = *delivered;
	flow->any = true;
	for (before = flow->asked.first; before != message;
	     before = before->next) {
		if (before->delivered || before->passed.number)
			continue;
		before->passed = delivered->place;
		if (before->status == BCL_OK)
			add_finding(flows, flow, CHECK_END_ORDER,
				    &delivered->place, &before->place);
	}
	return true;
}

static void match_early(struct check_flows *flows, struct flow *flow)
{
	while (flow->early.first &&
	       match_delivery(flows, flow, flow->early.first))
		drop_first(&flow->early);
}

/* Drops messages that are settled, and judges those older than `old`. */
static void drop_settled(const struct check_world *world, struct flow *flow,
			 uint64_t old)
{
	struct check_flows *flows = world->flows;
	const struct check_place nowhere = { NULL, 0 };
	struct message *message;

	while ((message = flow->asked.first)) {
		if (!message->delivered &&
		    (message->status == PENDING || message->time >= old))
			break;
		if (message->delivered && message->status == PENDING)
			break;
		if (!message->delivered && message->status == BCL_OK &&
		    !message->passed.number &&
		    told_of(world, flow->to, flow->to_port))
			add_finding(flows, flow, CHECK_END_LOST,
				    &message->place, &nowhere);
		drop_first(&flow->asked);
	}
	while ((message = flow->early.first) && message->time < old) {
		bool again = flow->any &&
			     may_be_same(&flow->last.record, &message->record);

		add_finding(
			flows, flow, again ? CHECK_END_AGAIN : CHECK_END_UNSENT,
			&message->place, again ? &flow->last.place : &nowhere);
		drop_first(&flow->early);
	}
}

static void sweep_flows(const struct check_world *world, uint64_t old)
{
	struct flow **at = &world->flows->busy, *flow;

	while ((flow = *at)) {
		drop_settled(world, flow, old);
		if (flow->asked.first || flow->early.first) {
			at = &flow->busy;
			continue;
		}
		flow->listed = false;
		*at = flow->busy;
	}
}

/* ---- records ---- */

static struct message record_message(struct check_event *event)
{
	return (struct message){
		.record = event->record,
		.order = event->life->orders,
		.life = event->life->incarnation,
		.time = event->packet->time,
		.status = PENDING,
		.place = { event->packet->file, event->packet->number },
	};
}

static void note_request(struct check_event *event)
{
	struct check_flows *flows = event->world->flows;
	const struct bcl_record *record = &event->record;
	struct flow *flow;
	const struct message new = record_message(event);

	if (!check_is_ordered(record->op) ||
	    !told_of(event->world, record->card, record->peer_port))
		return;
	flow = find_flow(flows, event->life->card, record->port, record->card,
			 record->peer_port);
	append_message(&flow->asked, &new);
	match_early(flows, flow);
}

static void note_delivery(struct check_event *event)
{
	struct check_flows *flows = event->world->flows;
	const struct bcl_record *record = &event->record;
	const struct message new = record_message(event);
	struct flow *flow;

	if ((record->op != BCL_CQ_SYSTEM && record->op != BCL_CQ_NOTIFY) ||
	    !told_of(event->world, record->card, record->peer_port))
		return;
	flow = find_flow(flows, record->card, record->peer_port,
			 event->life->card, record->port);
	if (!flow->early.first && match_delivery(flows, flow, &new))
		return;
	append_message(&flow->early, &new);
}

static void note_completion(struct check_event *event)
{
	const struct check_request *request = event->request;
	struct check_flows *flows = event->world->flows;
	struct message *message;
	struct flow *flow;

	if (!request || !check_is_ordered(request->asked.op) ||
	    !told_of(event->world, request->asked.card,
		     request->asked.peer_port))
		return;
	flow = find_flow(flows, event->life->card, request->asked.port,
			 request->asked.card, request->asked.peer_port);
	for (message = flow->asked.first; message; message = message->next)
		if (message->order == request->order &&
		    message->life == event->life->incarnation)
			break;
	if (!message)
		return;
	message->status = event->record.status;
	message->time = event->packet->time;
	if (!message->status && message->passed.number)
		add_finding(flows, flow, CHECK_END_ORDER, &message->passed,
			    &message->place);
	drop_settled(event->world, flow, 0);
}

/* The card or its port has ended: pending requests may have been delivered or
 * not. The caller passes port 0 for all ports of the card. */
static void note_end(struct check_event *event, unsigned port)
{
	struct message *message;
	struct flow *flow;

	for (flow = event->world->flows->busy; flow; flow = flow->busy) {
		if (flow->from != event->life->card ||
		    (port && flow->from_port != port))
			continue;
		for (message = flow->asked.first; message;
		     message = message->next)
			if (message->status == PENDING) {
				message->status = BCL_ERR_CLOSED;
				message->time = event->packet->time;
			}
	}
}

void check_flows_record(struct check_event *event)
{
	struct check_flows *flows = event->world->flows;
	uint64_t now = event->packet->time, patience = event->world->patience;

	if (now >= flows->sweep) {
		sweep_flows(event->world, now > patience ? now - patience : 0);
		flows->sweep = now + patience / 4;
	}
	switch (event->record.kind) {
	case BCL_RECORD_REQUEST:
		note_request(event);
		break;
	case BCL_RECORD_DELIVERED:
		note_delivery(event);
		break;
	case BCL_RECORD_COMPLETED:
		note_completion(event);
		break;
	case BCL_RECORD_PORT_CLOSED:
		note_end(event, event->record.port);
		break;
	case BCL_RECORD_OPENED:
	case BCL_RECORD_CLOSED:
	case BCL_RECORD_CRASHED:
		note_end(event, 0);
		break;
	}
}

void check_flows_end(struct check_world *world)
{
	sweep_flows(world, UINT64_MAX);
}
