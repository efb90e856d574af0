/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Connections: one with each incarnation of a node that this card talks to.
 *
 *  state     event                              next
 *  (none)    wanted by a node                   CALLING: HELLO sent
 *            HELLO                              ANSWERED: HELLO_ACK sent
 *  CALLING   HELLO                              ANSWERED
 *            HELLO_ACK for our incarnation      UP
 *            REFUSE, no answer in peer_timeout  lost
 *  ANSWERED  PING with a valid proof            UP
 *            HELLO_ACK                          UP
 *            neither of them for some time      forgotten, or CALLING; lost
 *                                               if the node is CONNECTING
 *  UP        idle, memory is needed             PARKING: PARK sent
 *            PARK                               PARKED, or over if idle
 *            silence                            lost
 *            RESET, BYE, evidence               ENDING
 *  PARKING   BYE, RESET, PARK, silence          over
 *  PARKED    PARK while idle                    over: BYE sent
 *            silence                            lost
 *            RESET, BYE, evidence               ENDING
 *  ENDING    BYE has come by each rail, or      over if BYE came and the peer
 *            END_WAIT has passed                owes no answer; else lost
 *
 * When another incarnation sends HELLO while the connection is UP, a candidate
 * is made. A PING that proves the candidate makes it the node's connection. So
 * a recorded HELLO does no harm.
 *
 * A connection id is random | index in card->conns | rail (2 bits). Its seal is
 * drawn at the same time.
 */
#include <nicfw/conn.h>

#include <nicfw/arena.h>
#include <nicfw/assemble.h>
#include <nicfw/card.h>
#include <nicfw/deadline.h>
#include <nicfw/flow.h>
#include <nicfw/frame.h>
#include <nicfw/hello.h>
#include <nicfw/launch.h>
#include <nicfw/message.h>
#include <nicfw/node.h>
#include <nicfw/rails.h>
#include <nicfw/window.h>

enum {
	END_WAIT = 10, /* times rto_min: until the rails count as empty */
	ASK_AFTER = 500000000, /* ns */
	ASK_EACH = 10000000,   /* ns */
};

/* Draw a new id and seal. Nonces of exchanges with the old id become void. */
void bcl_nic_conn_rename(struct bcl_card *card, struct nic_conn *conn)
{
	uint32_t before = conn->id, random;
	unsigned rail;

	do {
		random = (uint32_t)(card->hal.random(card->host) >> 32);
		conn->id = random << card->conn_shift | conn->index << 2;
	} while (conn->id == 0 || conn->id == before);
	conn->seal = (uint32_t)(card->hal.random(card->host) >> 32);
	for (rail = 0; rail < BCL_RAILS_MAX; rail++) {
		conn->window[rail].nonce = 0;
		conn->window[rail].theirs = 0;
		conn->window[rail].answer = 0;
	}
}

static struct nic_conn *make_conn(struct bcl_card *card)
{
	uint32_t index = card->free_conn;
	struct nic_conn *conn;

	while (index <= card->conn_mask && card->conns[index])
		index++;
	if (index > card->conn_mask || card->nheap > card->conn_mask)
		return NULL;
	conn = bcl_nic_arena_take(card, sizeof(*conn));
	if (!conn)
		return NULL;
	card->free_conn = index + 1;
	if (card->conns_end <= index)
		card->conns_end = index + 1;
	card->conns[index] = conn;
	conn->index = index;
	return conn;
}

struct nic_conn *bcl_nic_conn_make(struct bcl_card *card, struct nic_node *node)
{
	struct nic_conn *conn = make_conn(card);
	unsigned rail;

	if (!conn) {
		nic_count(card, dropped_arena);
		bcl_nic_conn_evict(card);
		return NULL;
	}
	nic_list_init(&conn->work);
	nic_list_init(&conn->drain);
	nic_list_init(&conn->numbered);
	nic_list_init(&conn->awaiting);
	nic_list_init(&conn->resend);
	nic_list_init(&conn->parts);
	nic_list_init(&conn->inbounds);
	nic_list_init(&conn->stalled);
	bcl_nic_conn_rename(card, conn);
	nic_list_remove(&node->past);
	conn->node = node;
	conn->first = (uint32_t)card->hal.random(card->host);
	if (conn->first == 0)
		conn->first = 1;
	conn->next = conn->first;
	conn->told = 1;
	conn->small_rail = BCL_RAILS_MAX;
	conn->bulk_rail = BCL_RAILS_MAX;
	conn->heard = card->now;
	conn->expires = card->now + card->config.peer_timeout;
	conn->ack_at = NIC_NEVER;
	conn->ping_at = NIC_NEVER;
	conn->retry_at = NIC_NEVER;
	conn->hello_at = NIC_NEVER;
	conn->look_at = NIC_NEVER;
	conn->hello_wait = (uint32_t)card->config.rto_min;
	for (rail = 0; rail < BCL_RAILS_MAX; rail++)
		bcl_nic_window_start(card, conn, rail);
	conn->due = conn->expires;
	bcl_nic_deadline_add(card, conn);
	return conn;
}

void bcl_nic_conn_free(struct bcl_card *card, struct nic_conn *conn)
{
	struct nic_node *node = conn->node;
	struct nic_flight *flight;
	struct nic_window *window;
	unsigned rail;
	uint32_t i;

	bcl_assert(nic_list_empty(&conn->numbered) &&
		   nic_list_empty(&conn->awaiting) &&
		   nic_list_empty(&conn->resend) &&
		   nic_list_empty(&conn->inbounds));
	if (node->conn == conn)
		node->conn = node->candidate;
	node->candidate = NULL;
	for (rail = 0; rail < BCL_RAILS_MAX; rail++) {
		window = &conn->window[rail];
		i = 0;
		while ((flight = bcl_nic_launch_next_new(card, conn, rail, &i)))
			bcl_nic_window_free(card, flight);
		while ((flight = nic_list_first(&window->flights,
						struct nic_flight, link)))
			bcl_nic_window_free(card, flight);
		bcl_assert(window->nflights == 0 && window->bytes == 0);
	}
	while ((flight = nic_list_first(&conn->parts, struct nic_flight, link)))
		nic_window_discard(card, flight);
	bcl_nic_flow_wake_list(card, &conn->stalled);
	nic_list_remove(&conn->work);
	nic_list_remove(&conn->drain);
	if (card->answered.conn == conn)
		card->answered.conn = NULL;
	bcl_nic_deadline_remove(card, conn);
	if (conn->arrived)
		bcl_nic_arena_put(card, conn->arrived);
	bcl_assert(card->conns[conn->index] == conn);
	card->conns[conn->index] = NULL;
	if (conn->index < card->free_conn)
		card->free_conn = conn->index;
	bcl_nic_arena_put(card, conn);
	bcl_nic_node_rest(card, node);
	if (!nic_list_empty(&card->wanting))
		card->wanting_at = card->now;
}

void bcl_nic_conn_up(struct bcl_card *card, struct nic_conn *conn)
{
	struct nic_node *node = conn->node;

	bcl_assert(node->conn == conn && conn->state < NIC_CONN_UP);
	node->stays = 1;
	conn->state = NIC_CONN_UP;
	conn->expires = NIC_NEVER;
	conn->why = BCL_OK;
	conn->hello_wait = (uint32_t)card->config.rto_min;
	nic_count(card, connected);
	if (node->state != BCL_NODE_LOST)
		bcl_nic_node_set(card, node, BCL_NODE_UP, BCL_OK);
	bcl_nic_conn_await(card, conn);
	bcl_nic_flow_wake_node(card, node);
}

void bcl_nic_conn_over(struct bcl_card *card, struct nic_conn *conn)
{
	struct nic_node *node = conn->node;

	bcl_assert(node->conn == conn && conn->state >= NIC_CONN_UP);
	/* The peer may have begun a message before PARK reached it. */
	bcl_nic_assemble_lose(card, conn, BCL_ERR_DEAD);
	bcl_nic_message_drop_replies(card, conn);
	bcl_nic_flow_rewind(card, node);
	bcl_nic_conn_free(card, conn);
	if (node->state == BCL_NODE_LOST)
		return;
	bcl_nic_node_set(card, node, BCL_NODE_CLOSED, BCL_OK);
	if (node->messages)
		nic_node_want(card, node);
}

/* Requests that are not finished, but that the peer may have seen. */
bool bcl_nic_conn_owed(const struct nic_conn *conn)
{
	const struct nic_link *link;

	if (!nic_list_empty(&conn->awaiting))
		return true;
	for (link = conn->numbered.next; link != &conn->numbered;
	     link = link->next)
		if (bcl_container_of(link, struct nic_message, numbered)->gate)
			return true;
	return false;
}

/* True if neither side has a message or frame in progress. */
static bool idle(const struct nic_conn *conn)
{
	unsigned rail;

	if (conn->state < NIC_CONN_UP || conn->state == NIC_CONN_ENDING ||
	    !nic_list_empty(&conn->numbered) ||
	    !nic_list_empty(&conn->awaiting) ||
	    !nic_list_empty(&conn->inbounds))
		return false;
	for (rail = 0; rail < BCL_RAILS_MAX; rail++)
		if (conn->window[rail].nflights)
			return false;
	return true;
}

static unsigned any_rail(const struct nic_conn *conn)
{
	return conn->small_rail < BCL_RAILS_MAX ? conn->small_rail : 0;
}

static void ended(struct bcl_card *card, struct nic_conn *conn)
{
	enum bcl_status why = (enum bcl_status)conn->why;

	bcl_assert(conn->state == NIC_CONN_ENDING);
	if (why == BCL_OK && bcl_nic_conn_owed(conn))
		why = BCL_ERR_DEAD;
	if (why) {
		bcl_nic_node_lose(card, conn->node, BCL_NODE_LOST, why);
		return;
	}
	bcl_nic_conn_over(card, conn);
}

void bcl_nic_conn_end(struct bcl_card *card, struct nic_conn *conn,
		      enum bcl_status why)
{
	if (conn->state == NIC_CONN_PARKING) {
		nic_count(card, evicted);
		bcl_nic_conn_over(card, conn);
	} else if (conn->node->conn != conn) {
		bcl_nic_conn_free(card, conn);
	} else if (conn->state < NIC_CONN_UP) {
		bcl_nic_node_lose(card, conn->node, BCL_NODE_LOST, why);
	} else if (conn->state != NIC_CONN_ENDING) {
		conn->state = NIC_CONN_ENDING;
		conn->why = (uint8_t)why;
		conn->expires = card->now + END_WAIT * card->config.rto_min;
		nic_deadline(card, conn, conn->expires);
	}
}

void bcl_nic_conn_bye(struct bcl_card *card, struct nic_conn *conn,
		      unsigned rail)
{
	unsigned left = 0;

	if (conn->state == NIC_CONN_PARKING || conn->node->conn != conn) {
		bcl_nic_conn_end(card, conn, BCL_OK);
		return;
	}
	bcl_nic_conn_end(card, conn, BCL_OK);
	bcl_assert(conn->state == NIC_CONN_ENDING);
	conn->node->stays = 0;
	conn->why = BCL_OK; /* a BYE outranks the reason known before */
	conn->window[rail].state = NIC_RAIL_OFF;
	for (rail = 0; rail < BCL_RAILS_MAX; rail++)
		left += conn->window[rail].state == NIC_RAIL_PROVED;
	if (!left)
		ended(card, conn);
}

void bcl_nic_conn_park(struct bcl_card *card, struct nic_conn *conn,
		       unsigned rail)
{
	if (conn->state == NIC_CONN_UP)
		conn->state = NIC_CONN_PARKED;
	if (!idle(conn))
		return;
	bcl_nic_frame_bare(card, conn, rail, BCL_FRAME_BYE);
	bcl_nic_conn_over(card, conn);
}

void bcl_nic_conn_evict(struct bcl_card *card)
{
	struct nic_conn *conn, *oldest = NULL;
	uint32_t i = 0;

	while ((conn = nic_conn_next(card, &i))) {
		if (conn->state == NIC_CONN_PARKING)
			return;
		if (conn->state == NIC_CONN_UP && idle(conn) &&
		    conn->node->conn == conn &&
		    (!oldest || conn->used < oldest->used))
			oldest = conn;
	}
	if (!oldest)
		return;
	oldest->state = NIC_CONN_PARKING;
	oldest->hello_at = card->now;
	oldest->hello_wait = (uint32_t)card->config.rto_min;
	nic_deadline(card, oldest, card->now);
}

void bcl_nic_conn_ack(struct bcl_card *card, struct nic_conn *conn,
		      unsigned rail)
{
	if (conn->window[rail].state != NIC_RAIL_PROVED ||
	    conn->state == NIC_CONN_ENDING ||
	    bcl_nic_frame_ack(card, conn, rail, BCL_FRAME_ACK))
		return;
	conn->window[rail].ack_due = 1;
	conn->overdue |= (uint8_t)(1u << rail);
	conn->told = 0;
	nic_conn_ack_soon(card, conn);
}

void bcl_nic_conn_resume(struct bcl_card *card, struct nic_conn *conn)
{
	unsigned rail;

	for (rail = 0; rail < BCL_RAILS_MAX; rail++)
		if (conn->window[rail].lost)
			nic_conn_work(card, conn, NIC_WORK_LOST);
	if (!nic_list_empty(&conn->resend) || !nic_list_empty(&conn->parts))
		nic_conn_work(card, conn, NIC_WORK_RESEND);
	bcl_nic_flow_wake_list(card, &conn->stalled);
}

void bcl_nic_conn_await(struct bcl_card *card, struct nic_conn *conn)
{
	if (nic_list_empty(&conn->numbered) && conn->confirmed &&
	    conn->ping_at != NIC_NEVER)
		return;
	conn->ping_wait =
		bcl_nic_window_rto(card, &conn->window[any_rail(conn)]);
	if (conn->ping_at > card->now + conn->ping_wait)
		conn->ping_at = card->now + conn->ping_wait;
	nic_deadline(card, conn, conn->ping_at);
}

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
		bcl_nic_conn_ack(card, conn, any_rail(conn));
	else if (conn->done_due)
		ack_late(card, conn, any_rail(conn));
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
		ping(card, conn, any_rail(conn));
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
		ended(card, conn);
	else if (conn->state == NIC_CONN_PARKING)
		bcl_nic_conn_over(card, conn);
	else if (conn->state >= NIC_CONN_UP)
		bcl_nic_node_lose(card, node, BCL_NODE_LOST, BCL_ERR_DEAD);
	else if (node->state == BCL_NODE_CONNECTING)
		bcl_nic_node_lose(card, node, BCL_NODE_LOST,
				  conn->why ? (enum bcl_status)conn->why
					    : BCL_ERR_UNREACHABLE);
	else {
		bcl_nic_conn_free(card, conn);
		if (node->messages)
			nic_node_want(card, node);
	}
	return false;
}

static void call_again(struct bcl_card *card, struct nic_conn *conn)
{
	if (conn->state != NIC_CONN_PARKING) {
		bcl_nic_hello_call(card, conn);
		return;
	}
	bcl_nic_frame_bare(card, conn, any_rail(conn), BCL_FRAME_PARK);
	conn->hello_at = card->now + conn->hello_wait;
	conn->hello_wait =
		nic_backoff(conn->hello_wait, 1, card->config.rto_max);
}

void bcl_nic_conn_timer(struct bcl_card *card, struct nic_conn *conn)
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
