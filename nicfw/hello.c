/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The handshake. HELLO, HELLO_ACK and the PING after it say the same things,
 * and prove the job's key. HELLO_ACK also names the nonce of the HELLO, so its
 * sender is alive and has the key now; PING names that of the HELLO_ACK, which
 * proves the same of the caller, and tells where it is reached, which DATA does
 * not. Each rail is proved by its own exchange.
 *
 * A HELLO may be an old one that somebody sends again. It makes a connection,
 * or a candidate for one, which is forgotten soon if nothing proves it; of an
 * existing connection it changes nothing. What the caller says counts when its
 * PING says it.
 *
 * On a connection that is UP the exchange proves another rail, or one that was
 * given up: then frames before `first_seq` will never come. On a rail that is
 * proved it asks for the peer's address, which may have changed: the answer
 * comes from there, and the PING after it tells the peer ours.
 */
#include <nicfw/card.h>
#include <nicfw/proof.h>

enum {
	FIRST_FRAMES = 16,    /* congestion window of a new rail */
	WINDOW_MAX = 1 << 24, /* bytes, whatever the peer grants */
	DECLINED_MAX = 8,     /* calls, each later than the one before */
};

static uint64_t new_nonce(struct bcl_card *card)
{
	uint64_t nonce;

	do
		nonce = card->hal.random(card->host);
	while (nonce == 0);
	return nonce;
}

/* One that is sent again, as its answer is late, has the nonce it had. */
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

/* To one HELLO or many: the PING that proves the answer seen ends it. */
static void answer(struct bcl_card *card, struct nic_conn *conn, unsigned rail,
		   const uint8_t *key, const struct bcl_hello *hello)
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

/* The first that comes proves that we have the answer, and any may be it. */
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
	nic_deadline(card, conn, conn->hello_at);
	conn->hello_wait = nic_backoff(conn->hello_wait, 1, longest);
}

static int proves(const uint8_t *key, uint8_t kind,
		  const struct bcl_frame_header *header,
		  const struct bcl_hello *hello)
{
	return bcl_nic_proof(key, kind, header, hello) ==
	       bcl_get64(hello->proof);
}

/* The key that it proves: the own job's, or that of the job in which the host
 * called this node; NULL: none of them. */
static const uint8_t *key_of(const struct bcl_card *card,
			     const struct nic_node *node, uint8_t kind,
			     const struct bcl_frame_header *header,
			     const struct bcl_hello *hello)
{
	if (proves(card->config.key, kind, header, hello))
		return card->config.key;
	return node && proves(node->key, kind, header, hello) ? node->key
							      : NULL;
}

static int same_peer(const struct nic_conn *conn, const struct bcl_hello *hello)
{
	return conn->known &&
	       conn->incarnation == bcl_get64(hello->incarnation) &&
	       conn->peer == (bcl_get32(hello->conn) & ~3u);
}

static void forget_rails(struct nic_conn *conn)
{
	unsigned rail;

	for (rail = 0; rail < BCL_RAILS_MAX; rail++) {
		conn->window[rail].peer = 0;
		conn->window[rail].answered = 0;
		conn->window[rail].state = NIC_RAIL_OFF;
	}
}

/* This connection is with the life that says hello. */
static void adopt(struct nic_conn *conn, const struct bcl_hello *hello)
{
	forget_rails(conn);
	conn->known = 1;
	conn->incarnation = bcl_get64(hello->incarnation);
	conn->peer = bcl_get32(hello->conn) & ~3u;
	conn->state = NIC_CONN_ANSWERED;
	bcl_nic_verdict_start(conn, bcl_get32(hello->first_msg));
}

/*
 * Was another rail of the peer answered by this one? The peer may believe the
 * answer already, and then frames of that rail come; frames of two rails would
 * be taken for frames of one. An answer that did not arrive does not hold for
 * ever.
 */
static int promised(const struct nic_window *window,
		    const struct bcl_hello *hello)
{
	return window->answer && window->answered &&
	       window->answered != bcl_get32(hello->conn) &&
	       window->declined < DECLINED_MAX;
}

/* Not if the rail is down, or is or will be paired with another one of the
 * peer, or if this is old. */
static int fits(const struct bcl_card *card, const struct nic_conn *conn,
		unsigned rail, const struct bcl_hello *hello)
{
	const struct nic_window *window = &conn->window[rail];
	int later = (int8_t)(hello->turn - window->peer_turn);

	return card->rail[rail].up && !promised(window, hello) &&
	       (window->peer == 0 ||
		(later >= 0 && (window->peer == bcl_get32(hello->conn) ||
				window->state != NIC_RAIL_PROVED)));
}

/*
 * What was proved is believed. 0: it does not fit, or was said before the peer
 * knew that we had given the rail up. Or it is too early: the peer must not
 * forget yet what came by it.
 */
static int pair(struct bcl_card *card, struct nic_conn *conn, unsigned rail,
		uint32_t seal, const struct bcl_hello *hello)
{
	struct nic_window *window = &conn->window[rail];
	uint32_t peer = bcl_get32(hello->conn);
	uint32_t frame =
		nic_min32(bcl_get16(hello->max_frame), card->rail[rail].mtu);

	if (!fits(card, conn, rail, hello))
		return 0;
	window->peer_turn = hello->turn;
	if (window->down_tries ||
	    (window->peer && hello->heard != window->turn))
		return 0;
	if (window->peer != peer)
		bcl_nic_window_begin(conn, rail, bcl_get32(hello->first_seq));
	else
		bcl_nic_window_skip(conn, rail, bcl_get32(hello->first_seq));
	window->peer = peer;
	window->refused = 0;
	window->payload = (uint16_t)((frame - BCL_HEADERS_SIZE) & ~7u);
	window->rwnd = nic_max32(
		nic_min32(bcl_get32(hello->window), WINDOW_MAX), frame);
	conn->peer_seal = seal;
	conn->pcrc = card->config.pcrc ||
		     bcl_get16(hello->features) & BCL_FEATURE_PCRC;
	return 1;
}

static int makes_sense(const struct bcl_card *card,
		       const struct bcl_hello *hello)
{
	uint64_t id = bcl_get64(hello->card);

	return id != 0 && id != card->config.card &&
	       bcl_get64(hello->nonce) != 0 &&
	       bcl_get32(hello->first_msg) != 0 && bcl_get32(hello->conn) > 3 &&
	       bcl_get16(hello->max_frame) >= NIC_MTU_MIN;
}

/* Until then no other life of the node is listened to; then it is, whatever
 * this one says without a proof. */
static void settle(struct bcl_card *card, struct nic_conn *conn)
{
	conn->settled = card->now + 8 * card->config.rto_max;
	if (conn->node->state != BCL_NODE_CONNECTING ||
	    conn->node->conn != conn)
		conn->expires = conn->settled;
	nic_deadline(card, conn, conn->expires);
}

static struct nic_conn *answer_new(struct bcl_card *card, struct nic_node *node,
				   const struct bcl_hello *hello)
{
	struct nic_conn *conn = bcl_nic_conn_make(card, node);

	if (conn) {
		adopt(conn, hello);
		settle(card, conn);
	}
	return conn;
}

/* The connection that a HELLO is about; NULL: none. */
static struct nic_conn *choose(struct bcl_card *card, struct nic_node *node,
			       const struct bcl_hello *hello)
{
	struct nic_conn *conn = node->conn;

	if (!conn) {
		node->conn = answer_new(card, node, hello);
		return node->conn;
	}
	if (same_peer(conn, hello))
		return conn->state == NIC_CONN_ENDING ? NULL : conn;
	if (conn->state >= NIC_CONN_UP) {
		conn = node->candidate;
		if (!conn) {
			node->candidate = answer_new(card, node, hello);
			return node->candidate;
		}
		if (same_peer(conn, hello))
			return conn;
	}
	if (conn->known && card->now < conn->settled)
		return NULL;
	if (conn->known) /* ids told to the other life must not fit */
		bcl_nic_conn_rename(card, conn);
	adopt(conn, hello);
	settle(card, conn);
	return conn;
}

void bcl_nic_hello_received(struct bcl_card *card, unsigned rail,
			    const struct bcl_frame_header *header,
			    const struct bcl_hello *hello)
{
	struct nic_node *node;
	struct nic_conn *conn;
	const uint8_t *key;

	if (header->version != BCL_WIRE_VERSION) {
		bcl_nic_frame_refuse(card, rail, header->version, hello,
				     BCL_ERR_VERSION);
		return;
	}
	node = bcl_nic_node_find(card, bcl_get64(hello->card));
	key = key_of(card, node, BCL_FRAME_HELLO, header, hello);
	if (!key) {
		bcl_nic_frame_refuse(card, rail, header->version, hello,
				     BCL_ERR_JOBKEY);
		return;
	}
	if (!makes_sense(card, hello)) {
		nic_count(card, dropped_malformed);
		return;
	}
	if (!node)
		node = bcl_nic_node_make(card, bcl_get64(hello->card));
	if (!node) {
		nic_count(card, dropped_arena);
		return;
	}
	if (node->state == BCL_NODE_ISOLATED) {
		bcl_nic_frame_refuse(card, rail, header->version, hello,
				     BCL_ERR_ISOLATED);
		return;
	}
	conn = choose(card, node, hello);
	if (conn)
		conn->window[rail].declined +=
			promised(&conn->window[rail], hello);
	if (!conn || !fits(card, conn, rail, hello) ||
	    conn->window[rail].down_tries) {
		nic_count(card, dropped_state);
		return;
	}
	answer(card, conn, rail, key, hello);
}

static void rail_proved(struct bcl_card *card, struct nic_conn *conn,
			unsigned rail)
{
	struct nic_window *window = &conn->window[rail];

	window->heard = card->now;
	card->hal.learn(card->host, nic_node_index(card, conn->node), rail);
	if (window->state == NIC_RAIL_PROVED)
		return;
	window->state = NIC_RAIL_PROVED;
	window->cwnd =
		nic_min32(window->rwnd,
			  FIRST_FRAMES * (window->payload + BCL_HEADERS_SIZE));
	window->ssthresh = UINT32_MAX;
	conn->node->rails |= (uint8_t)(1u << rail);
	bcl_nic_rails_choose(card, conn);
	bcl_nic_conn_resume(card, conn);
}

/*
 * Our HELLO was answered by another life than the one whose HELLO we answered.
 * Both were told one id, so what either sends would be believed. Call by
 * another id, when the one that we answered has had its time.
 */
static void call_anew(struct bcl_card *card, struct nic_conn *conn)
{
	nic_count(card, dropped_state);
	if (card->now < conn->settled)
		return;
	forget_rails(conn);
	bcl_nic_conn_rename(card, conn);
	conn->known = 0;
	conn->state = NIC_CONN_CALLING;
	bcl_nic_hello_call(card, conn);
}

/* Is it from the node, about our life and this exchange? */
static int fresh(const struct bcl_card *card, const struct nic_conn *conn,
		 uint64_t nonce, const struct bcl_hello *hello)
{
	return nonce && bcl_get64(hello->peer_nonce) == nonce &&
	       bcl_get64(hello->peer_incarnation) == card->config.incarnation &&
	       bcl_get64(hello->card) == conn->node->card &&
	       makes_sense(card, hello) && conn->state != NIC_CONN_ENDING;
}

static void believe(struct bcl_card *card, struct nic_conn *conn, unsigned rail)
{
	conn->heard = card->now;
	if (conn->state < NIC_CONN_UP)
		bcl_nic_conn_up(card, conn); /* before learn(): a new index */
	rail_proved(card, conn, rail);
}

void bcl_nic_hello_answered(struct bcl_card *card, struct nic_conn *conn,
			    unsigned rail,
			    const struct bcl_frame_header *header,
			    const struct bcl_hello *hello)
{
	struct nic_window *window = &conn->window[rail];
	const uint8_t *key = conn->node->key;
	uint32_t veil;

	if (window->theirs || !fresh(card, conn, window->nonce, hello) ||
	    conn->node->conn != conn ||
	    (conn->state >= NIC_CONN_UP && !same_peer(conn, hello)) ||
	    !proves(key, BCL_FRAME_HELLO_ACK, header, hello)) {
		nic_count(card, dropped_state);
		return;
	}
	if (conn->known && conn->incarnation != bcl_get64(hello->incarnation)) {
		call_anew(card, conn);
		return;
	}
	if (!same_peer(conn, hello))
		adopt(conn, hello);
	window->theirs = bcl_get64(hello->nonce);
	veil = bcl_nic_proof_veil(key, BCL_FRAME_HELLO_ACK, header, hello);
	if (pair(card, conn, rail, bcl_get32(hello->seal) ^ veil, hello))
		believe(card, conn, rail);
	/* Even if the rail is not paired: it tells our turn. */
	if (window->peer)
		bcl_nic_hello_ping(card, conn, rail);
}

/* From a card of an older version, which knows no nonce, or from anybody: the
 * call goes on, and that is said if nobody answers. */
static int hint(const struct bcl_refuse *refuse)
{
	return bcl_get32(refuse->reason) == BCL_ERR_VERSION &&
	       bcl_get32(refuse->wire_version) < BCL_WIRE_NONCE;
}

void bcl_nic_hello_refused(struct bcl_card *card, uint32_t id,
			   const struct bcl_refuse *refuse)
{
	struct nic_conn *conn = nic_conn_find(card, id);
	const struct nic_window *window;
	uint32_t reason = bcl_get32(refuse->reason);

	if (!conn || conn->state != NIC_CONN_CALLING) {
		nic_count(card, dropped_state);
		return;
	}
	window = &conn->window[id & 3];
	if (window->nonce == 0 || bcl_get64(refuse->nonce) != window->nonce) {
		nic_count(card, dropped_state);
		if (hint(refuse))
			conn->why = BCL_ERR_VERSION;
		return;
	}
	if (reason != BCL_ERR_VERSION && reason != BCL_ERR_JOBKEY &&
	    reason != BCL_ERR_ISOLATED)
		reason = BCL_ERR_UNREACHABLE;
	bcl_nic_node_lose(card, conn->node, BCL_NODE_LOST,
			  (enum bcl_status)reason);
}

/* The candidate is real: what the node had before is over. */
static void take_over(struct bcl_card *card, struct nic_node *node,
		      const struct nic_conn *conn)
{
	struct nic_conn *old = node->conn;

	/* bcl_nic_conn_free() makes the candidate the node's connection. */
	if (old->incarnation == conn->incarnation && !bcl_nic_conn_owed(old)) {
		bcl_nic_assemble_lose(card, old, BCL_ERR_RESET);
		bcl_nic_message_drop_replies(card, old);
		bcl_nic_flow_rewind(card, node);
		bcl_nic_conn_free(card, old);
	} else {
		bcl_nic_node_lose(card, node, BCL_NODE_LOST, BCL_ERR_RESET);
	}
}

void bcl_nic_hello_proved(struct bcl_card *card, struct nic_conn *conn,
			  unsigned rail, const struct bcl_frame_header *header,
			  const struct bcl_hello *hello)
{
	struct nic_window *window = &conn->window[rail];
	const uint8_t *key = NULL;
	uint32_t veil;

	if (fresh(card, conn, window->answer, hello) && same_peer(conn, hello))
		key = key_of(card, conn->node, BCL_FRAME_PING, header, hello);
	if (!key) /* sent again, or late: a PING as any other */
		return;
	window->answer = 0;
	veil = bcl_nic_proof_veil(key, BCL_FRAME_PING, header, hello);
	if (!pair(card, conn, rail, bcl_get32(hello->seal) ^ veil, hello))
		return;
	if (conn->node->conn != conn)
		take_over(card, conn->node, conn);
	believe(card, conn, rail);
}
