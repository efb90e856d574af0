/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Frames that are built get their sequence numbers and what changes with time,
 * and are given to the rail. Without BCL_HAL_GATHER they wait until their
 * payload is fetched, in the order in which they were begun.
 */
#include <nicfw/frame.h>
#include <nicfw/window.h>

/* Frames whose headers are complete but for what changes with time. */
static inline void transmit(struct bcl_card *card, struct nic_conn *conn,
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
		nic_window_sent(card, conn, rail, flight);
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

void bcl_nic_launch(struct bcl_card *card, struct nic_conn *conn, unsigned rail,
		    struct bcl_tx_frame *frame, struct nic_flight *flight)
{
	struct nic_window *window = &conn->window[rail];
	uint8_t kind =
		data_kind(conn, flight->more ? 2 : 1) | ask(card, rail, window);

	number_frame(window, flight);
	nic_frame_header(card, conn, rail, kind, frame->head);
	put_seq(frame->head, flight->seq);
	nic_frame_seal(card, frame->head);
	frame->flags = kind & BCL_FRAME_PCRC ? BCL_TX_PCRC : 0;
	card->burst[0] = flight;
	transmit(card, conn, rail, 1);
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

	nic_frame_header(card, conn, rail, data_kind(conn, 1), first);
	nic_frame_segment(card, message, 0, window->payload, first + 40);
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
		nic_frame_seal(card, head);
	}
}

void bcl_nic_launch_burst(struct bcl_card *card, struct nic_conn *conn,
			  unsigned rail, const struct nic_message *message,
			  unsigned n)
{
	burst_headers(card, conn, rail, message, n);
	transmit(card, conn, rail, n);
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
