/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Frames of the peer that have arrived on one rail of a connection. */
#ifndef NICFW_ARRIVED_H
#define NICFW_ARRIVED_H

#include <nicfw/conn.h>

/* Bitmaps, by rail, of frames that arrived out of order. */
struct nic_arrived {
	uint32_t bits[BCL_RAILS_MAX][BCL_SACK_BITS / 32];
};

/* How to handle a frame of the peer with this sequence number. */
enum nic_seq {
	NIC_SEQ_NEW,
	NIC_SEQ_DUPLICATE,
	NIC_SEQ_OUTSIDE,
	NIC_SEQ_NO_MEMORY, /* to remember that it came out of order */
};

/*
 * The slow paths of nic_arrived_check() and nic_arrived_note(), for frames out
 * of order.
 */
enum nic_seq bcl_nic_arrived_check_slow(struct bcl_card *card,
					struct nic_conn *conn, unsigned rail,
					uint32_t seq);
void bcl_nic_arrived_note_slow(struct bcl_card *card, struct nic_conn *conn,
			       unsigned rail, uint32_t seq, uint32_t bytes);
/* Receive from another rail of the peer, whose first frame is `seq`. */
void bcl_nic_arrived_begin(struct nic_conn *conn, unsigned rail, uint32_t seq);
/* The peer will not send frames before `seq` any more. */
void bcl_nic_arrived_skip(struct nic_conn *conn, unsigned rail, uint32_t seq);
/*
 * Write a bitmap of the frames from expected + 1 that arrived. Returns the
 * number of bits.
 */
uint32_t bcl_nic_arrived_bits(const struct nic_conn *conn, unsigned rail,
			      uint8_t *bits);

/* A frame has arrived that is to be acknowledged. */
static inline void nic_arrived_owe(const struct bcl_card *card,
				   struct nic_window *window)
{
	if (!window->ack_due)
		window->owed = card->now;
	window->ack_due = 1;
}

/* Decide whether to take a frame of the peer. */
static inline enum nic_seq nic_arrived_check(struct bcl_card *card,
					     struct nic_conn *conn,
					     unsigned rail, uint32_t seq)
{
	return seq == conn->window[rail].expected
		       ? NIC_SEQ_NEW
		       : bcl_nic_arrived_check_slow(card, conn, rail, seq);
}

/*
 * `bytes` came in order, in frames that `expected` counts already. The
 * acknowledgement is delayed until there are enough bytes.
 */
static inline void nic_arrived_followed(struct bcl_card *card,
					struct nic_conn *conn, unsigned rail,
					uint32_t bytes)
{
	struct nic_window *window = &conn->window[rail];

	window->unacked += bytes;
	nic_arrived_owe(card, window);
	if (window->unacked < nic_window_unacked_max(card->rail[rail].window))
		nic_conn_ack_soon(card, conn);
	else
		nic_conn_work(card, conn, NIC_WORK_ACK << rail);
}

/* The frame `seq` was taken. */
static inline void nic_arrived_note(struct bcl_card *card,
				    struct nic_conn *conn, unsigned rail,
				    uint32_t seq, uint32_t bytes)
{
	struct nic_window *window = &conn->window[rail];

	if (seq != window->expected || seq != window->highest) {
		bcl_nic_arrived_note_slow(card, conn, rail, seq, bytes);
		return;
	}
	window->expected = seq + 1;
	window->highest = seq + 1;
	nic_arrived_followed(card, conn, rail, bytes);
}

#endif
