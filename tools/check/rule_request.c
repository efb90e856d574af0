/* SPDX-License-Identifier: MIT */
/* Rules about requests of hosts, their completions, and memory. */
#include "tools/check/rules.h"

static const char *what_is_wrong(const struct check_event *event)
{
	const struct bcl_record *record = &event->record;
	const struct check_port *port = event->port;

	if (event->bad)
		return event->bad;
	if (event->life->over)
		return "the card is closed";
	switch (record->kind) {
	case BCL_RECORD_OPENED:
		return record->card == event->life->card
			       ? NULL
			       : "the interface is another card's";
	case BCL_RECORD_PORT_OPENED:
		return port ? "the port is open already" : NULL;
	case BCL_RECORD_PORT_CLOSED:
	case BCL_RECORD_COMPLETED:
	case BCL_RECORD_DELIVERED:
	case BCL_RECORD_RING:
	case BCL_RECORD_UNSEEN:
		return port ? NULL : "the port is not open";
	case BCL_RECORD_REQUEST:
		if (!port)
			return "the port is not open";
		if (record->number >= port->nrequests)
			return "the port has not so many requests";
		return port->requests[record->number].used && !port->gap
			       ? "the request has not completed yet"
			       : NULL;
	case BCL_RECORD_NODE:
		return record->number > BCL_NODE_ISOLATED ? "an unknown state"
							  : NULL;
	default:
		return NULL;
	}
}

void check_rule_record(struct check_event *event)
{
	const char *what = what_is_wrong(event);

	if (what)
		check_complain(event, "record %u of port %u: %s",
			       event->record.kind, event->record.port, what);
}

void check_rule_record_frame(struct check_event *event)
{
	if (event->packet->outbound && event->life->over)
		check_complain(event, "the card is closed and sends %s",
			       check_kind_name(event->frame->kind));
}

/* ---- completions ---- */

static bool is_completion(const struct check_event *event)
{
	return !event->bad && event->record.kind == BCL_RECORD_COMPLETED &&
	       event->port && !event->port->gap;
}

static bool wants_reply(unsigned op)
{
	return op == BCL_REQ_GET || op == BCL_REQ_FETCH_ADD ||
	       op == BCL_REQ_COMPARE_SWAP;
}

void check_rule_complete(struct check_event *event)
{
	const struct check_request *request = event->request;
	unsigned op;

	if (!is_completion(event))
		return;
	if (!request) {
		check_complain(event, "request %u of port %u is not under way",
			       (unsigned)event->record.number,
			       event->record.port);
		return;
	}
	op = request->asked.op;
	if (event->record.status || op == 0 || op == BCL_REQ_FENCE)
		return;
	if (wants_reply(op) ? !request->answered
			    : request->verdict != BCL_VERDICT_DELIVERED)
		check_complain(event,
			       "request %u of port %u, packet %u, ends "
			       "well without its %s",
			       (unsigned)event->record.number,
			       event->record.port, request->place.number,
			       wants_reply(op) ? "reply" : "verdict");
}

static void complain_of_loss(struct check_world *world, struct check_node *node)
{
	check_complain_at(world, &node->owed,
			  "the request fails by the loss of %016llx, which is "
			  "not lost",
			  (unsigned long long)node->card);
	node->owed.number = 0;
}

/*
 * A request fails by the loss of its peer. The record of the loss may follow
 * the completion of the request, but must follow at once. Besides, a request
 * may name a life that is over before the host hears of the end.
 */
static void lost_peer(struct check_event *event)
{
	const struct check_request *request = event->request;
	struct check_node *node = check_node(event->life, request->asked.card);

	if (node->lost)
		return;
	node->owed = (struct check_place){ event->packet->file,
					   event->packet->number };
	node->owed_time = event->packet->time;
}

void check_rule_reason(struct check_event *event)
{
	const struct check_request *request = event->request;
	enum bcl_status status = event->record.status;
	struct check_node *node;

	for (node = event->life->nodes; node; node = node->next)
		if (node->owed.number && event->packet->time - node->owed_time >
						 event->world->patience)
			complain_of_loss(event->world, node);
	if (!is_completion(event) || !request || !status || !request->asked.op)
		return;
	if (bcl_status_loss(status) == BCL_LOSS_PEER)
		lost_peer(event);
	else if (bcl_status_loss(status) != BCL_LOSS_REQUEST &&
		 status != BCL_ERR_ARG)
		check_complain(event,
			       "request %u of port %u, packet %u, fails "
			       "with %u, which is no reason",
			       (unsigned)event->record.number,
			       event->record.port, request->place.number,
			       status);
	else if (bcl_status_loss(status) == BCL_LOSS_REQUEST &&
		 status != BCL_ERR_MEMORY && status != BCL_ERR_CANCELLED &&
		 !request->answered && request->verdict < BCL_VERDICT_NOPORT)
		check_complain(event,
			       "request %u of port %u, packet %u, fails "
			       "with %u, and its peer did not say so",
			       (unsigned)event->record.number,
			       event->record.port, request->place.number,
			       status);
}

void check_rule_reason_end(struct check_world *world, struct check_life *life)
{
	struct check_node *node;

	for (node = life->nodes; node; node = node->next)
		if (node->owed.number)
			complain_of_loss(world, node);
}

void check_rule_fence(struct check_event *event)
{
	const struct check_request *fence = event->request, *request;
	unsigned i;

	if (!is_completion(event) || !fence || event->record.status ||
	    fence->asked.op != BCL_REQ_FENCE)
		return;
	for (i = 0; i < event->port->nrequests; i++) {
		request = &event->port->requests[i];
		if (request->used && request->order < fence->order &&
		    request->asked.card == fence->asked.card)
			check_complain(event,
				       "request %u of packet %u is "
				       "before the fence and under way",
				       (unsigned)request->asked.number,
				       request->place.number);
	}
}

/* ---- requests that never complete ---- */

static void inspect_port(struct check_world *world,
			 const struct check_life *life,
			 const struct check_port *port, uint64_t now)
{
	uint64_t most = life->timeout + world->patience;
	const struct check_request *request;
	unsigned i;

	for (i = 0; i < port->nrequests && !port->gap; i++) {
		request = &port->requests[i];
		/* A refused message waits for the program of the receiver, a
		 * fence for earlier requests. */
		if (request->used && !request->delayed &&
		    request->asked.op != BCL_REQ_FENCE &&
		    now - request->time > most)
			check_complain_at(
				world, &request->place,
				"request %u of port %u has not "
				"completed after %llu ms",
				i, port->number,
				(unsigned long long)(now - request->time) /
					1000000);
	}
}

static void inspect_ports(struct check_world *world,
			  const struct check_life *life, uint64_t now)
{
	const struct check_port *port;

	for (port = life->ports; port; port = port->next)
		inspect_port(world, life, port, now);
}

void check_rule_stuck(struct check_event *event)
{
	if (event->bad)
		return;
	if (event->record.kind == BCL_RECORD_PORT_CLOSED && event->port)
		inspect_port(event->world, event->life, event->port,
			     event->packet->time);
	if (event->record.kind == BCL_RECORD_CLOSED)
		inspect_ports(event->world, event->life, event->packet->time);
}

void check_rule_stuck_end(struct check_world *world, struct check_life *life)
{
	inspect_ports(world, life, life->last);
}

/* ---- memory ---- */

void check_rule_memory(struct check_event *event)
{
	const struct bcl_record *record = &event->record;
	struct check_port *port = event->port;
	const struct check_ring *ring;
	uint32_t taken;

	if (event->bad)
		return;
	if (record->kind == BCL_RECORD_MEMORY &&
	    record->length > event->life->memory)
		check_complain(event, "%u bytes of the card's %u are in use",
			       (unsigned)record->length,
			       (unsigned)event->life->memory);
	if (record->kind != BCL_RECORD_DELIVERED || !port || port->gap ||
	    (record->op != BCL_CQ_SYSTEM && record->op != BCL_CQ_NOTIFY))
		return;
	ring = check_ring(port, record->op == BCL_CQ_SYSTEM, record->length);
	taken = ring->taken + 1;
	/* `freed` may count blocks whose DELIVERED records follow, so the
	 * difference may be negative. */
	if ((int32_t)(taken - record->freed) > (int32_t)ring->n)
		check_complain(event,
			       "block %u of port %u, of which %u are "
			       "free again; there are %u",
			       (unsigned)taken, port->number,
			       (unsigned)record->freed, (unsigned)ring->n);
	if (record->op == BCL_CQ_SYSTEM && record->length > BCL_SYSTEM_MAX)
		check_complain(event, "%u bytes in a block of %u",
			       (unsigned)record->length, BCL_SYSTEM_MAX);
}
