/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Frames that are built get their sequence numbers and what changes with time,
 * and are given to the rail. Without BCL_HAL_GATHER they wait until their
 * payload is fetched, in the order in which they were begun.
 */
#include <nicfw/frame.h>
#include <nicfw/window.h>

/* The rail is full: these frames have not left. */
static void keep(struct bcl_card *card, struct nic_conn *conn, unsigned rail,
		 struct nic_flight *flight)
{
	flight->state = NIC_FLIGHT_UNSENT;
	flight->window->bytes -= flight->bytes;
	flight->window->lost = 1;
	card->rail[rail].busy = 1;
	bcl_nic_conn_work(card, conn, NIC_WORK_LOST);
}

/* Frames whose headers are complete but for what changes with time. */
static inline void transmit(struct bcl_card *card, struct nic_conn *conn,
			    unsigned rail, struct bcl_tx_frame *frame,
			    struct nic_flight *flight)
{
	struct nic_flight *rest = NULL;
	unsigned taken;

	taken = card->hal.transmit(card->host, rail,
				   nic_node_index(card, conn->node), frame);
	nic_window_sent(card, conn, rail, flight);
	if (taken < flight->frames) {
		rest = taken ? bcl_nic_window_part(card, flight, taken) : NULL;
		keep(card, conn, rail, rest ? rest : flight);
	}
	if (rest || taken == flight->frames)
		card->counters[BCL_CARD_bytes_sent] +=
			flight->bytes - flight->frames * BCL_HEADERS_SIZE;
}

static void number_frame(struct nic_window *window, struct nic_flight *flight)
{
	if (!nic_list_empty(&flight->link))
		return; /* it has its number */
	flight->seq = window->next;
	window->next += flight->frames;
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
static inline uint8_t ask(const struct bcl_card *card, unsigned rail,
			  const struct nic_window *window)
{
	return window->congestion < 2 * NIC_ACK_BYTES &&
			       !nic_window_open_bulk(
				       window,
				       nic_window_burst(card, rail, window))
		       ? BCL_FRAME_ASK
		       : 0;
}

static inline void frame_header(struct bcl_card *card, struct nic_conn *conn,
				unsigned rail, uint8_t kind,
				struct bcl_tx_frame *frame,
				const struct nic_flight *flight)
{
	kind |= ask(card, rail, &conn->window[rail]);
	nic_frame_header(card, conn, rail, kind, frame->head);
	put_seq(frame->head, flight->seq);
	nic_frame_seal(card, frame->head);
}

static void run_header(struct bcl_card *card, struct nic_conn *conn,
		       unsigned rail, uint8_t kind, struct bcl_tx_frame *run,
		       const struct nic_flight *flight)
{
	nic_frame_header(card, conn, rail, kind, run->head);
	put_seq(run->head, flight->seq);
	run->payload = flight->payload;
	run->last = ask(card, rail, &conn->window[rail]);
	card->counters[BCL_CARD_frames_sent] += run->frames - 1;
	conn->frames_sent += run->frames - 1;
}

void bcl_nic_launch(struct bcl_card *card, struct nic_conn *conn, unsigned rail,
		    struct bcl_tx_frame *frame, struct nic_flight *flight)
{
	struct nic_window *window = &conn->window[rail];
	uint8_t kind = data_kind(conn, flight->more ? 2 : 1);

	number_frame(window, flight);
	frame->frames = flight->frames;
	frame->flags = kind & BCL_FRAME_PCRC ? BCL_TX_PCRC : 0;
	if (flight->frames > 1)
		run_header(card, conn, rail, kind, frame, flight);
	else
		frame_header(card, conn, rail, kind, frame, flight);
	transmit(card, conn, rail, frame, flight);
}

/* ---- without BCL_HAL_GATHER ---- */

/* Some memory could not be read: only messages with references refer to it. */
static void fetch_failed(struct bcl_card *card, struct nic_buffer *buffer)
{
	struct nic_flight *flight = buffer->flight, *part;
	struct nic_conn *conn = buffer->conn;

	for (part = flight; part; part = part->more)
		if (nic_message_alive(conn, part) &&
		    (part->message->nref || !flight->more) &&
		    part->message->state != NIC_MESSAGE_WITHDRAWN)
			bcl_nic_message_fault(card, conn, part->message);
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
void bcl_nic_launch_fetched(struct bcl_card *card, unsigned rail)
{
	struct nic_rail *at = &card->rail[rail];
	struct bcl_tx_frame *frame = &card->out_frame;
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
			bcl_nic_launch(card, buffer->conn, rail, frame, flight);
		}
		buffer->flight = NULL;
		nic_pool_put(&card->out, &buffer->link);
	}
}

void bcl_nic_launch_dma_done(struct bcl_card *card, struct nic_buffer *buffer,
			     enum bcl_dma_result result)
{
	if (result == BCL_DMA_FAULT)
		buffer->fault = 1;
	if (--buffer->jobs == 0)
		bcl_nic_launch_fetched(card, buffer->rail);
}

void bcl_nic_launch_drop(struct bcl_card *card, struct nic_conn *conn,
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
