/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * One rail of a connection: room in the congestion window, and frames in
 * flight. The frames that arrive are in arrived.h.
 */
#ifndef NICFW_WINDOW_H
#define NICFW_WINDOW_H

#include <nicfw/card.h>

enum nic_flight_state {
	NIC_FLIGHT_BUILT, /* built, perhaps without its payload yet */
	NIC_FLIGHT_SENT,
	NIC_FLIGHT_UNSENT, /* the rail did not take it */
	NIC_FLIGHT_LOST,
	NIC_FLIGHT_SACKED,
};

/*
 * One segment of a frame in flight; the first flight of a frame stands for the
 * frame. Or a run: consecutive frames of a long message. When an event concerns
 * some frames of a run only, bcl_nic_window_part() splits the run.
 */
struct nic_flight {
	struct nic_link link;	 /* window->flights in order of seq; free */
	struct nic_flight *more; /* next segment of this frame */
	struct nic_message *message;
	struct nic_buffer *buffer; /* BUILT: the frame */
	struct nic_window *window;
	uint64_t sent; /* time */
	/* of `message` when it was built; differs if the message ended */
	uint32_t number;
	uint32_t offset, seq;
	uint32_t length;  /* payload bytes */
	uint32_t bytes;	  /* on the wire, with headers */
	uint16_t frames;  /* 1, or the frames of a run */
	uint16_t payload; /* a run: bytes of each frame but the last */
	uint8_t state;
	uint8_t retransmitted; /* sent more than once */
	uint8_t withdraw;      /* the segment is a WITHDRAW, without payload */
};

enum nic_window_state {
	NIC_RAIL_OFF,
	NIC_RAIL_CALLING, /* HELLO sent */
	NIC_RAIL_PROVED,
};

struct nic_window {
	/* Both directions. */
	uint32_t peer; /* connection id for frames to this rail of the peer */
	uint8_t state;
	uint8_t turn, peer_turn; /* number of the handshake: ours, the peer's */
	uint8_t timeouts;	 /* in a row */
	uint8_t rto_shift;	 /* RTO doublings since the last sample */
	uint8_t ack_due;
	uint8_t lost;	  /* some flights are LOST or UNSENT */
	uint8_t tlp_sent; /* a tail-loss probe was sent */
	/*
	 * RAIL_DOWN segments left to send until the peer tells which frames
	 * came by this rail before the rail died.
	 */
	uint8_t down_tries;
	uint8_t probing;
	uint8_t declined; /* HELLOs declined in favour of `answered` */
	uint16_t payload; /* payload bytes of a frame with one segment */
	uint16_t nflights;
	/* peer's connection id in the last HELLO_ACK sent; 0: none */
	uint32_t answered;
	uint64_t nonce;	 /* of the last HELLO sent; 0: none */
	uint64_t theirs; /* of the HELLO_ACK to that; 0: none */
	/*
	 * Nonce of the HELLO_ACKs sent, until a PING proves that the peer got
	 * one; 0: none.
	 */
	uint64_t answer;
	/* Sender. */
	struct nic_link flights;
	uint32_t next;	/* sequence number of the next new frame */
	uint32_t bytes; /* bytes in flight */
	uint32_t cwnd, ssthresh, rwnd; /* bytes */
	uint32_t recover;	       /* seq: losses before are one event */
	uint32_t probe; /* while `probing`: seq where retransmission begins */
	uint32_t srtt, rttvar; /* ns; 0: unknown */
	uint32_t min_rtt;      /* ns; 0: no sample without a delayed ACK */
	uint64_t rto_at;
	uint64_t timeout_first; /* time of the first of `timeouts` */
	uint64_t span_from;	/* start of the measurement of `pace` */
	uint32_t span_bytes;	/* acknowledged since span_from */
	uint32_t pace;		/* ns to deliver 1 KB, smoothed; 0: unknown */
	/* Receiver. */
	uint64_t heard;
	/*
	 * Time when ack_due was set. conn.c delays `done` by the same measure.
	 */
	uint64_t owed;
	uint32_t expected; /* the peer's seq: all before have arrived */
	uint32_t highest;  /* 1 + highest seq that arrived */
	uint32_t unacked;  /* bytes since the last ACK */
	uint32_t refused;  /* nic_coarse() time; 0: not refused */
};

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

#endif
