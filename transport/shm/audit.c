/* SPDX-License-Identifier: MIT */
/* Audits of the pairs of a port; see audit.h. */
#include "transport/shm/audit.h"

#include "transport/shm/greeting.h"
#include "transport/shm/port.h"

enum {
	PARTS = 8, /* audits in each BCL_PEER_TIMEOUT */
};

/* The position bits of a header. */
static uint64_t position_of(uint64_t header)
{
	return header & ~(BCL_HEADER_TURN - 1);
}

/* True if the position that the peer has told is ahead of the messages received
 * here. Positions wrap. */
static bool is_behind(const struct bcl_connection *c)
{
	uint64_t told =
		atomic_load_explicit(&c->its_told, memory_order_acquire);

	return (int64_t)(told - position_of(c->pair.want)) > 0;
}

static bool waits_for_peer(const struct bcl_connection *c)
{
	return c->pair.peer->refused ||
	       (c->large.tables && c->large.tables->held) ||
	       (c->remotes && c->remotes->accesses);
}

static void detect_loss(struct bcl_connection *c)
{
	if (is_behind(c) && !bcl_pair_ready(&c->pair))
		bcl_pair_break(&c->pair, "a message is lost at",
			       position_of(c->pair.want) >> 31);
}

/* Write again how far this side has read. */
static void publish_position(struct bcl_pair *pair)
{
	atomic_store_explicit(pair->consumer, pair->published,
			      memory_order_release);
	bcl_pair_give_room(pair);
}

static void tell_position(struct bcl_connection *c)
{
	struct bcl_greeting g = bcl_greeting_make(c, BCL_GREETING_SENT);

	g.base = position_of(c->pair.next);
	if (c->socket >= 0 && bcl_greeting_send(c, &g, NULL, 0))
		c->told = g.base;
}

static bool audit_connection(struct bcl_connection *c)
{
	publish_position(&c->pair);
	detect_loss(c);
	bcl_bounce_audit(c);
	if (!bcl_offers_audit(c) || !bcl_fed_audit(c))
		bcl_pair_break(&c->pair, "claim", 0);
	if (!bcl_rma_audit(c))
		bcl_pair_break(&c->pair, "RMA request", 0);
	if (position_of(c->pair.next) != c->told || waits_for_peer(c))
		tell_position(c);
	return false;
}

static void set_next(struct bcl_shm_port *shm, uint64_t now)
{
	uint64_t timeout = bcl_shm_context(shm)->config.peer_timeout;

	atomic_store_explicit(&shm->audit_at, now + timeout / PARTS,
			      memory_order_relaxed);
}

void bcl_audit_open(struct bcl_shm_port *shm, uint64_t now)
{
	set_next(shm, now);
}

void bcl_shm_audit(struct bcl_port *port, uint64_t now)
{
	struct bcl_shm_port *shm = port->shm;

	/* in virtual time no other process can write to the memory */
	if (now < atomic_load_explicit(&shm->audit_at, memory_order_relaxed) ||
	    bcl_shm_env(shm)->virtual_time)
		return;
	/* the lock protects sockets; if it is taken, try next time */
	if (pthread_mutex_trylock(&shm->lock))
		return;
	set_next(shm, now);
	bcl_count(port->counters, shm_audits);
	bcl_watch_each(shm, audit_connection);
	pthread_mutex_unlock(&shm->lock);
}

static bool wants_audit(struct bcl_connection *c)
{
	return position_of(c->pair.next) != c->told || is_behind(c) ||
	       waits_for_peer(c);
}

void bcl_audit_sleep(struct bcl_shm_port *shm)
{
	atomic_store_explicit(&shm->audit_wanted,
			      bcl_watch_each(shm, wants_audit),
			      memory_order_relaxed);
}

uint64_t bcl_audit_due(const struct bcl_shm_port *shm)
{
	if (!atomic_load_explicit(&shm->audit_wanted, memory_order_relaxed))
		return UINT64_MAX;
	return atomic_load_explicit(&shm->audit_at, memory_order_relaxed);
}

void bcl_audit_take(struct bcl_connection *c, const struct bcl_greeting *told)
{
	/* acquired by is_behind(): the owner then sees all messages sent
	 * before */
	atomic_store_explicit(&c->its_told, position_of(told->base),
			      memory_order_release);
	bcl_connection_tell_owner(c);
}

void bcl_audit_hear(struct bcl_connection *c)
{
	publish_position(&c->pair);
	detect_loss(c);
}
