/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The timers of a connection: delayed acknowledgements, PING on silent rails,
 * retransmission, retries, and the end of a connection whose peer is silent for
 * too long. A heap (deadline.c) has the connections by the earliest of their
 * timers.
 */
#include <nicfw/timer.h>

#include <nicfw/assemble.h>
#include <nicfw/card.h>
#include <nicfw/conn.h>
#include <nicfw/contact.h>
#include <nicfw/deadline.h>
#include <nicfw/flow.h>
#include <nicfw/frame.h>
#include <nicfw/hello.h>
#include <nicfw/message.h>
#include <nicfw/rails.h>
#include <nicfw/window.h>

enum {
	ASK_AFTER = 500000000, /* ns */
	ASK_EACH = 10000000,   /* ns */
};

/*
 * An acknowledgement is due: send it, unless it may still wait for a frame to
 * travel in.
 */
static void ack_late(struct bcl_card *card, struct nic_conn *conn,
		     unsigned rail)
{
	uint64_t at = conn->window[rail].owed + card->config.ack_delay;

	if (card->now >= at || conn->overdue >> rail & 1)
		bcl_nic_conn_ack(card, conn, rail);
	else if (at < conn->ack_at)
		conn->ack_at = at;
}

static void acks(struct bcl_card *card, struct nic_conn *conn)
{
	unsigned rail;

	conn->ack_at = NIC_NEVER;
	for (rail = 0; rail < BCL_RAILS_MAX; rail++)
		if (conn->window[rail].ack_due)
			ack_late(card, conn, rail);
	if (!conn->told)
		bcl_nic_conn_ack(card, conn, nic_conn_any_rail(conn));
	else if (conn->done_due)
		ack_late(card, conn, nic_conn_any_rail(conn));
}

static void ping(struct bcl_card *card, struct nic_conn *conn, unsigned rail)
{
	if (conn->window[rail].state != NIC_RAIL_PROVED)
		return;
	bcl_nic_hello_ping(card, conn, rail);
}

/*
 * The rail is silent: send PING. If PING goes unanswered, too, send HELLO,
 * which finds the peer if its address has changed.
 */
static void probe(struct bcl_card *card, struct nic_conn *conn, unsigned rail,
		  uint64_t silence)
{
	if (conn->window[rail].heard + 2 * silence <= card->now)
		bcl_nic_hello_say(card, conn, rail);
	else
		ping(card, conn, rail);
}

/*
 * The peer has acknowledged all frames of the oldest message and answers PING,
 * but gives no verdict for NIC_PATIENCE times peer_timeout. Then it does not
 * have the message: forged frames with the same numbers came in place of ours.
 * Send the message once more; if the peer is only slow, that does no harm.
 */
static void resend_oldest(struct bcl_card *card, struct nic_conn *conn)
{
	struct nic_message *oldest =
		nic_list_first(&conn->numbered, struct nic_message, numbered);

	if (!oldest || oldest->state == NIC_MESSAGE_SENDING ||
	    conn->heard + conn->ping_wait < card->now)
		return;
	if (oldest->number != conn->waiting)
		conn->waiting_since = card->now;
	conn->waiting = oldest->number;
	if (card->now - conn->waiting_since <
	    NIC_PATIENCE * card->config.peer_timeout)
		return;
	conn->waiting_since = card->now;
	bcl_nic_message_retransmit(card, conn, oldest);
}

/*
 * Silence of a rail, in ns, after which PING asks whether the peer is there. It
 * is short, because a side that only receives detects the end of its peer in no
 * other way. It grows with the number of connections: all of them together send
 * at most one PING in ASK_EACH, up to a quarter of peer_timeout.
 */
static uint64_t silence_of(const struct bcl_card *card)
{
	uint64_t silence = (uint64_t)card->nheap * ASK_EACH;

	if (silence < ASK_AFTER)
		silence = ASK_AFTER;
	if (silence > card->config.peer_timeout / 4)
		silence = card->config.peer_timeout / 4;
	return silence;
}

/* Send PING if verdicts are missing, and on silent rails. */
static void pings(struct bcl_card *card, struct nic_conn *conn)
{
	uint64_t silence = silence_of(card);
	uint64_t next = card->now + silence;
	unsigned rail, busy = 0;

	for (rail = 0; rail < BCL_RAILS_MAX; rail++)
		busy |= conn->window[rail].nflights;
	if (!busy && (!conn->confirmed || !nic_list_empty(&conn->numbered))) {
		ping(card, conn, nic_conn_any_rail(conn));
		resend_oldest(card, conn);
		conn->ping_wait =
			nic_backoff(conn->ping_wait, 1, card->config.rto_max);
		conn->ping_at = card->now + conn->ping_wait;
		return;
	}
	for (rail = 0; rail < BCL_RAILS_MAX; rail++) {
		if (conn->window[rail].state != NIC_RAIL_PROVED)
			continue;
		if (conn->window[rail].heard + silence <= card->now) {
			probe(card, conn, rail, silence);
			next = card->now + silence / 4;
		} else if (conn->window[rail].heard + silence < next) {
			next = conn->window[rail].heard + silence;
		}
	}
	conn->ping_at = next;
}

/*
 * True if the peer was heard after `since` on a proved rail other than `but`.
 */
static bool heard_since(const struct nic_conn *conn, unsigned but,
			uint64_t since)
{
	unsigned rail;

	for (rail = 0; rail < BCL_RAILS_MAX; rail++)
		if (rail != but && conn->window[rail].heard > since &&
		    conn->window[rail].state == NIC_RAIL_PROVED)
			return true;
	return false;
}

/*
 * Handle a time-out of a rail. The rail is given up if another one still hears
 * the peer.
 */
static void check_rail(struct bcl_card *card, struct nic_conn *conn,
		       unsigned rail)
{
	struct nic_window *window = &conn->window[rail];
	unsigned other;

	if (window->state != NIC_RAIL_PROVED)
		return;
	if (card->now >= window->rto_at) {
		if (bcl_nic_window_timeout(card, conn, rail) && conn->stripes)
			/* no stripe waits for this rail any more */
			bcl_nic_conn_resume(card, conn);
		for (other = 0; other < BCL_RAILS_MAX && window->timeouts > 1;
		     other++)
			if (other != rail)
				ping(card, conn, other);
		/*
		 * At first PING: the peer may not know this connection yet, or
		 * not any more. After more time-outs HELLO, which finds the
		 * peer if its address has changed.
		 */
		if (window->timeouts >= NIC_RAIL_TIMEOUTS)
			bcl_nic_hello_say(card, conn, rail);
		else
			ping(card, conn, rail);
	}
	if ((window->timeouts >= NIC_RAIL_TIMEOUTS &&
	     heard_since(conn, rail, window->timeout_first)) ||
	    (card->now >= window->heard + card->config.peer_timeout &&
	     heard_since(conn, rail,
			 window->heard + card->config.peer_timeout / 2)))
		bcl_nic_rails_down(card, conn, rail);
}

/* Time at which the peer has been silent for too long. */
static uint64_t silent_at(const struct bcl_card *card,
			  const struct nic_conn *conn)
{
	uint64_t since =
		conn->heard > card->back_at ? conn->heard : card->back_at;

	return since + card->config.peer_timeout;
}

static uint64_t next_deadline(const struct bcl_card *card,
			      const struct nic_conn *conn)
{
	uint64_t due = conn->expires;
	unsigned rail;

	if (conn->hello_at < due)
		due = conn->hello_at;
	if (conn->ack_at < due)
		due = conn->ack_at;
	if (conn->state < NIC_CONN_UP)
		return due;
	if (silent_at(card, conn) < due)
		due = silent_at(card, conn);
	if (conn->ping_at < due)
		due = conn->ping_at;
	if (conn->retry_at < due)
		due = conn->retry_at;
	if (conn->look_at < due)
		due = conn->look_at;
	for (rail = 0; rail < BCL_RAILS_MAX; rail++)
		if (conn->window[rail].state == NIC_RAIL_PROVED &&
		    conn->window[rail].rto_at < due)
			due = conn->window[rail].rto_at;
	return due;
}

/* Returns false if the connection is gone. */
static bool expire(struct bcl_card *card, struct nic_conn *conn)
{
	struct nic_node *node = conn->node;

	if (conn->state == NIC_CONN_ENDING || conn->state < NIC_CONN_UP
		    ? card->now < conn->expires
		    : card->now < silent_at(card, conn))
		return true;
	if (node->conn != conn)
		bcl_nic_conn_free(card, conn);
	else if (conn->state == NIC_CONN_ENDING)
		bcl_nic_contact_ended(card, conn);
	else if (conn->state == NIC_CONN_PARKING)
		bcl_nic_contact_over(card, conn);
	else if (conn->state >= NIC_CONN_UP)
		bcl_nic_contact_lose(card, node, BCL_NODE_LOST, BCL_ERR_DEAD);
	else if (node->state == BCL_NODE_CONNECTING)
		bcl_nic_contact_lose(card, node, BCL_NODE_LOST,
				     conn->why ? (enum bcl_status)conn->why
					       : BCL_ERR_UNREACHABLE);
	else {
		bcl_nic_conn_free(card, conn);
		if (node->messages)
			nic_contact_want(card, node);
	}
	return false;
}

static void call_again(struct bcl_card *card, struct nic_conn *conn)
{
	if (conn->state != NIC_CONN_PARKING) {
		bcl_nic_hello_call(card, conn);
		return;
	}
	bcl_nic_frame_bare(card, conn, nic_conn_any_rail(conn), BCL_FRAME_PARK);
	conn->hello_at = card->now + conn->hello_wait;
	conn->hello_wait =
		nic_backoff(conn->hello_wait, 1, card->config.rto_max);
}

void bcl_nic_timer(struct bcl_card *card, struct nic_conn *conn)
{
	unsigned rail;

	if (!expire(card, conn))
		return;
	if (conn->state == NIC_CONN_ENDING) {
		conn->due = conn->expires;
		bcl_nic_deadline_move(card, conn);
		return;
	}
	if (card->now >= conn->hello_at)
		call_again(card, conn);
	if (card->now >= conn->ack_at)
		acks(card, conn);
	if (conn->state >= NIC_CONN_UP) {
		for (rail = 0; rail < BCL_RAILS_MAX; rail++)
			check_rail(card, conn, rail);
		if (card->now >= conn->ping_at)
			pings(card, conn);
		if (card->now >= conn->retry_at)
			bcl_nic_flow_retry(card, conn);
		if (card->now >= conn->look_at)
			bcl_nic_assemble_look(card, conn);
	}
	conn->due = next_deadline(card, conn);
	bcl_nic_deadline_move(card, conn);
}
