/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * SEND: chooses what goes out next, packs it into frames, transmits them.
 *
 * First what keeps connections alive (frames lost, messages to be sent again),
 * then new messages, then acknowledgements that no frame has carried. Ports
 * take turns by frame, or by burst of a long message, and so do the flows of a
 * port. Small messages to one node share a frame.
 */
#include <nicfw/card.h>

enum {
	SHARE_FLOWS = 16, /* looked at to fill a frame */
};

/* A frame that is being built. */
struct build {
	struct nic_conn *conn;
	struct bcl_tx_frame *frame;
	struct nic_buffer *buffer; /* NULL: the host gathers */
	struct nic_flight *flight, *last;
	uint32_t limit; /* bytes */
	unsigned rail;
	uint8_t segments;
	uint8_t refs; /* a message with references is in it */
};

static struct nic_window *window_of(const struct build *build)
{
	return &build->conn->window[build->rail];
}

/* Rebuild `flight`, or a new one if it is NULL. 0: no card memory now. */
static int begin(struct bcl_card *card, struct nic_conn *conn, unsigned rail,
		 struct nic_flight *flight, int bulk, struct build *build)
{
	build->conn = conn;
	build->rail = rail;
	build->frame = &card->frames[0];
	build->frame->head = card->frame;
	build->frame->head_len = 40;
	build->frame->nparts = 0;
	build->buffer = NULL;
	build->limit = conn->window[rail].payload + BCL_HEADERS_SIZE;
	build->segments = 0;
	build->refs = 0;
	build->last = NULL;
	if (!card->gather) {
		if (card->jobs.left < 8)
			return 0;
		build->buffer = nic_pool_take(&card->out);
		if (!build->buffer)
			return 0;
		build->buffer->jobs = 0;
		build->buffer->fault = 0;
		build->buffer->conn = conn;
		build->buffer->rail = (uint8_t)rail;
		build->frame->head = build->buffer->bytes;
	}
	build->flight =
		flight ? flight
		       : bcl_nic_window_flight(card, window_of(build), bulk);
	if (build->flight)
		return 1;
	if (build->buffer)
		nic_pool_put(&card->out, &build->buffer->link);
	return 0;
}

/* Append a segment header with room for it; NULL: the frame is full. */
static uint8_t *append(struct build *build, uint32_t length)
{
	struct bcl_tx_frame *frame = build->frame;
	uint32_t at = nic_pad8(frame->head_len);

	if (frame->nparts || at + 40 + length > build->limit)
		return NULL;
	memset(frame->head + frame->head_len, 0, at - frame->head_len);
	frame->head_len = (uint16_t)(at + 40);
	return frame->head + at;
}

/* Note in the flight what the new segment is. 0: no more flights. */
static int note(struct bcl_card *card, struct build *build,
		struct nic_message *message, uint32_t length, int withdraw)
{
	struct nic_flight *flight = build->flight;

	if (build->last) {
		flight = nic_pool_take(&card->flights);
		if (!flight)
			return 0;
		build->last->more = flight;
		flight->more = NULL;
	}
	build->last = flight;
	flight->message = message;
	flight->number = message->number;
	flight->offset = 0;
	flight->length = (uint16_t)length;
	flight->withdraw = (uint8_t)withdraw;
	return 1;
}

static void withdraw_segment(const struct nic_message *message, uint8_t *at)
{
	struct bcl_segment_header segment = {
		.op = BCL_SEG_WITHDRAW,
		.msg = bcl_put32(message->number),
	};

	memcpy(at, &segment, sizeof(segment));
}

/* Its memory cannot be read. */
static void fault(struct bcl_card *card, struct nic_conn *conn,
		  struct nic_message *message)
{
	message->status = BCL_ERR_MEMORY;
	bcl_nic_message_withdraw(card, conn, message);
}

static int fill(struct bcl_card *card, struct build *build,
		struct nic_message *message, uint32_t offset, uint32_t length,
		uint8_t *at)
{
	uint16_t start = build->frame->head_len;

	if (bcl_nic_sdma_payload(card, message, offset, length, build->frame,
				 build->buffer)) {
		bcl_nic_frame_segment(card, message, offset, length, at);
		build->segments++;
		build->refs |= message->nref;
		return 1;
	}
	build->frame->head_len = start - 40;
	build->frame->nparts = 0;
	fault(card, build->conn, message);
	return 0;
}

static uint32_t frame_length(const struct bcl_tx_frame *frame)
{
	uint32_t length = frame->head_len;
	unsigned i;

	for (i = 0; i < frame->nparts; i++)
		length += frame->part[i].ref.length;
	return length;
}

/* Frames whose headers are complete but for what changes with time. */
static unsigned transmit(struct bcl_card *card, struct nic_conn *conn,
			 unsigned rail, unsigned n)
{
	struct nic_window *window = &conn->window[rail];
	struct nic_flight *flight;
	unsigned taken, i;

	taken = card->hal.transmit(card->host, rail,
				   nic_node_index(card, conn->node),
				   card->frames, n);
	for (i = 0; i < n; i++) {
		flight = card->burst[i];
		bcl_nic_window_sent(card, conn, rail, flight);
		if (i < taken) {
			card->counters[BCL_CARD_bytes_sent] +=
				flight->bytes - BCL_HEADERS_SIZE;
			continue;
		}
		flight->state = NIC_FLIGHT_UNSENT;
		window->bytes -= flight->bytes;
		window->lost = 1;
	}
	if (taken < n) {
		card->rail[rail].busy = 1;
		bcl_nic_conn_work(card, conn, NIC_WORK_LOST);
	}
	return taken;
}

static void number_frame(struct nic_window *window, struct nic_flight *flight)
{
	if (!nic_list_empty(&flight->link))
		return; /* it has its number */
	flight->seq = window->next++;
	nic_list_append(&window->flights, &flight->link);
}

static void put_seq(uint8_t *head, uint32_t seq)
{
	struct bcl_le32 field = bcl_put32(seq);

	memcpy(head + offsetof(struct bcl_frame_header, seq), &field, 4);
}

static uint8_t data_kind(const struct nic_conn *conn, int segments)
{
	return conn->pcrc || segments > 1 ? BCL_FRAME_DATA | BCL_FRAME_PCRC
					  : BCL_FRAME_DATA;
}

/* Ask for an acknowledgement if the window will be shut until it comes, and
 * is too small for the receiver's own measure. */
static uint8_t ask(const struct bcl_card *card, unsigned rail,
		   const struct nic_window *window)
{
	return window->congestion < 2 * NIC_ACK_BYTES &&
			       !nic_window_open_bulk(
				       window,
				       nic_window_burst(card, rail, window))
		       ? BCL_FRAME_ASK
		       : 0;
}

static void launch(struct bcl_card *card, struct nic_conn *conn, unsigned rail,
		   struct bcl_tx_frame *frame, struct nic_flight *flight)
{
	struct nic_window *window = &conn->window[rail];
	uint8_t kind =
		data_kind(conn, flight->more ? 2 : 1) | ask(card, rail, window);

	number_frame(window, flight);
	bcl_frame_header(card, conn, rail, kind, frame->head);
	put_seq(frame->head, flight->seq);
	bcl_nic_frame_seal(card, frame->head);
	frame->flags = kind & BCL_FRAME_PCRC ? BCL_TX_PCRC : 0;
	card->burst[0] = flight;
	transmit(card, conn, rail, 1);
}

/* Some memory could not be read: only messages with references refer to it. */
static void fetch_failed(struct bcl_card *card, struct nic_buffer *buffer)
{
	struct nic_flight *flight = buffer->flight, *part;
	struct nic_conn *conn = buffer->conn;

	for (part = flight; part; part = part->more)
		if (nic_message_alive(conn, part) &&
		    (part->message->nref || !flight->more) &&
		    part->message->state != NIC_MESSAGE_WITHDRAWN)
			fault(card, conn, part->message);
	flight->buffer = NULL;
	if (nic_list_empty(&flight->link)) {
		bcl_nic_message_reroute(card, conn, flight);
		bcl_nic_window_free(card, flight);
		return;
	}
	flight->window->bytes -= flight->bytes;
	flight->state = NIC_FLIGHT_LOST;
	flight->window->lost = 1;
	bcl_nic_conn_work(card, conn, NIC_WORK_LOST);
}

/* Transmit what is fetched, in the order in which it was begun. */
static void launch_fetched(struct bcl_card *card, unsigned rail)
{
	struct nic_rail *at = &card->rail[rail];
	struct bcl_tx_frame *frame = &card->frames[0];
	struct nic_buffer *buffer;
	struct nic_flight *flight;

	while (!at->busy &&
	       (buffer = nic_list_first(&at->fetched, struct nic_buffer,
					link)) &&
	       buffer->jobs == 0) {
		nic_list_remove(&buffer->link);
		flight = buffer->flight;
		if (flight && buffer->fault) {
			fetch_failed(card, buffer);
		} else if (flight) {
			flight->buffer = NULL;
			frame->head = buffer->bytes;
			frame->head_len = buffer->length;
			frame->nparts = 0;
			launch(card, buffer->conn, rail, frame, flight);
		}
		buffer->flight = NULL;
		nic_pool_put(&card->out, &buffer->link);
	}
}

/* The frame is packed: off with it, or wait until its payload is fetched. */
static void finish(struct bcl_card *card, struct build *build)
{
	struct nic_window *window = window_of(build);
	struct nic_flight *flight = build->flight;
	struct nic_buffer *buffer = build->buffer;

	if (build->frame->head_len < BCL_HEADERS_SIZE) {
		memset(build->frame->head + 40, 0, 40);
		build->frame->head_len = BCL_HEADERS_SIZE;
	}
	if (flight->bytes == 0)
		flight->bytes = (uint16_t)frame_length(build->frame);
	flight->state = NIC_FLIGHT_BUILT;
	window->bytes += flight->bytes;
	if (!buffer) {
		launch(card, build->conn, build->rail, build->frame, flight);
		return;
	}
	flight->buffer = buffer;
	buffer->flight = flight;
	buffer->length = build->frame->head_len;
	nic_list_append(&card->rail[build->rail].fetched, &buffer->link);
	if (buffer->jobs == 0)
		launch_fetched(card, build->rail);
}

/* Nothing came of it. */
static void cancel(struct bcl_card *card, struct build *build)
{
	if (build->buffer)
		nic_pool_put(&card->out, &build->buffer->link);
	bcl_nic_window_free(card, build->flight);
}

/* ---- again: lost frames, withdrawals, messages of a dead rail ---- */

static void rebuild(struct bcl_card *card, struct build *build)
{
	struct nic_flight *part;
	uint8_t *at;

	for (part = build->flight; part; part = part->more) {
		if (!nic_message_alive(build->conn, part))
			continue;
		/* Once withdrawn it may have lost its memory. */
		if (!part->withdraw &&
		    part->message->state == NIC_MESSAGE_WITHDRAWN)
			continue;
		at = append(build, part->length);
		if (!at) { /* the rail's frames have become smaller */
			bcl_nic_message_withdraw(card, build->conn,
						 part->message);
			continue;
		}
		if (part->withdraw)
			withdraw_segment(part->message, at);
		else
			fill(card, build, part->message, part->offset,
			     part->length, at);
	}
}

static int blocked(const struct bcl_card *card, const struct nic_conn *conn,
		   unsigned rail)
{
	return rail >= BCL_RAILS_MAX || card->rail[rail].busy ||
	       conn->window[rail].state != NIC_RAIL_PROVED ||
	       conn->state == NIC_CONN_ENDING;
}

/* 0: nothing more now. */
static int resend(struct bcl_card *card, struct nic_conn *conn, unsigned rail,
		  struct nic_flight *flight, unsigned *budget)
{
	struct nic_window *window = &conn->window[rail];
	struct build build;

	if (blocked(card, conn, rail) ||
	    !nic_window_open(window, flight->bytes))
		return 0;
	if (*budget == 0 || !begin(card, conn, rail, flight, 0, &build)) {
		bcl_nic_conn_work(card, conn, NIC_WORK_LOST);
		return 0;
	}
	if (flight->state == NIC_FLIGHT_LOST) {
		flight->again = 1;
		if (window->probing)
			window->probe = flight->seq + 1;
		nic_count(card, retransmitted);
		conn->retransmitted++;
	}
	rebuild(card, &build);
	finish(card, &build);
	--*budget;
	return 1;
}

static void send_lost(struct bcl_card *card, struct nic_conn *conn,
		      unsigned rail, unsigned *budget)
{
	struct nic_window *window = &conn->window[rail];
	struct nic_flight *flight;
	struct nic_link *link;
	unsigned pass;

	window->lost = 0; /* set again by a rail that is full */
	for (pass = 0; pass < 2; pass++) {
		for (link = window->flights.next; link != &window->flights;
		     link = link->next) {
			flight = nic_container(link, struct nic_flight, link);
			if ((flight->state != NIC_FLIGHT_LOST &&
			     flight->state != NIC_FLIGHT_UNSENT) ||
			    (pass == 0 && window->probing &&
			     bcl_before(flight->seq, window->probe)))
				continue;
			if (!resend(card, conn, rail, flight, budget)) {
				window->lost = 1;
				return;
			}
		}
	}
}

/* One message of conn->again. 0: it does not fit into this frame. */
static int add_again(struct bcl_card *card, struct build *build,
		     struct nic_message *message)
{
	int withdraw = message->state == NIC_MESSAGE_WITHDRAWN;
	uint32_t length = withdraw ? 0 : nic_message_bytes(message);
	uint8_t *at;

	if (length > window_of(build)->payload) {
		bcl_nic_message_withdraw(card, build->conn, message);
		return 1;
	}
	if (build->buffer && (card->jobs.left < 8 ||
			      (build->refs && message->nref && !withdraw)))
		return 0;
	at = append(build, length);
	if (!at)
		return 0;
	if (!note(card, build, message, length, withdraw)) {
		build->frame->head_len -= 40;
		return 0;
	}
	nic_list_remove(&message->link);
	if (withdraw)
		withdraw_segment(message, at);
	else
		fill(card, build, message, 0, length, at);
	return 1;
}

static void send_again(struct bcl_card *card, struct nic_conn *conn,
		       unsigned *budget)
{
	unsigned rail = conn->small_rail;
	struct nic_message *message;
	struct build build;

	while (!nic_list_empty(&conn->again) && !blocked(card, conn, rail) &&
	       nic_window_open(&conn->window[rail],
			       conn->window[rail].payload)) {
		if (*budget == 0 || !begin(card, conn, rail, NULL, 0, &build)) {
			bcl_nic_conn_work(card, conn, NIC_WORK_AGAIN);
			return;
		}
		while ((message = nic_list_first(&conn->again,
						 struct nic_message, link)) &&
		       add_again(card, &build, message))
			;
		finish(card, &build);
		--*budget;
	}
}

/* ---- new messages ---- */

static int number(struct bcl_card *card, struct nic_conn *conn, unsigned rail,
		  struct nic_message *message)
{
	if (message->number)
		return 1;
	if (!bcl_nic_message_number(card, conn, message))
		return 0;
	message->moved = 0;
	message->fragmented =
		nic_message_bytes(message) > conn->window[rail].payload;
	return 1;
}

/* Append a whole message. 0: the frame is full, or no more flights. */
static int add(struct bcl_card *card, struct build *build,
	       struct nic_message *message, uint32_t length)
{
	uint8_t *at = append(build, length);

	if (!at)
		return 0;
	if (!number(card, build->conn, build->rail, message) ||
	    !note(card, build, message, length, 0)) {
		build->frame->head_len -= 40;
		return 0;
	}
	message->state = NIC_MESSAGE_SENT;
	message->moved = length;
	nic_list_remove(&message->link);
	fill(card, build, message, 0, length, at);
	return 1;
}

/* Add the first message of a flow if it is whole and fits. */
static int add_first(struct bcl_card *card, struct build *build,
		     struct nic_flow *flow)
{
	struct nic_message *message =
		nic_list_first(&flow->queue, struct nic_message, link);
	uint32_t length;

	if (!message || !bcl_nic_flow_sendable(flow) || message->number)
		return 0;
	length = nic_message_bytes(message);
	if (build->segments && length > NIC_COPY_MAX)
		return 0;
	if (build->buffer &&
	    (card->jobs.left < 8 || (build->refs && message->nref)))
		return 0;
	return add(card, build, message, length);
}

/* Fill the frame with what waits for the same node. */
static void share(struct bcl_card *card, struct build *build,
		  struct nic_node *node)
{
	struct nic_link *link = node->flows.next;
	struct nic_flow *flow;
	unsigned i;

	for (i = 0; i < SHARE_FLOWS && link != &node->flows;
	     i++, link = link->next) {
		flow = nic_container(link, struct nic_flow, in_node);
		if (flow->place != NIC_FLOW_READY)
			continue;
		while (add_first(card, build, flow))
			;
	}
}

static void send_small(struct bcl_card *card, struct nic_flow *flow,
		       struct build *build)
{
	while (add_first(card, build, flow))
		;
	if (build->segments && build->frame->nparts == 0)
		share(card, build, flow->node);
	if (build->last)
		finish(card, build);
	else
		cancel(card, build);
}

int __attribute__((flatten))
bcl_nic_send_alone(struct bcl_card *card, struct nic_message *message)
{
	struct nic_conn *conn = message->node->conn;
	uint32_t bytes = nic_message_bytes(message);
	struct build build;
	unsigned rail;

	if (!card->gather || !nic_list_empty(&card->active) ||
	    message->port->made != message->port->taken || !conn ||
	    conn->state != NIC_CONN_UP ||
	    conn->working & (NIC_WORK_LOST | NIC_WORK_AGAIN))
		return 0;
	rail = nic_rails_pick(conn, bytes);
	if (blocked(card, conn, rail) || bytes > conn->window[rail].payload ||
	    !nic_window_open(&conn->window[rail], bytes + BCL_HEADERS_SIZE) ||
	    !bcl_nic_message_may_number(conn) ||
	    !begin(card, conn, rail, NULL, 0, &build))
		return 0;
	add(card, &build, message, bytes);
	finish(card, &build);
	return 1;
}

static void place_payload(struct nic_flight *flight,
			  struct nic_message *message, uint32_t length)
{
	flight->message = message;
	flight->number = message->number;
	flight->offset = message->moved;
	flight->length = (uint16_t)length;
	message->moved += length;
}

/* Without gathering, long messages go frame by frame. */
static unsigned send_fragment(struct bcl_card *card,
			      struct nic_message *message, struct build *build)
{
	uint32_t length = nic_min32(message->length - message->moved,
				    window_of(build)->payload);
	uint8_t *at = append(build, length);

	if (!fill(card, build, message, message->moved, length, at)) {
		cancel(card, build);
		return 1;
	}
	place_payload(build->flight, message, length);
	finish(card, build);
	return 1;
}

/* Equal headers but for seq, offset and, in the last one, length. */
static void burst_headers(struct bcl_card *card, struct nic_conn *conn,
			  unsigned rail, const struct nic_message *message,
			  unsigned n)
{
	struct nic_window *window = &conn->window[rail];
	uint8_t first[BCL_HEADERS_SIZE], *head;
	struct bcl_segment_header *segment;
	struct nic_flight *flight;
	unsigned i;

	bcl_frame_header(card, conn, rail, data_kind(conn, 1), first);
	bcl_nic_frame_segment(card, message, 0, window->payload, first + 40);
	card->counters[BCL_CARD_frames_sent] += n - 1;
	conn->frames_sent += n - 1;
	for (i = 0; i < n; i++) {
		flight = card->burst[i];
		head = card->heads[i];
		memcpy(head, first, sizeof(first));
		segment = (struct bcl_segment_header *)(void *)(head + 40);
		number_frame(window, flight);
		put_seq(head, flight->seq);
		segment->offset = bcl_put32(flight->offset);
		segment->length = bcl_put16(flight->length);
		if (i == n - 1)
			head[3] |= ask(card, rail, window);
		bcl_nic_frame_seal(card, head);
	}
}

static unsigned send_burst(struct bcl_card *card, struct nic_conn *conn,
			   unsigned rail, struct nic_message *message,
			   unsigned budget)
{
	struct nic_window *window = &conn->window[rail];
	unsigned n, most = card->rail[rail].burst;
	struct bcl_tx_frame *frame;
	struct nic_flight *flight;
	uint32_t length;

	most = nic_min32(nic_min32(most, NIC_BURST_MAX), budget);
	for (n = 0; n < most && message->moved < message->length; n++) {
		length = nic_min32(message->length - message->moved,
				   window->payload);
		if (!nic_window_open_bulk(window, length + BCL_HEADERS_SIZE))
			break;
		flight = bcl_nic_window_flight(card, window, 1);
		if (!flight)
			break;
		frame = &card->frames[n];
		frame->head = card->heads[n];
		frame->head_len = BCL_HEADERS_SIZE;
		frame->nparts = 0;
		frame->flags = conn->pcrc ? BCL_TX_PCRC : 0;
		if (!bcl_nic_sdma_payload(card, message, message->moved, length,
					  frame, NULL)) {
			bcl_nic_window_free(card, flight);
			fault(card, conn, message);
			break;
		}
		place_payload(flight, message, length);
		flight->bytes = (uint16_t)(length + BCL_HEADERS_SIZE);
		window->bytes += flight->bytes;
		card->burst[n] = flight;
	}
	if (n == 0)
		return 0;
	burst_headers(card, conn, rail, message, n);
	transmit(card, conn, rail, n);
	return n;
}

static int may_send(const struct bcl_card *card, unsigned rail,
		    const struct nic_window *window, uint32_t bytes,
		    const struct nic_message *message)
{
	uint32_t burst = nic_window_burst(card, rail, window);
	uint32_t left = bytes - message->moved;

	if (bytes <= window->payload && !message->number)
		return nic_window_open(window, bytes + BCL_HEADERS_SIZE);
	if (left < burst)
		burst = left + BCL_HEADERS_SIZE;
	return nic_window_open_bulk(window, burst);
}

/* One frame or burst of a flow's first message. Returns the frames; 0: the
 * flow cannot go on and has left the ready list. */
static unsigned send_flow(struct bcl_card *card, struct nic_flow *flow,
			  unsigned budget)
{
	struct nic_conn *conn = flow->node->conn;
	struct nic_message *message =
		nic_list_first(&flow->queue, struct nic_message, link);
	struct nic_window *window;
	struct build build;
	uint32_t bytes;
	unsigned rail, n;

	if (!bcl_nic_flow_sendable(flow)) {
		bcl_nic_flow_stall(flow, NULL);
		return 0;
	}
	bytes = nic_message_bytes(message);
	rail = nic_rails_pick(conn, bytes);
	if (rail < BCL_RAILS_MAX && card->rail[rail].busy) {
		bcl_nic_flow_stall(flow, &card->rail[rail].flows);
		return 0;
	}
	window = &conn->window[rail % BCL_RAILS_MAX];
	if (rail == BCL_RAILS_MAX ||
	    !may_send(card, rail, window, bytes, message) ||
	    !(message->number || bcl_nic_message_may_number(conn))) {
		bcl_nic_flow_stall(flow, &conn->stalled);
		return 0;
	}
	if (bytes > window->payload)
		number(card, conn, rail, message);
	n = 1;
	if (message->number && card->gather)
		n = send_burst(card, conn, rail, message, budget);
	else if (!begin(card, conn, rail, NULL, message->number != 0, &build))
		n = 0;
	else if (message->number)
		n = send_fragment(card, message, &build);
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
		*budget -= nic_min32(n, *budget);
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

static void work(struct bcl_card *card, struct nic_conn *conn, unsigned *budget)
{
	unsigned what = conn->working, rail;

	conn->working &= (uint8_t) ~(NIC_WORK_LOST | NIC_WORK_AGAIN);
	if (what & NIC_WORK_LOST)
		for (rail = 0; rail < BCL_RAILS_MAX; rail++)
			if (conn->window[rail].lost)
				send_lost(card, conn, rail, budget);
	if (what & NIC_WORK_AGAIN)
		send_again(card, conn, budget);
}

void bcl_nic_send(struct bcl_card *card, unsigned *budget)
{
	struct nic_link *link, *next;
	struct nic_conn *conn;
	unsigned what;

	for (link = card->working.next; link != &card->working;
	     link = link->next) {
		conn = nic_container(link, struct nic_conn, work);
		if (conn->working & (NIC_WORK_LOST | NIC_WORK_AGAIN))
			work(card, conn, budget);
	}
	if (!nic_list_empty(&card->waiting))
		bcl_nic_flow_wake_list(card, &card->waiting);
	send_new(card, budget);
	for (link = card->working.next; link != &card->working; link = next) {
		next = link->next;
		conn = nic_container(link, struct nic_conn, work);
		what = conn->working;
		conn->working &= NIC_WORK_LOST | NIC_WORK_AGAIN;
		if (!conn->working)
			nic_list_remove(&conn->work);
		send_acks(card, conn, what);
	}
}

void bcl_nic_send_fetched(struct bcl_card *card, struct nic_buffer *buffer,
			  enum bcl_dma_result result)
{
	if (result == BCL_DMA_FAULT)
		buffer->fault = 1;
	if (--buffer->jobs == 0)
		launch_fetched(card, buffer->rail);
}

void bcl_nic_send_drop(struct bcl_card *card, struct nic_conn *conn,
		       unsigned rail)
{
	struct nic_buffer *buffer;
	struct nic_flight *flight;
	uint32_t i;

	if (card->gather)
		return;
	for (i = 0; i < card->config.buffers; i++) {
		buffer = &card->buffer[i];
		flight = buffer->flight;
		if (!flight || buffer->conn != conn || buffer->rail != rail ||
		    !nic_list_empty(&flight->link))
			continue;
		bcl_nic_message_reroute(card, conn, flight);
		bcl_nic_window_free(card, flight);
	}
}

void bcl_nic_send_ready(struct bcl_card *card, unsigned rail)
{
	struct nic_rail *at = &card->rail[rail];
	struct nic_conn *conn;
	uint32_t i;

	at->busy = 0;
	launch_fetched(card, rail);
	bcl_nic_flow_wake_list(card, &at->flows);
	for (i = 0; i <= card->conn_mask; i++) {
		conn = card->conns[i];
		if (!conn)
			continue;
		if (conn->window[rail].lost)
			bcl_nic_conn_work(card, conn, NIC_WORK_LOST);
		if (!nic_list_empty(&conn->again))
			bcl_nic_conn_work(card, conn, NIC_WORK_AGAIN);
	}
}
