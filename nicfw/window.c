/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * One rail of a connection: congestion window, and frames in flight.
 *
 * Sender: a congestion window in bytes with slow start, additive increase and
 * multiplicative decrease, bounded by the receiver's grant (after RFC 5681).
 * The RTO follows from the smoothed round-trip time (RFC 6298). It is doubled
 * up to rto_max until a round trip is measured that no loss can have lengthened
 * (Karn and Partridge, 1987). Retransmission never gives up: liveness is by
 * time, in conn.c. The first time-out only retransmits the last frame as a
 * tail-loss probe (RFC 8985, 7): a frame that is late in a queue that has grown
 * is not lost. A frame is lost if NIC_REORDER later ones arrived. A
 * retransmitted frame is lost again if a frame sent clearly later arrived (the
 * idea of RFC 8985), and so are the frames before a tail-loss probe.
 *
 *  state    event                                  next
 *  BUILT    given to the rail                      SENT, or UNSENT if full
 *  SENT     SACK                                   SACKED
 *           later frames arrived; time-out:        LOST
 *           first the last frame, then all
 *  LOST,    chosen by SEND                         BUILT, SENT
 *  UNSENT
 *  any      ack                                    freed
 */
#include <nicfw/window.h>

#include <nicfw/card.h>
#include <nicfw/conn.h>
#include <nicfw/dma.h>
#include <nicfw/stripe.h>

static const uint32_t SAMPLE_MAX = 1u << 30; /* ns */

static uint32_t frame_bytes(const struct nic_window *window)
{
	return window->payload + BCL_HEADERS_SIZE;
}

void bcl_nic_window_start(struct bcl_card *card, struct nic_conn *conn,
			  unsigned rail)
{
	struct nic_window *window = &conn->window[rail];

	nic_list_init(&window->flights);
	window->next = (uint32_t)card->hal.random(card->host);
	window->recover = window->next;
	window->rto_at = NIC_NEVER;
	window->refused = 0;
	window->ssthresh = UINT32_MAX;
	bcl_nic_stripe_begin(window);
}

/* Remove frames from the front of a run. */
static void shorten(struct nic_flight *run, uint32_t frames)
{
	bcl_assert(frames < run->frames);
	run->seq += frames;
	run->offset += frames * run->payload;
	run->length -= frames * run->payload;
	run->bytes -= frames * (run->payload + BCL_HEADERS_SIZE);
	run->frames -= (uint16_t)frames;
}

struct nic_flight *bcl_nic_window_part(struct bcl_card *card,
				       struct nic_flight *run, uint32_t frames)
{
	struct nic_flight *rest = nic_pool_take(&card->flights);

	if (!rest)
		return NULL;
	bcl_assert(frames && frames < run->frames);
	*rest = *run;
	nic_list_init(&rest->link);
	shorten(rest, frames);
	run->length -= rest->length;
	run->bytes -= rest->bytes;
	run->frames = (uint16_t)frames;
	run->window->nflights++;
	nic_list_insert(run->link.next, &rest->link);
	return rest;
}

void bcl_nic_window_mark_lost(struct nic_flight *flight)
{
	if (flight->buffer)
		flight->buffer->flight = NULL;
	flight->buffer = NULL;
	if (flight->state == NIC_FLIGHT_BUILT ||
	    flight->state == NIC_FLIGHT_SENT) {
		bcl_assert(flight->window->bytes >= flight->bytes);
		flight->window->bytes -= flight->bytes;
	}
	flight->state = NIC_FLIGHT_LOST;
}

void bcl_nic_window_take(struct nic_flight *flight)
{
	bcl_nic_window_mark_lost(flight);
	bcl_assert(flight->window->nflights);
	flight->window->nflights--;
	nic_list_remove(&flight->link);
}

void bcl_nic_window_free(struct bcl_card *card, struct nic_flight *flight)
{
	struct nic_flight *more;

	bcl_nic_window_take(flight);
	for (; flight; flight = more) {
		more = flight->more;
		nic_pool_put(&card->flights, &flight->link);
	}
}

uint32_t bcl_nic_window_rto(const struct bcl_card *card,
			    const struct nic_window *window)
{
	uint64_t rto = (uint64_t)window->srtt + 4 * (uint64_t)window->rttvar;

	if (rto < card->config.rto_min)
		rto = card->config.rto_min;
	return nic_backoff(rto, window->rto_shift, card->config.rto_max);
}

uint32_t bcl_nic_window_run_bytes(const struct bcl_card *card, unsigned rail,
				  const struct nic_window *window,
				  uint32_t left, uint32_t stripe,
				  unsigned budget)
{
	uint32_t frames = 1;

	if (card->gather) {
		frames = (stripe + window->payload - 1) / window->payload;
		frames = bcl_min32(frames, card->rail[rail].burst);
		frames = bcl_min32(frames, budget);
		frames = bcl_min32(frames, nic_window_room(window));
		frames = bcl_min32(frames, nic_window_numbers(window, true));
		frames = bcl_max32(frames, 1);
	}
	return bcl_min32(left, frames * window->payload);
}

static inline void start_timer(struct bcl_card *card, struct nic_conn *conn,
			       struct nic_window *window)
{
	window->rto_at = card->now + bcl_nic_window_rto(card, window);
	nic_conn_due(card, conn, window->rto_at);
}

void bcl_nic_window_start_timer(struct bcl_card *card, struct nic_conn *conn,
				unsigned rail)
{
	start_timer(card, conn, &conn->window[rail]);
}

/*
 * True if the acknowledgement of the flight may be used as a round-trip sample.
 * A retransmitted frame may not (Karn's algorithm), nor one that counts as
 * lost.
 */
static inline bool tells_time(const struct nic_flight *flight)
{
	return flight->state == NIC_FLIGHT_SENT && !flight->retransmitted;
}

static inline void measure_rtt(struct bcl_card *card, struct nic_window *window,
			       uint64_t sent)
{
	uint64_t ns = card->now - sent;
	uint32_t rtt = ns > SAMPLE_MAX ? SAMPLE_MAX : (uint32_t)ns;
	uint32_t error;

	window->rto_shift = 0;
	if (rtt < card->config.ack_delay &&
	    (!window->min_rtt || rtt < window->min_rtt))
		window->min_rtt = rtt | 1;
	if (window->srtt == 0) {
		window->srtt = rtt | 1;
		window->rttvar = rtt / 2;
		return;
	}
	error = rtt > window->srtt ? rtt - window->srtt : window->srtt - rtt;
	window->rttvar += error / 4 - window->rttvar / 4;
	window->srtt += rtt / 8 - window->srtt / 8;
}

/* Open the congestion window after the acknowledgement of `bytes`. */
static void grow(struct nic_window *window, uint32_t bytes)
{
	if (window->cwnd >= window->rwnd)
		return;
	if (window->cwnd < window->ssthresh)
		window->cwnd += bytes;
	else /* units of 256 bytes keep the product in 32 bits */
		window->cwnd += (bytes >> 8) * frame_bytes(window) /
				(window->cwnd >> 8);
	window->cwnd = bcl_min32(window->cwnd, window->rwnd);
}

/* Acknowledge up to `frames` frames of a flight. Returns their bytes. */
static uint32_t retire(struct bcl_card *card, struct nic_flight *flight,
		       uint32_t frames)
{
	uint32_t bytes = flight->bytes;

	if (frames >= flight->frames) {
		bcl_nic_window_free(card, flight);
		return bytes;
	}
	shorten(flight, frames);
	bytes -= flight->bytes;
	if (flight->state == NIC_FLIGHT_SENT)
		flight->window->bytes -= bytes;
	return bytes;
}

enum nic_acked bcl_nic_window_ack(struct bcl_card *card, struct nic_conn *conn,
				  unsigned rail, uint32_t ack)
{
	struct nic_window *window = &conn->window[rail];
	struct nic_flight *flight =
		nic_list_first(&window->flights, struct nic_flight, link);
	uint32_t bytes = 0;
	uint64_t sent = 0;

	if (!flight || !bcl_before(flight->seq, ack) ||
	    bcl_before(window->next, ack))
		return NIC_ACKED_NONE;
	do {
		if (tells_time(flight))
			sent = flight->sent;
		bytes += retire(card, flight, ack - flight->seq);
		flight = nic_list_first(&window->flights, struct nic_flight,
					link);
	} while (flight && bcl_before(flight->seq, ack));
	window->timeouts = 0;
	window->tlp_sent = 0;
	window->probing = 0;
	if (sent)
		measure_rtt(card, window, sent);
	grow(window, bytes);
	if (!flight) {
		window->rto_at = NIC_NEVER;
		window->lost = 0;
		return NIC_ACKED_ALL;
	}
	start_timer(card, conn, window);
	if (conn->stripes)
		bcl_nic_stripe_acked(card, window, bytes);
	return NIC_ACKED_SOME;
}

/* Take a flight out of the bytes in flight. */
static void take_from_flight(struct nic_window *window,
			     struct nic_flight *flight,
			     enum nic_flight_state state)
{
	bcl_assert(flight->window == window);
	if (flight->state == NIC_FLIGHT_SENT)
		window->bytes -= flight->bytes;
	flight->state = (uint8_t)state;
}

static void lose_flight(struct nic_window *window, struct nic_flight *flight)
{
	take_from_flight(window, flight, NIC_FLIGHT_LOST);
	window->lost = 1;
}

/* Halve the congestion window, once per event: see `recover`. */
static void shrink(struct nic_window *window)
{
	window->ssthresh = bcl_max32(window->cwnd / 2, 2 * frame_bytes(window));
	window->cwnd = window->ssthresh;
	window->recover = window->next;
}

static bool sacked(const struct nic_sack *sack, uint32_t seq)
{
	uint32_t i = seq - sack->ack - 1;

	return i < sack->nbits && sack->bits[i / 8] >> i % 8 & 1;
}

/*
 * Split a run so that all its frames are acknowledged, or none is. Returns
 * false if a split is needed and no flight is free.
 */
static bool part_by_sack(struct bcl_card *card, struct nic_flight *flight,
			 const struct nic_sack *sack)
{
	bool first = sacked(sack, flight->seq);
	uint32_t n = 1;

	while (n < flight->frames && sacked(sack, flight->seq + n) == first)
		n++;
	return n == flight->frames || bcl_nic_window_part(card, flight, n);
}

/*
 * True if the flight is lost, given that frame `highest` arrived and that the
 * newest of the frames that arrived was sent at `latest`. If only the first
 * frames of a run are lost, the run is split.
 */
static bool overtaken(struct bcl_card *card, struct nic_flight *flight,
		      uint32_t highest, uint64_t latest)
{
	int32_t behind = (int32_t)(highest - flight->seq);
	uint32_t n;

	if (flight->retransmitted || flight->window->tlp_sent)
		return flight->sent + flight->window->srtt / 4 < latest;
	if (behind < NIC_REORDER)
		return false;
	n = (uint32_t)behind - NIC_REORDER + 1;
	return n >= flight->frames || bcl_nic_window_part(card, flight, n);
}

bool bcl_nic_window_sack(struct bcl_card *card, struct nic_window *window,
			 const struct nic_sack *sack)
{
	struct nic_flight *flight;
	struct nic_link *link;
	uint32_t highest = sack->ack;
	uint64_t latest = 0, sent = 0;
	bool arrived = false;

	for (link = window->flights.next; link != &window->flights;
	     link = link->next) {
		flight = bcl_container_of(link, struct nic_flight, link);
		if (!part_by_sack(card, flight, sack) ||
		    !sacked(sack, flight->seq))
			continue;
		highest = flight->seq + flight->frames - 1;
		if (flight->sent > latest)
			latest = flight->sent;
		if (flight->state == NIC_FLIGHT_SACKED ||
		    flight->state == NIC_FLIGHT_BUILT)
			continue;
		if (tells_time(flight))
			sent = flight->sent;
		take_from_flight(window, flight, NIC_FLIGHT_SACKED);
		arrived = true;
	}
	if (!arrived)
		return false;
	if (sent)
		measure_rtt(card, window, sent);
	for (link = window->flights.next; link != &window->flights;
	     link = link->next) {
		flight = bcl_container_of(link, struct nic_flight, link);
		if (flight->state != NIC_FLIGHT_SENT ||
		    !overtaken(card, flight, highest, latest))
			continue;
		if (!bcl_before(flight->seq, window->recover))
			shrink(window);
		lose_flight(window, flight);
	}
	window->timeouts = 0;
	window->tlp_sent = 0;
	return true;
}

/* A time-out has passed: double the next one. */
static void back_off(struct bcl_card *card, struct nic_conn *conn,
		     struct nic_window *window)
{
	if (window->rto_shift < 31)
		window->rto_shift++;
	start_timer(card, conn, window);
}

/*
 * Send the last frame once more as a tail-loss probe and change nothing else.
 * Returns false if there is no such frame, or if a probe was sent already.
 */
static bool probe_tail(struct bcl_card *card, struct nic_conn *conn,
		       struct nic_window *window)
{
	struct nic_link *link = window->flights.prev;
	struct nic_flight *flight = NULL;

	if (window->tlp_sent || window->timeouts)
		return false;
	for (; link != &window->flights; link = link->prev) {
		flight = bcl_container_of(link, struct nic_flight, link);
		if (flight->state == NIC_FLIGHT_SENT)
			break;
	}
	if (link == &window->flights)
		return false;
	if (flight->frames > 1)
		flight = bcl_nic_window_part(card, flight, flight->frames - 1u);
	if (!flight)
		return false;
	lose_flight(window, flight);
	window->tlp_sent = 1;
	back_off(card, conn, window);
	nic_conn_work(card, conn, NIC_WORK_LOST);
	return true;
}

bool bcl_nic_window_timeout(struct bcl_card *card, struct nic_conn *conn,
			    unsigned rail)
{
	struct nic_window *window = &conn->window[rail];
	struct nic_flight *flight;
	struct nic_link *link;

	nic_count(card, timeouts);
	if (probe_tail(card, conn, window))
		return false;
	if (window->timeouts == 0) {
		shrink(window);
		window->timeout_first = card->now;
	}
	window->cwnd = frame_bytes(window);
	/*
	 * The peer may have no room for the oldest frame until a later one
	 * arrives: begin every other time with a later one.
	 */
	window->probing = window->timeouts & 1;
	for (link = window->flights.next; link != &window->flights;
	     link = link->next) {
		flight = bcl_container_of(link, struct nic_flight, link);
		if (flight->state == NIC_FLIGHT_SENT)
			lose_flight(window, flight);
	}
	if (window->timeouts < 31)
		window->timeouts++;
	back_off(card, conn, window);
	nic_conn_work(card, conn, NIC_WORK_LOST | NIC_WORK_RESEND);
	return true;
}

void bcl_nic_window_stop(struct nic_window *window)
{
	bcl_assert(window->bytes == 0);
	window->rto_at = NIC_NEVER;
	window->timeouts = 0;
	window->tlp_sent = 0;
	window->rto_shift = 0;
	window->lost = 0;
	window->srtt = 0;
	window->pace = 0;
}

struct nic_flight *bcl_nic_window_missing(struct bcl_card *card,
					  struct nic_window *window,
					  const struct nic_sack *report,
					  bool *known)
{
	struct nic_flight *flight;

	while ((flight = nic_list_first(&window->flights, struct nic_flight,
					link))) {
		if (bcl_before(flight->seq, report->ack)) {
			retire(card, flight, report->ack - flight->seq);
			continue;
		}
		*known = part_by_sack(card, flight, report);
		if (!*known || !sacked(report, flight->seq))
			return flight;
		bcl_nic_window_free(card, flight);
	}
	return NULL;
}
