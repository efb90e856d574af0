/* SPDX-License-Identifier: MIT */
/*
 * The handshake of a connection, for the caller and the called side; see
 * handshake.h.
 */
#include "transport/shm/handshake.h"

#include <errno.h>
#include <string.h>

#include "transport/shm/attach.h"
#include "transport/shm/greeting.h"
#include "transport/shm/host.h"
#include "transport/shm/port.h"

/* `attention` of a pair points at this word if senders need a fence, or are
 * charged for messages. */
static const _Atomic uint32_t always_attend = 1;

/* Send the greeting with this side's descriptors, from index `first` on. */
static bool send_greeting(struct bcl_connection *c,
			  const struct bcl_greeting *g, unsigned first)
{
	const int fds[] = { c->segment.fd, c->shm->attention_fd,
			    c->shm->active_fd, c->shm->port->object };

	return bcl_greeting_send(c, g, fds + first, 4 - first);
}

static void send_refusal(struct bcl_connection *c, enum bcl_status status)
{
	struct bcl_greeting g = bcl_greeting_make(c, BCL_GREETING_REFUSE);

	g.status = status;
	bcl_greeting_send(c, &g, NULL, 0);
}

static void refuse_and_fail(struct bcl_connection *c, enum bcl_status status,
			    const char *why)
{
	send_refusal(c, status);
	bcl_connection_fail(c, status, why);
}

/* ---- calling ---- */

enum {
	SLOTS_FEW = 1024,
	SLOTS_MANY = 16384, /* slots in all rings of a rank to others here */
};

/* Longer rings move messages of several KB faster, and short messages use only
 * a part of a ring. With up to 17 ranks on the host, the rings that a rank
 * writes to the others have at most SLOTS_MANY slots together; with more ranks
 * each ring has SLOTS_FEW. */
static uint32_t ring_slots(const struct bcl_context *context)
{
	uint32_t slots = SLOTS_MANY;

	if (context->config.ring_slots)
		return (uint32_t)context->config.ring_slots;
	if (!context->local_ranks)
		return SLOTS_FEW;
	while (slots > SLOTS_FEW &&
	       (uint64_t)slots * (context->local_ranks - 1) > SLOTS_MANY)
		slots /= 2;
	return slots;
}

static const char *why_no_socket(int error)
{
	switch (error) {
	case ECONNREFUSED:
		return "shared memory: no such port in this name space";
	case EMFILE:
	case ENFILE:
		return "shared memory: no descriptor left (ulimit -n)";
	default:
		return "shared memory: no local sockets";
	}
}

void bcl_handshake_call(struct bcl_connection *c)
{
	const struct bcl_context *context = bcl_shm_context(c->shm);
	const struct bcl_env *env = context->env;
	struct bcl_greeting g;
	enum bcl_status status;

	bcl_assert(c->state == BCL_CONNECTION_CALLING && c->socket < 0);
	c->socket = env->shm_host->call(env->world, c->card, c->number);
	if (c->socket < 0 && errno == EAGAIN) {
		bcl_connection_set_state(c, BCL_CONNECTION_CALLING);
		return;
	}
	if (c->socket < 0) {
		bcl_connection_refused(c->shm, errno);
		bcl_connection_fail(c, BCL_ERR_UNREACHABLE,
				    why_no_socket(errno));
		return;
	}
	if (!env->shm_host->peer(env->world, c->socket, &c->pid)) {
		bcl_connection_fail(c, BCL_ERR_PERM,
				    "shared memory: another user's process");
		return;
	}
	status = bcl_segment_create(env, ring_slots(context), &c->segment);
	if (status) {
		bcl_connection_refused(c->shm, errno);
		bcl_connection_fail(
			c, status,
			status == BCL_ERR_NOMEM
				? "shared memory: no memory for a segment"
				: "shared memory: no segment: no descriptor "
				  "left, or memfd_create refused");
		return;
	}
	c->side = 0;
	g = bcl_greeting_make(c, BCL_GREETING_HELLO);
	memcpy(g.key, c->key, sizeof(g.key));
	if (context->config.attach)
		g.flags |= BCL_GREETING_ATTACH;
	if (!send_greeting(c, &g, 0)) {
		bcl_connection_fail(c, BCL_ERR_UNREACHABLE,
				    "shared memory: it hung up");
		return;
	}
	if (!bcl_connection_watch(c, c->socket)) {
		bcl_connection_fail(c, BCL_ERR_SYSTEM,
				    "shared memory: no descriptor left");
		return;
	}
	bcl_connection_set_state(c, BCL_CONNECTION_CALLED);
}

/* ---- what both do with a greeting ---- */

/* Take the peer's pages and object. Returns false if they are not usable. */
static bool adopt_pages(struct bcl_connection *c, const struct bcl_greeting *g,
			const int fds[3])
{
	const struct bcl_context *context = bcl_shm_context(c->shm);
	const struct bcl_env *env = context->env;
	const struct bcl_shm_host *host = env->shm_host;

	if (g->watch >= BCL_SHM_PEERS || !host->wakes(env->world, fds[2]))
		return false;
	c->its_attention = bcl_page_map(env, fds[0], false);
	c->its_active = bcl_page_map(env, fds[1], true);
	if (!c->its_attention || !c->its_active)
		return false;
	c->wake = host->copy(env->world, fds[2]);
	if (c->wake < 0) {
		bcl_connection_refused(c->shm, errno);
		return false;
	}
	c->its_watch = g->watch;
	c->its_nonce = g->nonce;
	c->its_nonce_address = g->nonce_address;
	c->its_scratch_address = g->scratch_address;
	c->fence = !context->barrier || !(g->flags & BCL_GREETING_BARRIER);
	return true;
}

/* Prove that this side can attach to the peer; *wrote is the value written
 * there. */
static bool prove_attach(struct bcl_connection *c, uint64_t *wrote)
{
	const struct bcl_env *env = bcl_shm_env(c->shm);

	*wrote = env->random(env->world) | 1;
	if (!bcl_attach_prove(c, *wrote))
		return true;
	c->why = c->pid > 0 ? "shared memory, double copy: attach is forbidden"
			    : "shared memory, double copy: another process id "
			      "namespace";
	return false;
}

static void bring_up_pair(struct bcl_connection *c)
{
	struct bcl_pair *pair = &c->pair;

	bcl_segment_settle(bcl_shm_env(c->shm), &c->segment);
	bcl_segment_pair(&c->segment, c->side, pair);
	pair->connection = c;
	pair->flags = &c->shm->port->flags;
	c->told = BCL_HEADER_FIRST & ~(BCL_HEADER_TURN - 1);
	atomic_store_explicit(&c->its_told, c->told, memory_order_relaxed);
	pair->attention = c->fence || bcl_shm_env(c->shm)->charge
				  ? &always_attend
				  : &c->its_attention[c->its_watch];
	if (c->attach)
		c->why = c->by_card ? "shared memory, attach by the card"
				    : "shared memory, attach";
	else if (!bcl_shm_context(c->shm)->config.attach)
		c->why = "shared memory, double copy: attach switched off";
	else if (!c->why)
		c->why = "shared memory, double copy: attach is forbidden to "
			 "the peer, or switched off there";
	bcl_connection_set_state(c, BCL_CONNECTION_UP);
}

/* ---- answering ---- */

/* True if this port's call has precedence over the peer's. */
static bool has_precedence(const struct bcl_connection *c)
{
	uint64_t card = bcl_shm_context(c->shm)->card_id;

	return card < c->card ||
	       (card == c->card && c->shm->port->number < c->number);
}

static void accept_call(struct bcl_connection *c)
{
	struct bcl_greeting g = bcl_greeting_make(c, BCL_GREETING_ACCEPT);

	g.flags &= ~(unsigned)BCL_GREETING_ATTACH;
	if (c->attach && prove_attach(c, &g.wrote))
		g.flags |= BCL_GREETING_ATTACH;
	c->attach = g.flags & BCL_GREETING_ATTACH;
	if (send_greeting(c, &g, 1))
		bcl_connection_set_state(c, BCL_CONNECTION_GREETED);
	else
		bcl_connection_fail(c, BCL_ERR_DEAD,
				    "shared memory: it hung up");
}

/* Answer HELLO, depending on the older connections to the peer. */
static void answer_hello(struct bcl_connection *c)
{
	struct bcl_connection *other =
		bcl_connection_find(c->shm, c->card, c->number, c);

	if (!other) {
		accept_call(c);
	} else if (other->state == BCL_CONNECTION_CARD && other->confirmed) {
		other->confirmed = false;
		refuse_and_fail(c, BCL_ERR_UNREACHABLE, "already on the card");
	} else if (other->state == BCL_CONNECTION_CARD) {
		bcl_connection_tell_owner(other);
		bcl_connection_set_state(c, BCL_CONNECTION_HELD);
	} else if (other->state <= BCL_CONNECTION_CROSSED) {
		/* an own call is out */
		if (other->state != BCL_CONNECTION_CROSSED &&
		    has_precedence(c)) {
			refuse_and_fail(c, BCL_ERR_BUSY, "crossing");
			return;
		}
		c->wanted = other->wanted;
		bcl_connection_free(other);
		accept_call(c);
	} else {
		bcl_connection_set_state(c, BCL_CONNECTION_HELD);
	}
}

static void take_hello(struct bcl_connection *c, const struct bcl_greeting *g,
		       const int *fds, unsigned nfds)
{
	const struct bcl_context *context = bcl_shm_context(c->shm);
	const struct bcl_env *env = context->env;
	int segment;

	if (g->kind != BCL_GREETING_HELLO || nfds != 4) {
		bcl_connection_fail(c, BCL_ERR_VERSION, "no HELLO");
		return;
	}
	if (g->version != BCL_GREETING_VERSION) {
		refuse_and_fail(c, BCL_ERR_VERSION, "other version");
		return;
	}
	if (memcmp(g->key, context->key, sizeof(g->key))) {
		refuse_and_fail(c, BCL_ERR_JOBKEY, "other job");
		return;
	}
	if (g->to_card != context->card_id ||
	    g->to_number != c->shm->port->number) {
		refuse_and_fail(c, BCL_ERR_NOPORT, "for another port");
		return;
	}
	c->card = g->card;
	c->number = g->number;
	c->side = 1;
	c->attach = context->config.attach && (g->flags & BCL_GREETING_ATTACH);
	segment = env->shm_host->copy(env->world, fds[0]);
	if (segment < 0 ||
	    bcl_segment_map(env, segment, g->slots, &c->segment)) {
		if (segment >= 0)
			env->shm_host->close(env->world, segment);
		else
			bcl_connection_refused(c->shm, errno);
		refuse_and_fail(c, BCL_ERR_NOMEM, "no room for its segment");
		return;
	}
	if (!adopt_pages(c, g, fds + 1)) {
		refuse_and_fail(c, BCL_ERR_NOMEM, "cannot use its pages");
		return;
	}
	answer_hello(c);
}

static void take_ready(struct bcl_connection *c, const struct bcl_greeting *g)
{
	if (g->kind != BCL_GREETING_READY) {
		bcl_connection_fail(c, BCL_ERR_DEAD, "no READY");
		return;
	}
	if (!(g->flags & BCL_GREETING_ATTACH))
		c->attach = false;
	if (c->attach && c->scratch != g->wrote) {
		bcl_connection_fail(c, BCL_ERR_DEAD, "attach proved wrong");
		return;
	}
	bring_up_pair(c);
}

/* ---- the call's answer ---- */

static void take_refusal(struct bcl_connection *c, const struct bcl_greeting *g)
{
	switch (g->status) {
	case BCL_ERR_BUSY:
		bcl_connection_hang_up(c);
		bcl_connection_set_state(c, BCL_CONNECTION_CROSSED);
		return;
	case BCL_ERR_JOBKEY:
		bcl_connection_fail(c, BCL_ERR_JOBKEY,
				    "it belongs to another job");
		return;
	case BCL_ERR_VERSION:
		bcl_connection_fail(c, BCL_ERR_VERSION,
				    "it has another version");
		return;
	default:
		bcl_connection_fail(c, BCL_ERR_UNREACHABLE,
				    "shared memory: refused");
	}
}

static void take_answer(struct bcl_connection *c, const struct bcl_greeting *g,
			const int *fds, unsigned nfds)
{
	struct bcl_greeting ready;

	if (g->kind == BCL_GREETING_REFUSE) {
		take_refusal(c, g);
		return;
	}
	if (g->kind != BCL_GREETING_ACCEPT || nfds != 3 ||
	    g->version != BCL_GREETING_VERSION || !adopt_pages(c, g, fds)) {
		bcl_connection_fail(c, BCL_ERR_UNREACHABLE,
				    "shared memory: bad answer");
		return;
	}
	ready = bcl_greeting_make(c, BCL_GREETING_READY);
	ready.flags &= ~(unsigned)BCL_GREETING_ATTACH;
	if ((g->flags & BCL_GREETING_ATTACH) && c->scratch == g->wrote &&
	    prove_attach(c, &ready.wrote)) {
		ready.flags |= BCL_GREETING_ATTACH;
		c->attach = true;
	}
	if (bcl_greeting_send(c, &ready, NULL, 0))
		bring_up_pair(c);
	else
		bcl_connection_fail(c, BCL_ERR_UNREACHABLE,
				    "shared memory: it hung up");
}

/* ---- in turn ---- */

void bcl_handshake_take(struct bcl_connection *c, const struct bcl_greeting *g,
			const int *fds, unsigned nfds)
{
	switch (c->state) {
	case BCL_CONNECTION_CALLED:
		take_answer(c, g, fds, nfds);
		break;
	case BCL_CONNECTION_ACCEPTED:
		take_hello(c, g, fds, nfds);
		break;
	case BCL_CONNECTION_GREETED:
		take_ready(c, g);
		break;
	default:
		break; /* no packet is expected: ignored */
	}
}

/* True if a HELD connection can be answered now. An own call that gave way to
 * the connection ends then. */
static bool may_answer(const struct bcl_connection *c)
{
	const struct bcl_connection *other =
		bcl_connection_find(c->shm, c->card, c->number, c);

	return !other || other->state == BCL_CONNECTION_CROSSED ||
	       (other->state == BCL_CONNECTION_CARD && other->confirmed);
}

bool bcl_handshake_retry(struct bcl_connection *c, uint64_t now)
{
	if (now >= c->deadline) {
		bcl_connection_fail(c, BCL_ERR_TIMEOUT,
				    "shared memory: its process is silent");
	} else if (c->state == BCL_CONNECTION_CALLING) {
		bcl_handshake_call(c);
	} else if (c->state == BCL_CONNECTION_HELD && may_answer(c)) {
		answer_hello(c);
		return true;
	}
	return false;
}
