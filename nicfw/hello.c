/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The frames of the handshake that this card sends: HELLO, HELLO_ACK and PING.
 * The handshake itself is in handshake.c.
 */
#include <nicfw/hello.h>

#include <nicfw/card.h>
#include <nicfw/conn.h>
#include <nicfw/frame.h>
#include <nicfw/rails.h>

/* A random nonce, not 0. */
static uint64_t new_nonce(struct bcl_card *card)
{
	uint64_t nonce;

	do
		nonce = card->hal.random(card->host);
	while (nonce == 0);
	return nonce;
}

/* A HELLO that is sent once more, as its answer is late, keeps its nonce. */
void bcl_nic_hello_say(struct bcl_card *card, struct nic_conn *conn,
		       unsigned rail)
{
	struct nic_window *window = &conn->window[rail];
	struct nic_greeting greeting = { .key = conn->node->key };

	if (window->nonce == 0 || window->theirs) {
		window->nonce = new_nonce(card);
		window->theirs = 0;
	}
	greeting.nonce = window->nonce;
	nic_count(card, hellos_sent);
	bcl_nic_frame_hello(card, conn, rail, BCL_FRAME_HELLO, &greeting);
}

void bcl_nic_hello_ack(struct bcl_card *card, struct nic_conn *conn,
		       unsigned rail, const uint8_t *key,
		       const struct bcl_hello *hello)
{
	struct nic_window *window = &conn->window[rail];
	struct nic_greeting greeting = {
		.key = key,
		.peer_nonce = bcl_get64(hello->nonce),
		.peer_incarnation = bcl_get64(hello->incarnation),
		.to = bcl_get32(hello->conn),
	};

	if (window->answer == 0)
		window->answer = new_nonce(card);
	greeting.nonce = window->answer;
	if (window->answered != greeting.to) {
		window->answered = greeting.to;
		window->declined = 0;
	}
	bcl_nic_frame_hello(card, conn, rail, BCL_FRAME_HELLO_ACK, &greeting);
}

/*
 * The first PING to arrive proves that this side got the HELLO_ACK. Any PING
 * may be the first to arrive, so each carries the proof.
 */
void bcl_nic_hello_ping(struct bcl_card *card, struct nic_conn *conn,
			unsigned rail)
{
	const struct nic_window *window = &conn->window[rail];
	const struct nic_greeting greeting = {
		.key = conn->node->key,
		.nonce = window->nonce,
		.peer_nonce = window->theirs,
		.peer_incarnation = conn->incarnation,
		.to = window->peer,
	};

	nic_count(card, pings_sent);
	if (window->theirs)
		bcl_nic_frame_hello(card, conn, rail, BCL_FRAME_PING,
				    &greeting);
	else
		bcl_nic_frame_bare(card, conn, rail, BCL_FRAME_PING);
}

void bcl_nic_hello_call(struct bcl_card *card, struct nic_conn *conn)
{
	uint64_t longest = conn->state >= NIC_CONN_UP
				   ? card->config.peer_timeout / 4
				   : card->config.rto_max;
	unsigned rail, called = 0;

	for (rail = 0; rail < BCL_RAILS_MAX; rail++) {
		if (conn->window[rail].down_tries)
			bcl_nic_rails_send_down(card, conn, rail);
		if (conn->window[rail].down_tries) {
			called = 1;
			continue;
		}
		if (!(conn->node->rails >> rail & 1) || !card->rail[rail].up ||
		    conn->window[rail].state == NIC_RAIL_PROVED)
			continue;
		if (conn->window[rail].state == NIC_RAIL_OFF)
			conn->window[rail].state = NIC_RAIL_CALLING;
		bcl_nic_hello_say(card, conn, rail);
		called = 1;
	}
	conn->hello_at = NIC_NEVER;
	if (!called)
		return;
	conn->hello_at = card->now + conn->hello_wait;
	nic_conn_due(card, conn, conn->hello_at);
	conn->hello_wait = nic_backoff(conn->hello_wait, 1, longest);
}
