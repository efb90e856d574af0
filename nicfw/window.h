/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * One rail of a connection: room in the congestion window, frames in flight,
 * and frames that have arrived.
 */
#ifndef NICFW_WINDOW_H
#define NICFW_WINDOW_H

#include <nicfw/conn.h>

/* A frame has arrived that is to be acknowledged. */
static inline void nic_window_owe(const struct bcl_card *card,
				  struct nic_window *window)
{
	if (!window->ack_due)
		window->owed = card->now;
	window->ack_due = 1;
}

void bcl_nic_window_start(struct bcl_card *card, struct nic_conn *conn,
			  unsigned rail);
/* A frame was put in flight and the timer is not running. */
void bcl_nic_window_start_timer(struct bcl_card *card, struct nic_conn *conn,
				unsigned rail);
void bcl_nic_window_free(struct bcl_card *card, struct nic_flight *flight);
/* Remove a flight from its window. The flight stays allocated. */
void bcl_nic_window_take(struct nic_flight *flight);
/*
 * Split a run after `frames` frames. Returns the second half; NULL: no flight
 * is free.
 */
struct nic_flight *bcl_nic_window_part(struct bcl_card *card,
				       struct nic_flight *run, uint32_t frames);
/*
 * Count the flight as lost. Payload that is being fetched for it is not wanted
 * any more.
 */
void bcl_nic_window_mark_lost(struct nic_flight *flight);

enum nic_acked {
	NIC_ACKED_NONE,
	NIC_ACKED_SOME,
	NIC_ACKED_ALL, /* nothing is in flight any more */
};

/* The peer acknowledges all frames before `ack`. */
enum nic_acked bcl_nic_window_ack(struct bcl_card *card, struct nic_conn *conn,
				  unsigned rail, uint32_t ack);

/*
 * The frames that the peer reports as arrived: all before `ack`, and those of a
 * bitmap that begins behind `ack`.
 */
struct nic_sack {
	uint32_t ack, nbits;
	const uint8_t *bits;
};

/* Returns true if the report acknowledges frames in flight. */
bool bcl_nic_window_sack(struct bcl_card *card, struct nic_window *window,
			 const struct nic_sack *sack);
/*
 * The timer has expired. Returns false if the only consequence is a tail-loss
 * probe.
 */
bool bcl_nic_window_timeout(struct bcl_card *card, struct nic_conn *conn,
			    unsigned rail);
uint32_t bcl_nic_window_rto(const struct bcl_card *card,
			    const struct nic_window *window);
/* The rail is dead, and nothing is in flight any more. */
void bcl_nic_window_stop(struct nic_window *window);
/*
 * The peer has reported which frames arrived before the rail died: free their
 * flights, up to the first flight that did not arrive. Returns that flight;
 * NULL: none is left. *known is false if only some of its frames arrived, and
 * no flight is free to split it.
 */
struct nic_flight *bcl_nic_window_missing(struct bcl_card *card,
					  struct nic_window *window,
					  const struct nic_sack *report,
					  bool *known);
/*
 * Bytes of a long message to put in flight in one call: `left` in all, `stripe`
 * on this rail. Whole frames, or the end of the message.
 */
uint32_t bcl_nic_window_run_bytes(const struct bcl_card *card, unsigned rail,
				  const struct nic_window *window,
				  uint32_t left, uint32_t stripe,
				  unsigned budget);
/* How to handle a frame of the peer with this sequence number. */
enum nic_seq {
	NIC_SEQ_NEW,
	NIC_SEQ_DUPLICATE,
	NIC_SEQ_OUTSIDE,
	NIC_SEQ_NO_MEMORY, /* to remember that it came out of order */
};

/*
 * The slow paths of nic_window_check() and nic_window_arrived(), for frames out
 * of order.
 */
enum nic_seq bcl_nic_window_check_slow(struct bcl_card *card,
				       struct nic_conn *conn, unsigned rail,
				       uint32_t seq);
void bcl_nic_window_arrived_slow(struct bcl_card *card, struct nic_conn *conn,
				 unsigned rail, uint32_t seq, uint32_t bytes);
/* Receive from another rail of the peer, whose first frame is `seq`. */
void bcl_nic_window_begin(struct nic_conn *conn, unsigned rail, uint32_t seq);
/* The peer will not send frames before `seq` any more. */
void bcl_nic_window_skip(struct nic_conn *conn, unsigned rail, uint32_t seq);
/*
 * Write a bitmap of the frames from expected + 1 that arrived. Returns the
 * number of bits.
 */
uint32_t bcl_nic_window_bits(const struct nic_conn *conn, unsigned rail,
			     uint8_t *bits);

/* Free a flight that is in no window any more: one of conn->parts. */
static inline void nic_window_discard(struct bcl_card *card,
				      struct nic_flight *part)
{
	nic_list_remove(&part->link);
	nic_pool_put(&card->flights, &part->link);
}

/*
 * True if a frame of `bytes` may be put in flight now. A frame always may if
 * nothing is in flight. While time-outs are unanswered no second frame may.
 */
static inline bool nic_window_open(const struct nic_window *window,
				   uint32_t bytes)
{
	return window->bytes == 0 ||
	       (window->timeouts == 0 &&
		window->bytes + bytes <= bcl_min32(window->cwnd, window->rwnd));
}

/*
 * The same for long messages, which leave an eighth of the window to short
 * ones.
 */
static inline bool nic_window_open_bulk(const struct nic_window *window,
					uint32_t bytes)
{
	uint32_t most = bcl_min32(window->cwnd, window->rwnd);

	return nic_window_open(window, bytes + most / 8);
}

/* Bytes that a receiver with a grant of `granted` leaves unacknowledged. */
static inline uint32_t nic_window_unacked_max(uint32_t granted)
{
	return bcl_min32(NIC_ACK_BYTES, granted / 4);
}

/*
 * Bytes of window for which a long message waits: a burst, or a quarter of the
 * window if a burst is more. If the sender took any room at once, bursts would
 * shrink to single frames, with a call of transmit for each frame.
 */
static inline uint32_t nic_window_burst(const struct bcl_card *card,
					unsigned rail,
					const struct nic_window *window)
{
	uint32_t most = bcl_min32(window->cwnd, window->rwnd);
	uint32_t frame = window->payload + BCL_HEADERS_SIZE;
	uint32_t burst = card->gather ? card->rail[rail].burst * frame : frame;

	return burst > most / 4 ? bcl_max32(frame, most / 4) : burst;
}

/*
 * True if the sender may continue a long message of which `left` bytes remain.
 * The sender waits for room for a burst, or for the rest of the message if that
 * is shorter. It never waits for room for more than a burst: messages that wait
 * for less would take all room first.
 */
static inline bool nic_window_open_part(const struct bcl_card *card,
					unsigned rail,
					const struct nic_window *window,
					uint32_t left)
{
	uint32_t burst = nic_window_burst(card, rail, window);

	if (left < burst - BCL_HEADERS_SIZE)
		burst = left + BCL_HEADERS_SIZE;
	return nic_window_open_bulk(window, burst);
}

/* Frames of a long message that fit into an open window, at least one. */
static inline uint32_t nic_window_room(const struct nic_window *window)
{
	uint32_t most = bcl_min32(window->cwnd, window->rwnd);
	uint32_t frame = window->payload + BCL_HEADERS_SIZE;

	most -= most / 8;
	if (window->timeouts || window->bytes + 2 * frame > most)
		return 1;
	return (most - window->bytes) / frame;
}

/*
 * Sequence numbers that may still be used: the peer's SACK bitmap bounds them.
 * Long messages leave an eighth to short ones.
 */
static inline uint32_t nic_window_numbers(const struct nic_window *window,
					  bool bulk)
{
	const struct nic_flight *oldest =
		nic_list_first(&window->flights, struct nic_flight, link);
	uint32_t most = BCL_SACK_BITS - (bulk ? BCL_SACK_BITS / 8 : 1);
	uint32_t used = oldest ? window->next - oldest->seq : 0;

	used = bcl_max32(used, window->nflights);
	return used < most ? most - used : 0;
}

/*
 * True if the window may take one more flight. A window takes no more flights
 * than it leaves in the pool. Long messages leave some to short messages.
 */
static inline bool nic_window_flights_left(const struct bcl_card *card,
					   const struct nic_window *window,
					   bool bulk)
{
	uint32_t claim = window->nflights;

	return nic_window_numbers(window, bulk) &&
	       (bulk ? claim + claim / 4 : claim) <= card->flights.left;
}

/*
 * Take a flight for a new frame. NULL: too many sequence numbers or flights are
 * in use.
 */
static inline struct nic_flight *
nic_window_flight(struct bcl_card *card, struct nic_window *window, bool bulk)
{
	struct nic_flight *flight;

	if (!nic_window_flights_left(card, window, bulk))
		return NULL;
	flight = nic_pool_take(&card->flights);
	if (!flight)
		return NULL;
	window->nflights++;
	flight->more = NULL;
	flight->message = NULL;
	flight->buffer = NULL;
	flight->window = window;
	flight->state = NIC_FLIGHT_BUILT;
	flight->retransmitted = 0;
	flight->withdraw = 0;
	flight->bytes = 0;
	flight->frames = 1;
	return flight;
}

/* Compute the frames of a part of a long message on this rail. */
static inline void nic_window_frames(const struct nic_window *window,
				     struct nic_flight *flight)
{
	flight->payload = window->payload;
	flight->frames = (uint16_t)((flight->length + window->payload - 1) /
				    window->payload);
	flight->bytes = flight->length + flight->frames * BCL_HEADERS_SIZE;
}

/* The frame has its sequence number and was given to the rail. */
static inline void nic_window_sent(struct bcl_card *card, struct nic_conn *conn,
				   unsigned rail, struct nic_flight *flight)
{
	flight->state = NIC_FLIGHT_SENT;
	flight->sent = card->now;
	if (conn->window[rail].rto_at == NIC_NEVER)
		bcl_nic_window_start_timer(card, conn, rail);
}

/* Decide whether to take a frame of the peer. */
static inline enum nic_seq nic_window_check(struct bcl_card *card,
					    struct nic_conn *conn,
					    unsigned rail, uint32_t seq)
{
	return seq == conn->window[rail].expected
		       ? NIC_SEQ_NEW
		       : bcl_nic_window_check_slow(card, conn, rail, seq);
}

/*
 * `bytes` came in order, in frames that `expected` counts already. The
 * acknowledgement is delayed until there are enough bytes.
 */
static inline void nic_window_followed(struct bcl_card *card,
				       struct nic_conn *conn, unsigned rail,
				       uint32_t bytes)
{
	struct nic_window *window = &conn->window[rail];

	window->unacked += bytes;
	nic_window_owe(card, window);
	if (window->unacked < nic_window_unacked_max(card->rail[rail].window))
		nic_conn_ack_soon(card, conn);
	else
		nic_conn_work(card, conn, NIC_WORK_ACK << rail);
}

/* The frame `seq` was taken. */
static inline void nic_window_arrived(struct bcl_card *card,
				      struct nic_conn *conn, unsigned rail,
				      uint32_t seq, uint32_t bytes)
{
	struct nic_window *window = &conn->window[rail];

	if (seq != window->expected || seq != window->highest) {
		bcl_nic_window_arrived_slow(card, conn, rail, seq, bytes);
		return;
	}
	window->expected = seq + 1;
	window->highest = seq + 1;
	nic_window_followed(card, conn, rail, bytes);
}

#endif
