/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The handshake. HELLO, HELLO_ACK and the PING after it contain the same
 * fields, and each proves the job's key. HELLO_ACK repeats the nonce of the
 * HELLO: so its sender is alive and has the key now. PING repeats the nonce of
 * the HELLO_ACK, which proves the same of the caller. PING also tells the
 * address of the caller, which DATA does not. Each rail is proved by an
 * exchange of its own.
 *
 * HELLO may be a recorded one that an attacker sends once more. HELLO makes a
 * connection, or a candidate for one, which is forgotten soon if no proof
 * follows. An existing connection is not changed by HELLO. The caller's fields
 * take effect when the caller's PING repeats them.
 *
 * On a connection that is UP the exchange proves another rail, or a rail that
 * was given up: frames before `first_seq` will then never come. On a proved
 * rail the exchange finds the peer's address, which may have changed: HELLO_ACK
 * comes from there, and the PING after it tells the peer our address.
 */
#include <nicfw/handshake.h>

#include <nicfw/arrived.h>
#include <nicfw/card.h>
#include <nicfw/conn.h>
#include <nicfw/contact.h>
#include <nicfw/frame.h>
#include <nicfw/hello.h>
#include <nicfw/node.h>
#include <nicfw/proof.h>
#include <nicfw/rails.h>
#include <nicfw/verdict.h>
#include <nicfw/window.h>

enum {
	FIRST_FRAMES = 16,    /* congestion window of a new rail, in frames */
	WINDOW_MAX = 1 << 24, /* bytes; the bound of the peer's grant */
	DECLINED_MAX = 8, /* HELLOs, which the peer repeats with a back-off */
};

static bool proves(const uint8_t *key, uint8_t kind,
		   const struct bcl_frame_header *header,
		   const struct bcl_hello *hello)
{
	return bcl_nic_proof(key, kind, header, hello) ==
	       bcl_get64(hello->proof);
}

/*
 * The key that the frame proves: the key of this card's job, or of the job in
 * which the host called the node. NULL: neither.
 */
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

static bool same_peer(const struct nic_conn *conn,
		      const struct bcl_hello *hello)
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

/* The connection is now with the incarnation that sent HELLO. */
static void adopt(struct nic_conn *conn, const struct bcl_hello *hello)
{
	bcl_assert(conn->state < NIC_CONN_UP);
	forget_rails(conn);
	conn->known = 1;
	conn->incarnation = bcl_get64(hello->incarnation);
	conn->peer = bcl_get32(hello->conn) & ~3u;
	conn->state = NIC_CONN_ANSWERED;
	bcl_nic_verdict_start(conn, bcl_get32(hello->first_msg));
}

/*
 * True if this rail has sent HELLO_ACK to another rail of the peer. The peer
 * may already believe that answer and send frames of that rail. After a second
 * answer frames of two rails would be taken for frames of one. A HELLO_ACK may
 * be lost, so at most DECLINED_MAX HELLOs are declined in its favour.
 */
static bool promised(const struct nic_window *window,
		     const struct bcl_hello *hello)
{
	return window->answer && window->answered &&
	       window->answered != bcl_get32(hello->conn) &&
	       window->declined < DECLINED_MAX;
}

/*
 * False if the rail is down, is or will be paired with another rail of the
 * peer, or if the frame is older than the last one.
 */
static bool rail_fits(const struct bcl_card *card, const struct nic_conn *conn,
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
 * Take over the fields of a proved frame. Returns false if the frame does not
 * fit, or was sent before the peer knew that this side had given the rail up.
 * Also false while RAIL_DOWN is unanswered: the peer must not yet forget which
 * frames came by the rail.
 */
static bool pair(struct bcl_card *card, struct nic_conn *conn, unsigned rail,
		 uint32_t seal, const struct bcl_hello *hello)
{
	struct nic_window *window = &conn->window[rail];
	uint32_t peer = bcl_get32(hello->conn);
	uint32_t frame =
		bcl_min32(bcl_get16(hello->max_frame), card->rail[rail].mtu);

	if (!rail_fits(card, conn, rail, hello))
		return false;
	window->peer_turn = hello->turn;
	if (window->down_tries ||
	    (window->peer && hello->heard != window->turn))
		return false;
	if (window->peer != peer)
		bcl_nic_arrived_begin(conn, rail, bcl_get32(hello->first_seq));
	else
		bcl_nic_arrived_skip(conn, rail, bcl_get32(hello->first_seq));
	window->peer = peer;
	window->refused = 0;
	window->payload = (uint16_t)((frame - BCL_HEADERS_SIZE) & ~7u);
	window->rwnd = bcl_max32(
		bcl_min32(bcl_get32(hello->window), WINDOW_MAX), frame);
	conn->peer_seal = seal;
	conn->pcrc = card->config.pcrc ||
		     bcl_get16(hello->features) & BCL_FEATURE_PCRC;
	return true;
}

static bool makes_sense(const struct bcl_card *card,
			const struct bcl_hello *hello)
{
	uint64_t id = bcl_get64(hello->card);

	return id != 0 && id != card->config.card &&
	       bcl_get64(hello->nonce) != 0 &&
	       bcl_get32(hello->first_msg) != 0 && bcl_get32(hello->conn) > 3 &&
	       bcl_get16(hello->max_frame) >= NIC_MTU_MIN;
}

/*
 * Give the incarnation until conn->settled to prove itself. Before, no HELLO of
 * another incarnation of the node is answered. Afterwards one is answered, even
 * if this incarnation has sent more frames without a proof.
 */
static void await_proof(struct bcl_card *card, struct nic_conn *conn)
{
	conn->settled = card->now + 8 * card->config.rto_max;
	if (conn->node->state != BCL_NODE_CONNECTING ||
	    conn->node->conn != conn)
		conn->expires = conn->settled;
	nic_conn_due(card, conn, conn->expires);
}

static struct nic_conn *answer_new(struct bcl_card *card, struct nic_node *node,
				   const struct bcl_hello *hello)
{
	struct nic_conn *conn = bcl_nic_conn_make(card, node);

	if (conn) {
		adopt(conn, hello);
		await_proof(card, conn);
	}
	return conn;
}

/* The connection that is to answer a HELLO; NULL: none. */
static struct nic_conn *choose_conn(struct bcl_card *card,
				    struct nic_node *node,
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
	if (conn->known) /* void the ids that the other incarnation knows */
		bcl_nic_conn_rename(card, conn);
	adopt(conn, hello);
	await_proof(card, conn);
	return conn;
}

void bcl_nic_handshake_received(struct bcl_card *card, unsigned rail,
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
	conn = choose_conn(card, node, hello);
	if (conn)
		conn->window[rail].declined +=
			promised(&conn->window[rail], hello);
	if (!conn || !rail_fits(card, conn, rail, hello) ||
	    conn->window[rail].down_tries) {
		nic_count(card, dropped_state);
		return;
	}
	bcl_nic_hello_ack(card, conn, rail, key, hello);
}

/* The exchange is complete: the rail may carry DATA from now on. */
static void rail_proved(struct bcl_card *card, struct nic_conn *conn,
			unsigned rail)
{
	struct nic_window *window = &conn->window[rail];

	window->heard = card->now;
	card->hal.learn(card->host, nic_node_index(card, conn->node), rail);
	if (window->state == NIC_RAIL_PROVED)
		return;
	bcl_assert(conn->state >= NIC_CONN_UP && window->peer);
	window->state = NIC_RAIL_PROVED;
	window->cwnd =
		bcl_min32(window->rwnd,
			  FIRST_FRAMES * (window->payload + BCL_HEADERS_SIZE));
	window->ssthresh = UINT32_MAX;
	conn->node->rails |= (uint8_t)(1u << rail);
	bcl_nic_rails_choose(card, conn);
	bcl_nic_conn_resume(card, conn);
}

/*
 * HELLO_ACK came from one incarnation, and this side has answered a HELLO of
 * another. Both know the same id, so frames of both would be believed. Call
 * with a new id, as soon as the time of the answered incarnation is over.
 */
static void call_anew(struct bcl_card *card, struct nic_conn *conn)
{
	nic_count(card, dropped_state);
	if (card->now < conn->settled)
		return;
	bcl_assert(conn->state < NIC_CONN_UP);
	forget_rails(conn);
	bcl_nic_conn_rename(card, conn);
	conn->known = 0;
	conn->state = NIC_CONN_CALLING;
	bcl_nic_hello_call(card, conn);
}

/*
 * True if the frame is from the node, for our incarnation, and of this
 * exchange.
 */
static bool fresh(const struct bcl_card *card, const struct nic_conn *conn,
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
		/* before learn(): the host learns the index */
		bcl_nic_conn_up(card, conn);
	rail_proved(card, conn, rail);
}

void bcl_nic_handshake_answered(struct bcl_card *card, struct nic_conn *conn,
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
	/* Even if the rail is not paired now: PING tells the peer our turn. */
	if (window->peer)
		bcl_nic_hello_ping(card, conn, rail);
}

/*
 * True if REFUSE seems to come from a card of an older version, without a
 * nonce. The sender may be anybody. So the call goes on, and the reason is
 * reported only if no answer comes.
 */
static bool hint(const struct bcl_refuse *refuse)
{
	return bcl_get32(refuse->reason) == BCL_ERR_VERSION &&
	       bcl_get32(refuse->wire_version) < BCL_WIRE_NONCE;
}

void bcl_nic_handshake_refused(struct bcl_card *card, uint32_t id,
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
	bcl_nic_contact_lose(card, conn->node, BCL_NODE_LOST,
			     (enum bcl_status)reason);
}

void bcl_nic_handshake_proved(struct bcl_card *card, struct nic_conn *conn,
			      unsigned rail,
			      const struct bcl_frame_header *header,
			      const struct bcl_hello *hello)
{
	struct nic_window *window = &conn->window[rail];
	const uint8_t *key = NULL;
	uint32_t veil;

	if (fresh(card, conn, window->answer, hello) && same_peer(conn, hello))
		key = key_of(card, conn->node, BCL_FRAME_PING, header, hello);
	if (!key) /* sent once more, or late: an ordinary PING */
		return;
	window->answer = 0;
	veil = bcl_nic_proof_veil(key, BCL_FRAME_PING, header, hello);
	if (!pair(card, conn, rail, bcl_get32(hello->seal) ^ veil, hello))
		return;
	if (conn->node->conn != conn)
		bcl_nic_contact_replace(card, conn->node, conn);
	believe(card, conn, rail);
}
