/* SPDX-License-Identifier: MIT */
/* The pairs that the owner of a port polls, and the silent pairs. With many
 * pairs the owner stops polling pairs without messages: these become silent,
 * and a sender sets the bit of its pair in `active`. */
#include "transport/shm/port.h"

enum {
	SWEEP_TICKS = 16, /* ticks between sweeps for silent pairs */
};

static void poll_pair(struct bcl_shm_port *shm, struct bcl_connection *c)
{
	bcl_assert(shm->port->npairs < BCL_SHM_PEERS);
	shm->pairs[shm->port->npairs++] = &c->pair;
}

static void unpoll_pair(struct bcl_shm_port *shm, struct bcl_connection *c)
{
	struct bcl_port *port = shm->port;
	unsigned i;

	for (i = 0; i < port->npairs; i++)
		if (shm->pairs[i] == &c->pair)
			shm->pairs[i] = shm->pairs[--port->npairs];
}

static void set_attention(struct bcl_shm_port *shm, uint32_t watch,
			  uint32_t value)
{
	atomic_store_explicit(&shm->attention[watch], value,
			      memory_order_relaxed);
}

static void set_silent(struct bcl_shm_port *shm, struct bcl_connection *c,
		       bool silent)
{
	uint32_t i = c->watch;

	bcl_assert(shm->silent[i] == (silent ? NULL : c));
	shm->silent[i] = silent ? c : NULL;
	shm->nsilent += silent ? 1 : -1u;
	if (silent && i >= shm->silent_end)
		shm->silent_end = i + 1;
	if (!shm->nsilent)
		shm->silent_end = 0;
	shm->watch.nwords = (shm->silent_end + 63) / 64;
	set_attention(shm, i, silent ? BCL_ATTENTION_SILENT : 0);
}

bool bcl_watch_each(struct bcl_shm_port *shm,
		    bool (*work)(struct bcl_connection *))
{
	bool more = false;
	unsigned i;

	for (i = 0; i < shm->port->npairs; i++)
		more |= work(shm->pairs[i]->connection);
	for (i = 0; i < shm->silent_end; i++)
		if (shm->silent[i])
			more |= work(shm->silent[i]);
	return more;
}

void bcl_watch_begin(struct bcl_connection *c)
{
	poll_pair(c->shm, c);
}

void bcl_watch_end(struct bcl_connection *c)
{
	if (c->shm->silent[c->watch] == c)
		set_silent(c->shm, c, false);
	else
		unpoll_pair(c->shm, c);
}

static bool listen_again(struct bcl_shm_port *shm, struct bcl_connection *c)
{
	if (!c)
		return false;
	set_silent(shm, c, false);
	c->pair.swept = c->pair.received;
	poll_pair(shm, c);
	return true;
}

/* Poll the pairs again whose bits are set. */
static bool take_active(struct bcl_shm_port *shm)
{
	bool found = false;
	unsigned i;

	for (i = 0; i < shm->watch.nwords; i++) {
		uint64_t bits = 0;

		if (atomic_load_explicit(&shm->active[i], memory_order_relaxed))
			/* partner: bcl_pair_attend() */
			bits = atomic_exchange_explicit(&shm->active[i], 0,
							memory_order_acquire);
		for (; bits; bits &= bits - 1)
			found |= listen_again(
				shm,
				shm->silent[i * 64 +
					    (unsigned)__builtin_ctzll(bits)]);
	}
	return found;
}

/* Look at one silent pair. The sender may have read the attention word just
 * before this side set the word, without a fence. */
static bool look_at_silent(struct bcl_shm_port *shm)
{
	unsigned tries;

	for (tries = 0; tries < shm->silent_end; tries++) {
		struct bcl_connection *c =
			shm->silent[shm->rescan++ % shm->silent_end];

		if (c)
			return bcl_pair_ready(&c->pair) && listen_again(shm, c);
	}
	return false;
}

static void sweep_pairs(struct bcl_shm_port *shm)
{
	struct bcl_port *port = shm->port;
	unsigned i = 0;

	while (i < port->npairs && port->npairs > BCL_SHM_POLLED) {
		struct bcl_pair *pair = shm->pairs[i];

		if (pair->swept == pair->received) {
			unpoll_pair(shm, pair->connection);
			set_silent(shm, pair->connection, true);
		} else {
			pair->swept = pair->received;
			i++;
		}
	}
}

bool bcl_shm_rescan(struct bcl_port *port)
{
	struct bcl_shm_port *shm = port->shm;
	unsigned ticks = shm->watch.idle / BCL_SHM_IDLE_PASSES;
	bool tick = shm->watch.idle % BCL_SHM_IDLE_PASSES == 0;
	bool found = take_active(shm);

	if (!tick)
		return found;
	bcl_shm_count(port);
	if (shm->nsilent)
		found |= look_at_silent(shm);
	if (port->npairs > BCL_SHM_POLLED && ticks % SWEEP_TICKS == 0)
		sweep_pairs(shm);
	return found;
}

void bcl_watch_set(struct bcl_shm_port *shm, uint32_t value)
{
	unsigned i;

	for (i = 0; i < shm->port->npairs; i++)
		set_attention(shm, shm->pairs[i]->connection->watch, value);
	for (i = 0; i < shm->silent_end; i++)
		if (shm->silent[i])
			set_attention(shm, i, value | BCL_ATTENTION_SILENT);
}

/* ---- room ---- */

static bool give_room(struct bcl_connection *c)
{
	bcl_pair_give_room(&c->pair);
	return false;
}

void bcl_shm_give_room(struct bcl_port *port)
{
	port->flags &= ~(unsigned)BCL_PORT_ROOM;
	if (port->shm)
		bcl_watch_each(port->shm, give_room);
}

/* ---- counters ---- */

static void count_pair(struct bcl_counter_page *page, struct bcl_pair *pair)
{
	bcl_count_add(page, BCL_COUNT_shm_messages_line,
		      pair->sent_half - pair->counted[0]);
	bcl_count_add(page, BCL_COUNT_shm_messages_ring,
		      pair->sent_ring - pair->counted[1]);
	bcl_count_add(page, BCL_COUNT_shm_messages_received,
		      pair->received - pair->counted[2]);
	pair->counted[0] = pair->sent_half;
	pair->counted[1] = pair->sent_ring;
	pair->counted[2] = pair->received;
}

static bool count_connection(struct bcl_connection *c)
{
	count_pair(c->shm->port->counters, &c->pair);
	return false;
}

void bcl_shm_count(struct bcl_port *port)
{
	if (port->shm)
		bcl_watch_each(port->shm, count_connection);
}
