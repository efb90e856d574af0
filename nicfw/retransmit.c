/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Retransmission: of lost frames, of withdrawals, and of messages and parts of
 * messages whose rail died.
 */
#include <nicfw/retransmit.h>

#include <nicfw/build.h>
#include <nicfw/conn.h>
#include <nicfw/message.h>
#include <nicfw/rails.h>
#include <nicfw/stripe.h>
#include <nicfw/window.h>

static void withdraw_segment(const struct nic_message *message, uint8_t *at)
{
	struct bcl_segment_header segment = {
		.op = BCL_SEG_WITHDRAW,
		.msg = bcl_put32(message->number),
	};

	memcpy(at, &segment, sizeof(segment));
}

static void rebuild(struct bcl_card *card, struct nic_build *build)
{
	struct nic_flight *part;
	uint8_t *at;

	for (part = build->flight; part; part = part->more) {
		if (!nic_message_alive(build->conn, part))
			continue;
		/* The memory of a withdrawn message may be gone. */
		if (!part->withdraw &&
		    part->message->state == NIC_MESSAGE_WITHDRAWN)
			continue;
		if (!nic_build_room(card, build, part->length)) {
			/* The rail's frames have become shorter. */
			bcl_nic_message_withdraw(card, build->conn,
						 part->message);
			continue;
		}
		at = nic_build_append(build);
		if (part->withdraw)
			withdraw_segment(part->message, at);
		else
			nic_build_fill(card, build, part->message, part->offset,
				       part->length, at);
	}
}

static void note(struct bcl_card *card, struct nic_conn *conn,
		 struct nic_flight *flight)
{
	if (flight->state != NIC_FLIGHT_LOST)
		return;
	flight->retransmitted = 1;
	if (flight->window->probing)
		flight->window->probe = flight->seq + flight->frames;
	card->counters[BCL_CARD_retransmitted] += flight->frames;
	conn->retransmitted += flight->frames;
}

/*
 * The payload of these frames is not wanted any more, but the peer still waits
 * for their sequence numbers: send them without payload.
 */
static void drop_payload(struct nic_flight *run)
{
	run->length = 0;
	run->payload = 0;
	run->bytes = run->frames * BCL_HEADERS_SIZE;
}

/*
 * The message of a run whose payload is to be sent; NULL: send no payload. If
 * the frame size of the rail has changed since, the message is withdrawn.
 */
static struct nic_message *message_of(struct bcl_card *card,
				      struct nic_conn *conn,
				      const struct nic_flight *run)
{
	if (!nic_message_alive(conn, run) ||
	    run->message->state == NIC_MESSAGE_WITHDRAWN)
		return NULL;
	if (run->payload == run->window->payload)
		return run->message;
	bcl_nic_message_withdraw(card, conn, run->message);
	return NULL;
}

/*
 * Retransmit as many frames of a run as the window allows. Returns false if
 * none can be sent now.
 */
static bool resend_run(struct bcl_card *card, struct nic_conn *conn,
		       unsigned rail, struct nic_flight *run, unsigned *budget)
{
	struct nic_window *window = &conn->window[rail];
	struct nic_message *message = message_of(card, conn, run);
	struct nic_build build;
	uint32_t frames;

	if (!message)
		drop_payload(run);
	if (!nic_window_open(window, run->payload + BCL_HEADERS_SIZE))
		return false;
	if (*budget == 0) {
		nic_conn_work(card, conn, NIC_WORK_LOST);
		return false;
	}
	frames = bcl_min32(*budget, nic_window_room(window));
	/*
	 * If the run cannot be split for lack of a flight, all of it is sent,
	 * provided that nothing is in flight whose acknowledgement would free a
	 * flight.
	 */
	if (frames < run->frames && !bcl_nic_window_part(card, run, frames) &&
	    window->bytes)
		return false;
	if (!nic_build_begin(card, conn, rail, run, false, &build))
		return false;
	note(card, conn, run);
	*budget -= bcl_min32(*budget, run->frames);
	if (message && !nic_build_run(card, &build, message))
		drop_payload(run);
	nic_build_finish(card, &build);
	return true;
}

/* Returns false if nothing more can be sent now. */
static bool resend(struct bcl_card *card, struct nic_conn *conn, unsigned rail,
		   struct nic_flight *flight, unsigned *budget)
{
	struct nic_window *window = &conn->window[rail];
	struct nic_build build;

	if (nic_rails_blocked(card, conn, rail))
		return false;
	if (flight->frames > 1)
		return resend_run(card, conn, rail, flight, budget);
	if (!nic_window_open(window, flight->bytes))
		return false;
	if (*budget == 0 ||
	    !nic_build_begin(card, conn, rail, flight, false, &build)) {
		nic_conn_work(card, conn, NIC_WORK_LOST);
		return false;
	}
	note(card, conn, flight);
	rebuild(card, &build);
	nic_build_finish(card, &build);
	--*budget;
	return true;
}

void bcl_nic_retransmit_lost(struct bcl_card *card, struct nic_conn *conn,
			     unsigned rail, unsigned *budget)
{
	struct nic_window *window = &conn->window[rail];
	struct nic_flight *flight;
	struct nic_link *link;
	unsigned pass;

	window->lost = 0; /* set anew if the rail is full */
	for (pass = 0; pass < 2; pass++) {
		for (link = window->flights.next; link != &window->flights;
		     link = link->next) {
			flight =
				bcl_container_of(link, struct nic_flight, link);
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

/*
 * Add a message of conn->resend to the frame. Returns false if the message does
 * not fit.
 */
static bool add_message(struct bcl_card *card, struct nic_build *build,
			struct nic_message *message)
{
	bool withdraw = message->state == NIC_MESSAGE_WITHDRAWN;
	uint32_t length = withdraw ? 0 : nic_message_bytes(message);
	uint8_t *at;

	if (length > nic_build_window(build)->payload) {
		bcl_nic_message_withdraw(card, build->conn, message);
		return true;
	}
	if (build->buffer && (card->jobs.left < 8 ||
			      (build->refs && message->nref && !withdraw)))
		return false;
	if (!nic_build_room(card, build, length))
		return false;
	at = nic_build_append(build);
	nic_build_note(card, build, message, length, withdraw);
	nic_list_remove(&message->link);
	if (withdraw)
		withdraw_segment(message, at);
	else
		nic_build_fill(card, build, message, 0, length, at);
	return true;
}

void bcl_nic_retransmit_messages(struct bcl_card *card, struct nic_conn *conn,
				 unsigned *budget)
{
	unsigned rail = conn->small_rail;
	struct nic_message *message;
	struct nic_build build;

	while (!nic_list_empty(&conn->resend) &&
	       !nic_rails_blocked(card, conn, rail) &&
	       nic_window_open(&conn->window[rail],
			       conn->window[rail].payload)) {
		if (*budget == 0 ||
		    !nic_build_begin(card, conn, rail, NULL, false, &build)) {
			nic_conn_work(card, conn, NIC_WORK_RESEND);
			return;
		}
		while ((message = nic_list_first(&conn->resend,
						 struct nic_message, link)) &&
		       add_message(card, &build, message))
			;
		nic_build_finish(card, &build);
		--*budget;
	}
}

void bcl_nic_retransmit_reroute(struct bcl_card *card, struct nic_conn *conn,
				struct nic_flight *flight)
{
	if (!nic_message_part(conn, flight)) {
		bcl_nic_message_reroute(card, conn, flight);
		bcl_nic_window_free(card, flight);
		return;
	}
	bcl_nic_window_take(flight);
	nic_list_append(&conn->parts, &flight->link);
	nic_conn_work(card, conn, NIC_WORK_RESEND);
}

/* The rail for the next bytes of a part; BCL_RAILS_MAX: none now. */
static unsigned rail_of(const struct bcl_card *card,
			const struct nic_conn *conn,
			const struct nic_flight *part, uint32_t *stripe)
{
	*stripe = part->length;
	if (!conn->stripes)
		return conn->bulk_rail;
	*stripe = bcl_nic_stripe_length(conn, part->length);
	return bcl_nic_stripe_pick(card, conn, *stripe, part->length);
}

/*
 * Shorten a part to `bytes`; the rest becomes a part of its own. Returns false
 * if no flight is free.
 */
static bool shorten_part(struct bcl_card *card, struct nic_flight *part,
			 uint32_t bytes)
{
	struct nic_flight *rest;

	if (bytes == part->length)
		return true;
	rest = nic_pool_take(&card->flights);
	if (!rest)
		return false;
	*rest = *part;
	nic_list_init(&rest->link);
	rest->offset += bytes;
	rest->length -= bytes;
	part->length = bytes;
	nic_list_insert(part->link.next, &rest->link);
	return true;
}

/* Move a part from conn->parts to the window, and send it. */
static void launch_part(struct bcl_card *card, struct nic_build *build)
{
	struct nic_window *window = nic_build_window(build);
	struct nic_flight *part = build->flight;

	nic_list_remove(&part->link);
	part->window = window;
	part->retransmitted = 0;
	window->nflights++;
	nic_window_frames(window, part);
	if (!nic_build_run(card, build, part->message)) {
		nic_build_cancel(card, build);
		return;
	}
	card->counters[BCL_CARD_rerouted] += part->frames;
	bcl_nic_stripe_begin(window);
	nic_build_finish(card, build);
}

/*
 * Send the first bytes of a part. Returns false if nothing more can be sent
 * now.
 */
static bool send_part(struct bcl_card *card, struct nic_conn *conn,
		      struct nic_flight *part, unsigned *budget)
{
	struct nic_window *window;
	struct nic_build build;
	uint32_t stripe;
	unsigned rail = rail_of(card, conn, part, &stripe);

	if (nic_rails_blocked(card, conn, rail))
		return false;
	window = &conn->window[rail];
	if (!nic_window_open_part(card, rail, window, stripe) ||
	    !nic_window_flights_left(card, window, true))
		return false;
	if (!shorten_part(card, part,
			  bcl_nic_window_run_bytes(card, rail, window,
						   part->length, stripe,
						   *budget))) {
		bcl_nic_message_withdraw(card, conn, part->message);
		return true;
	}
	if (*budget == 0 ||
	    !nic_build_begin(card, conn, rail, part, true, &build)) {
		nic_conn_work(card, conn, NIC_WORK_RESEND);
		return false;
	}
	*budget -= bcl_min32(*budget, part->frames);
	launch_part(card, &build);
	return true;
}

void bcl_nic_retransmit_parts(struct bcl_card *card, struct nic_conn *conn,
			      unsigned *budget)
{
	struct nic_flight *part;
	bool more = true;

	while (more &&
	       (part = nic_list_first(&conn->parts, struct nic_flight, link))) {
		if (nic_message_part(conn, part))
			more = send_part(card, conn, part, budget);
		else
			nic_window_discard(card, part);
	}
}
