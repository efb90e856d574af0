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
 * A connection id is turn | index in card->conns | rail (2 bits). The turns of
 * a card begin at random and go on by a random odd step, so that an id comes
 * again only after all others with its index. The seal is drawn at the same
 * time.
 */
#include <nicfw/conn.h>

#include <nicfw/arena.h>
#include <nicfw/card.h>
#include <nicfw/deadline.h>
#include <nicfw/flow.h>
#include <nicfw/frame.h>
#include <nicfw/launch.h>
#include <nicfw/node.h>
#include <nicfw/window.h>

/* Draw a new id and seal. Nonces of exchanges with the old id become void. */
void bcl_nic_conn_rename(struct bcl_card *card, struct nic_conn *conn)
{
	unsigned rail;

	do {
		card->conn_turn += card->conn_step;
		conn->id = card->conn_turn << card->conn_shift | conn->index
									 << 2;
	} while (conn->id == 0);
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

bool bcl_nic_conn_idle(const struct nic_conn *conn)
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

void bcl_nic_conn_evict(struct bcl_card *card)
{
	struct nic_conn *conn, *oldest = NULL;
	uint32_t i = 0;

	while ((conn = nic_conn_next(card, &i))) {
		if (conn->state == NIC_CONN_PARKING)
			return;
		if (conn->state == NIC_CONN_UP && bcl_nic_conn_idle(conn) &&
		    conn->node->conn == conn &&
		    (!oldest || conn->used < oldest->used))
			oldest = conn;
	}
	if (!oldest)
		return;
	oldest->state = NIC_CONN_PARKING;
	oldest->hello_at = card->now;
	oldest->hello_wait = (uint32_t)card->config.rto_min;
	nic_conn_due(card, oldest, card->now);
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
	conn->ping_wait = bcl_nic_window_rto(
		card, &conn->window[nic_conn_any_rail(conn)]);
	if (conn->ping_at > card->now + conn->ping_wait)
		conn->ping_at = card->now + conn->ping_wait;
	nic_conn_due(card, conn, conn->ping_at);
}
