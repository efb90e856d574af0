/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * SEND: chooses what to transmit next, and packs it into frames.
 *
 * Lost frames and messages to be retransmitted come first, as they keep
 * connections alive. Then come new messages, then acknowledgements that no
 * frame has carried. Ports take turns by frame, or by burst of a long message,
 * and so do the flows of a port. Small messages to one node share a frame.
 */
#include <nicfw/send.h>

#include <nicfw/build.h>
#include <nicfw/conn.h>
#include <nicfw/flow.h>
#include <nicfw/launch.h>
#include <nicfw/message.h>
#include <nicfw/rails.h>
#include <nicfw/retransmit.h>
#include <nicfw/stripe.h>
#include <nicfw/window.h>

enum {
	SHARE_FLOWS = 16, /* flows to look at for filling a frame */
};

/*
 * Append a whole message. The caller has checked that the frame has room and
 * the message may get a number.
 */
static void append_message(struct bcl_card *card, struct nic_build *build,
			   struct nic_message *message, uint32_t length)
{
	uint8_t *at = nic_build_append(build);

	nic_message_number(card, build->conn, build->rail, message);
	nic_build_note(card, build, message, length, false);
	message->state = NIC_MESSAGE_SENT;
	message->moved = length;
	nic_list_remove(&message->link);
	nic_build_fill(card, build, message, 0, length, at);
}

/*
 * Append the first message of a flow. Returns false if there is none, or if it
 * does not fit as a whole.
 */
static bool add_first(struct bcl_card *card, struct nic_build *build,
		      struct nic_flow *flow)
{
	struct nic_message *message =
		nic_list_first(&flow->queue, struct nic_message, link);
	uint32_t length;

	if (!message || !bcl_nic_flow_sendable(flow) || message->number)
		return false;
	length = nic_message_bytes(message);
	if (build->segments && length > NIC_COPY_MAX)
		return false;
	if (build->buffer &&
	    (card->jobs.left < 8 || (build->refs && message->nref)))
		return false;
	if (!nic_build_room(card, build, length) ||
	    !nic_message_may_number(build->conn))
		return false;
	append_message(card, build, message, length);
	return true;
}

/* Fill the frame with messages of other flows to the same node. */
static void share_frame(struct bcl_card *card, struct nic_build *build,
			struct nic_node *node)
{
	struct nic_link *link = node->flows.next;
	struct nic_flow *flow;
	unsigned i;

	for (i = 0; i < SHARE_FLOWS && link != &node->flows;
	     i++, link = link->next) {
		flow = bcl_container_of(link, struct nic_flow, in_node);
		if (flow->place != NIC_FLOW_READY)
			continue;
		while (add_first(card, build, flow))
			;
	}
}

static void send_small(struct bcl_card *card, struct nic_flow *flow,
		       struct nic_build *build)
{
	while (add_first(card, build, flow))
		;
	if (build->segments && build->frame->nparts == 0)
		share_frame(card, build, flow->node);
	if (build->last)
		nic_build_finish(card, build);
	else
		nic_build_cancel(card, build);
}

bool __attribute__((flatten))
bcl_nic_send_alone(struct bcl_card *card, struct nic_message *message)
{
	struct nic_conn *conn = message->node->conn;
	uint32_t bytes = nic_message_bytes(message);
	struct nic_build build;
	unsigned rail;

	if (!card->gather || !nic_list_empty(&card->active) ||
	    message->port->made != message->port->taken || !conn ||
	    conn->state != NIC_CONN_UP ||
	    conn->working & (NIC_WORK_LOST | NIC_WORK_RESEND))
		return false;
	rail = nic_rails_pick(conn, bytes);
	if (nic_rails_blocked(card, conn, rail) ||
	    bytes > conn->window[rail].payload ||
	    !nic_window_open(&conn->window[rail], bytes + BCL_HEADERS_SIZE) ||
	    !nic_message_may_number(conn) ||
	    !nic_build_begin(card, conn, rail, NULL, false, &build))
		return false;
	append_message(card, &build, message, bytes);
	nic_build_finish(card, &build);
	return true;
}

/*
 * Send the next part of a long message as one run. Returns the frames; 0: no
 * card memory or no flight is free.
 */
static unsigned send_run(struct bcl_card *card, struct nic_conn *conn,
			 unsigned rail, struct nic_message *message,
			 uint32_t stripe, unsigned budget)
{
	struct nic_window *window = &conn->window[rail];
	struct nic_flight *flight;
	struct nic_build build;

	if (!nic_build_begin(card, conn, rail, NULL, true, &build))
		return 0;
	flight = build.flight;
	flight->message = message;
	flight->number = message->number;
	flight->offset = message->moved;
	flight->length = bcl_nic_window_run_bytes(
		card, rail, window, message->length - message->moved, stripe,
		budget);
	nic_window_frames(window, flight);
	if (!nic_build_run(card, &build, message)) {
		flight->bytes = 0;
		nic_build_cancel(card, &build);
		return 1;
	}
	message->moved += flight->length;
	bcl_nic_stripe_begin(window);
	nic_build_finish(card, &build);
	return flight->frames;
}

static bool may_send(const struct bcl_card *card, unsigned rail,
		     const struct nic_window *window, uint32_t bytes,
		     const struct nic_message *message, uint32_t stripe)
{
	if (bytes <= window->payload && !message->number)
		return nic_window_open(window, bytes + BCL_HEADERS_SIZE);
	return nic_window_open_part(card, rail, window, stripe);
}

/*
 * Send one frame or burst from the head of a flow. Returns the number of
 * frames; 0: the flow cannot send, and has left the ready list.
 */
static unsigned send_flow(struct bcl_card *card, struct nic_flow *flow,
			  unsigned budget)
{
	struct nic_conn *conn = flow->node->conn;
	struct nic_message *message =
		nic_list_first(&flow->queue, struct nic_message, link);
	struct nic_window *window;
	struct nic_build build;
	uint32_t bytes, left, stripe;
	unsigned rail, n;

	if (!bcl_nic_flow_sendable(flow)) {
		bcl_nic_flow_stall(flow, NULL);
		return 0;
	}
	bytes = nic_message_bytes(message);
	rail = nic_rails_pick(conn, bytes);
	left = bytes - message->moved;
	stripe = left;
	if (nic_rails_striped(conn, bytes)) {
		stripe = bcl_nic_stripe_length(conn, left);
		rail = bcl_nic_stripe_pick(card, conn, stripe, left);
	}
	if (rail < BCL_RAILS_MAX && card->rail[rail].busy) {
		bcl_nic_flow_stall(flow, &card->rail[rail].flows);
		return 0;
	}
	window = &conn->window[rail % BCL_RAILS_MAX];
	if (rail == BCL_RAILS_MAX ||
	    !may_send(card, rail, window, bytes, message, stripe) ||
	    !(message->number || nic_message_may_number(conn))) {
		bcl_nic_flow_stall(flow, &conn->stalled);
		return 0;
	}
	if (bytes > window->payload && !message->number)
		nic_message_number(card, conn, rail, message);
	n = 1;
	if (message->number)
		n = send_run(card, conn, rail, message, stripe, budget);
	else if (!nic_build_begin(card, conn, rail, NULL, false, &build))
		n = 0;
	else
		send_small(card, flow, &build);
	if (n == 0) {
		bcl_nic_flow_stall(flow, &card->waiting);
		return 0;
	}
	if (message->number && message->state == NIC_MESSAGE_SENDING &&
	    message->moved == bytes) {
		message->state = NIC_MESSAGE_SENT;
		nic_list_remove(&message->link);
	}
	return n;
}

static void send_new(struct bcl_card *card, unsigned *budget)
{
	struct nic_port *port;
	struct nic_flow *flow;
	unsigned n;

	while (*budget && (port = nic_list_first(&card->active, struct nic_port,
						 active))) {
		flow = nic_list_first(&port->ready, struct nic_flow, link);
		n = send_flow(card, flow, *budget);
		if (n == 0)
			continue;
		*budget -= bcl_min32(n, *budget);
		nic_list_remove(&port->active);
		nic_list_append(&card->active, &port->active);
		nic_list_remove(&flow->link);
		nic_list_append(&port->ready, &flow->link);
		if (nic_list_empty(&flow->queue))
			bcl_nic_flow_stall(flow, NULL);
	}
}

/* ---- the engine ---- */

static void send_acks(struct bcl_card *card, struct nic_conn *conn,
		      unsigned what)
{
	const struct nic_window *window;
	unsigned rail;

	for (rail = 0; rail < BCL_RAILS_MAX; rail++) {
		window = &conn->window[rail];
		if (!(what & (unsigned)NIC_WORK_ACK << rail))
			continue;
		if (window->ack_due || conn->done_due || !conn->told ||
		    conn->rooms_ready ||
		    bcl_before(window->expected, window->highest))
			bcl_nic_conn_ack(card, conn, rail);
	}
}

static void send_lost(struct bcl_card *card, struct nic_conn *conn,
		      unsigned *budget)
{
	unsigned rail;

	for (rail = 0; rail < BCL_RAILS_MAX; rail++)
		if (conn->window[rail].lost)
			bcl_nic_retransmit_lost(card, conn, rail, budget);
}

static bool probing(const struct nic_conn *conn)
{
	unsigned rail;

	for (rail = 0; rail < BCL_RAILS_MAX; rail++)
		if (conn->window[rail].probing)
			return true;
	return false;
}

/*
 * Retransmit. At every other time-out the messages and parts of a dead rail
 * come before the lost frames: the peer may have no room for the lost frames
 * until then.
 */
static void retransmit_work(struct bcl_card *card, struct nic_conn *conn,
			    unsigned *budget)
{
	unsigned what = conn->working;
	bool first = probing(conn);

	conn->working &= (uint8_t) ~(NIC_WORK_LOST | NIC_WORK_RESEND);
	if (what & NIC_WORK_LOST && !first)
		send_lost(card, conn, budget);
	if (what & NIC_WORK_RESEND) {
		bcl_nic_retransmit_messages(card, conn, budget);
		bcl_nic_retransmit_parts(card, conn, budget);
	}
	if (what & NIC_WORK_LOST && first)
		send_lost(card, conn, budget);
}

void bcl_nic_send(struct bcl_card *card, unsigned *budget)
{
	struct nic_link *link, *next;
	struct nic_conn *conn;
	unsigned what;

	for (link = card->working.next; link != &card->working;
	     link = link->next) {
		conn = bcl_container_of(link, struct nic_conn, work);
		if (conn->working & (NIC_WORK_LOST | NIC_WORK_RESEND))
			retransmit_work(card, conn, budget);
	}
	if (!nic_list_empty(&card->waiting))
		bcl_nic_flow_wake_list(card, &card->waiting);
	send_new(card, budget);
	for (link = card->working.next; link != &card->working; link = next) {
		next = link->next;
		conn = bcl_container_of(link, struct nic_conn, work);
		what = conn->working;
		conn->working &= NIC_WORK_LOST | NIC_WORK_RESEND;
		if (!conn->working)
			nic_list_remove(&conn->work);
		send_acks(card, conn, what);
	}
}

/*
 * Acknowledgements come before the waiting frames, which might keep the rail
 * busy all the time.
 */
static void send_overdue(struct bcl_card *card, unsigned rail)
{
	struct nic_conn *conn;
	uint32_t i = 0;

	while (!card->rail[rail].busy && (conn = nic_conn_next(card, &i))) {
		if (!(conn->overdue >> rail & 1))
			continue;
		conn->overdue &= (uint8_t) ~(1u << rail);
		if (conn->window[rail].ack_due)
			bcl_nic_conn_ack(card, conn, rail);
	}
}

void bcl_nic_send_ready(struct bcl_card *card, unsigned rail)
{
	struct nic_rail *at = &card->rail[rail];
	struct nic_conn *conn;
	uint32_t i = 0;

	at->busy = 0;
	send_overdue(card, rail);
	bcl_nic_launch_fetched(card, rail);
	bcl_nic_flow_wake_list(card, &at->flows);
	while ((conn = nic_conn_next(card, &i))) {
		if (conn->window[rail].lost)
			nic_conn_work(card, conn, NIC_WORK_LOST);
		if (!nic_list_empty(&conn->resend) ||
		    !nic_list_empty(&conn->parts))
			nic_conn_work(card, conn, NIC_WORK_RESEND);
		if (conn->stripes)
			bcl_nic_flow_wake_list(card, &conn->stalled);
	}
}
