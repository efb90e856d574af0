/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What may be put into flight on a rail, and what is; what has arrived; see
 * window.c. */
#ifndef NICFW_WINDOW_H
#define NICFW_WINDOW_H

#include <nicfw/card.h>

/*
 * May a frame of so many bytes be put into flight now? One may always; while
 * time-outs go unanswered no more than one.
 */
static inline int nic_window_open(const struct nic_window *window,
				  uint32_t bytes)
{
	return window->bytes == 0 ||
	       (window->timeouts == 0 &&
		window->bytes + bytes <= nic_min32(window->cwnd, window->rwnd));
}

/* The same for long messages, which leave an eighth to the short ones. */
static inline int nic_window_open_bulk(const struct nic_window *window,
				       uint32_t bytes)
{
	uint32_t most = nic_min32(window->cwnd, window->rwnd);

	return nic_window_open(window, bytes + most / 8);
}

/* What a receiver that accepts so many bytes in flight leaves unacknowledged.
 */
static inline uint32_t nic_window_unacked_max(uint32_t granted)
{
	return nic_min32(NIC_ACK_BYTES, granted / 4);
}

/*
 * The room that a long message waits for: a burst, or a quarter of a window
 * that is not much more. If it took whatever is free, bursts would wear down to
 * single frames, and a call for each.
 */
static inline uint32_t nic_window_burst(const struct bcl_card *card,
					unsigned rail,
					const struct nic_window *window)
{
	uint32_t most = nic_min32(window->cwnd, window->rwnd);
	uint32_t frame = window->payload + BCL_HEADERS_SIZE;
	uint32_t burst = card->gather ? card->rail[rail].burst * frame : frame;

	return burst > most / 4 ? nic_max32(frame, most / 4) : burst;
}

/*
 * May the next of so many bytes of a long message? Nobody waits for more than a
 * burst: those who wait for less would take each that becomes free.
 */
static inline int nic_window_open_part(const struct bcl_card *card,
				       unsigned rail,
				       const struct nic_window *window,
				       uint32_t left)
{
	uint32_t burst = nic_window_burst(card, rail, window);

	if (left < burst - BCL_HEADERS_SIZE)
		burst = left + BCL_HEADERS_SIZE;
	return nic_window_open_bulk(window, burst);
}

/* How many frames of a long message fit into an open window, one or more. */
static inline uint32_t nic_window_room(const struct nic_window *window)
{
	uint32_t most = nic_min32(window->cwnd, window->rwnd);
	uint32_t frame = window->payload + BCL_HEADERS_SIZE;

	most -= most / 8;
	if (window->timeouts || window->bytes + 2 * frame > most)
		return 1;
	return (most - window->bytes) / frame;
}

/* Sequence numbers that are left; long messages leave some to short ones. */
static inline uint32_t nic_window_numbers(const struct nic_window *window,
					  int bulk)
{
	const struct nic_flight *oldest =
		nic_list_first(&window->flights, struct nic_flight, link);
	uint32_t most = BCL_SACK_BITS - (bulk ? BCL_SACK_BITS / 8 : 1);
	uint32_t used = oldest ? window->next - oldest->seq : 0;

	used = nic_max32(used, window->nflights);
	return used < most ? most - used : 0;
}

/*
 * One more flight? No window takes more than it leaves for the others, and long
 * messages leave some to the short ones.
 */
static inline int nic_window_flights_left(const struct bcl_card *card,
					  const struct nic_window *window,
					  int bulk)
{
	uint32_t claim = window->nflights;

	return nic_window_numbers(window, bulk) &&
	       (bulk ? claim + claim / 4 : claim) <= card->flights.left;
}

/* One more new frame: NULL: too many sequence numbers or flights in use. */
static inline struct nic_flight *
nic_window_flight(struct bcl_card *card, struct nic_window *window, int bulk)
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

/* The frames that a part of a long message takes there. */
static inline void nic_window_frames(const struct nic_window *window,
				     struct nic_flight *flight)
{
	flight->payload = window->payload;
	flight->frames = (uint16_t)((flight->length + window->payload - 1) /
				    window->payload);
	flight->bytes = flight->length + flight->frames * BCL_HEADERS_SIZE;
}

/* It has its sequence number and was given to the rail. */
static inline void nic_window_sent(struct bcl_card *card, struct nic_conn *conn,
				   unsigned rail, struct nic_flight *flight)
{
	flight->state = NIC_FLIGHT_SENT;
	flight->sent = card->now;
	if (conn->window[rail].rto_at == NIC_NEVER)
		bcl_nic_window_start_timer(card, conn, rail);
}

/* May a frame of the peer be taken? */
static inline enum nic_seq nic_window_check(struct bcl_card *card,
					    struct nic_conn *conn,
					    unsigned rail, uint32_t seq)
{
	return seq == conn->window[rail].expected
		       ? NIC_SEQ_NEW
		       : bcl_nic_window_check_slow(card, conn, rail, seq);
}

/* So many bytes came in order, in frames that are counted already: an
 * acknowledgement may wait until there are enough. */
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
		bcl_nic_conn_work(card, conn, NIC_WORK_ACK << rail);
}

/* It was taken. */
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
