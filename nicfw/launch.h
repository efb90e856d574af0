/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Give a built frame to the rail: sequence number, header, transmission. A
 * frame of short messages goes inline.
 */
#ifndef NICFW_LAUNCH_H
#define NICFW_LAUNCH_H

#include <nicfw/frame.h>

/* Transmit a run that has its sequence numbers. */
void bcl_nic_launch_run(struct bcl_card *card, struct nic_conn *conn,
			unsigned rail, uint8_t kind, struct bcl_tx_frame *run,
			struct nic_flight *flight);
/*
 * The rail is full and took only `taken` frames. The others wait. Returns true
 * if `flight` has left, split from the waiting frames.
 */
bool bcl_nic_launch_rest(struct bcl_card *card, struct nic_conn *conn,
			 unsigned rail, struct nic_flight *flight,
			 unsigned taken);
/* Transmit the buffers of a rail whose payload is complete. */
void bcl_nic_launch_fetched(struct bcl_card *card, unsigned rail);
void bcl_nic_launch_dma_done(struct bcl_card *card, struct nic_buffer *buffer,
			     enum bcl_dma_result result);
/*
 * Iterate over the flights of a connection that have no sequence number yet, as
 * their payload is still being fetched. *index is 0 at first. Returns NULL at
 * the end.
 */
struct nic_flight *bcl_nic_launch_next_new(const struct bcl_card *card,
					   const struct nic_conn *conn,
					   unsigned rail, uint32_t *index);

static inline void nic_launch_number(struct nic_window *window,
				     struct nic_flight *flight)
{
	bcl_assert(flight->window == window);
	if (!nic_list_empty(&flight->link))
		return; /* a retransmission keeps its number */
	flight->seq = window->next;
	window->next += flight->frames;
	nic_list_append(&window->flights, &flight->link);
}

static inline uint8_t nic_launch_kind(const struct nic_conn *conn,
				      const struct nic_flight *flight)
{
	return conn->pcrc || flight->more ? BCL_FRAME_DATA | BCL_FRAME_PCRC
					  : BCL_FRAME_DATA;
}

/*
 * Ask for an immediate acknowledgement after a time-out, the first of which
 * sends a tail-loss probe; or if this frame shuts the window, and the window is
 * too small to reach the receiver's own threshold for an acknowledgement.
 */
static inline uint8_t nic_launch_ask(const struct bcl_card *card, unsigned rail,
				     const struct nic_window *window)
{
	if (window->tlp_sent)
		return BCL_FRAME_ASK;
	return window->cwnd < 2 * nic_window_unacked_max(window->rwnd) &&
			       !nic_window_open_bulk(
				       window,
				       nic_window_burst(card, rail, window))
		       ? BCL_FRAME_ASK
		       : 0;
}

static inline void nic_launch_seq(uint8_t *head, uint32_t seq)
{
	struct bcl_le32 field = bcl_put32(seq);

	memcpy(head + offsetof(struct bcl_frame_header, seq), &field, 4);
}

/* The frame has its sequence number and was given to the rail. */
static inline void nic_launch_sent(struct bcl_card *card, struct nic_conn *conn,
				   unsigned rail, struct nic_flight *flight)
{
	flight->state = NIC_FLIGHT_SENT;
	flight->sent = card->now;
	if (conn->window[rail].rto_at == NIC_NEVER)
		bcl_nic_window_start_timer(card, conn, rail);
}

/* Transmit frames whose headers are complete. */
static inline void nic_launch_transmit(struct bcl_card *card,
				       struct nic_conn *conn, unsigned rail,
				       struct bcl_tx_frame *frame,
				       struct nic_flight *flight)
{
	unsigned taken;

	taken = card->hal.transmit(card->host, rail,
				   nic_node_index(card, conn->node), frame);
	nic_launch_sent(card, conn, rail, flight);
	if (taken == flight->frames ||
	    bcl_nic_launch_rest(card, conn, rail, flight, taken))
		card->counters[BCL_CARD_bytes_sent] +=
			flight->bytes - flight->frames * BCL_HEADERS_SIZE;
}

/*
 * Launch a frame that was built, or a run. The caller has added its bytes to
 * window->bytes.
 */
static inline void nic_launch(struct bcl_card *card, struct nic_conn *conn,
			      unsigned rail, struct bcl_tx_frame *frame,
			      struct nic_flight *flight)
{
	struct nic_window *window = &conn->window[rail];
	uint8_t kind = nic_launch_kind(conn, flight);

	nic_launch_number(window, flight);
	frame->frames = flight->frames;
	frame->flags = kind & BCL_FRAME_PCRC ? BCL_TX_PCRC : 0;
	if (flight->frames > 1) {
		bcl_nic_launch_run(card, conn, rail, kind, frame, flight);
		return;
	}
	kind |= nic_launch_ask(card, rail, window);
	nic_frame_header(card, conn, rail, kind, frame->head);
	nic_launch_seq(frame->head, flight->seq);
	nic_frame_seal(card, conn->peer_seal, frame->head);
	nic_launch_transmit(card, conn, rail, frame, flight);
}

#endif
