/* SPDX-License-Identifier: MIT */
/* The end of a connection while both ports live; see leave.h. */
#include "transport/shm/leave.h"

#include "transport/shm/message.h"
#include "transport/shm/port.h"

/* Start to wait for the peer's answer, until the deadline; or stop waiting. */
static void set_leaving(struct bcl_connection *c, bool leaving)
{
	struct bcl_shm_port *shm = c->shm;
	const struct bcl_env *env = bcl_shm_env(shm);

	if (c->awaited == leaving)
		return;
	c->awaited = leaving;
	pthread_mutex_lock(&shm->lock);
	/* the deadline may have passed: then the connection is not UP */
	if (c->state == BCL_CONNECTION_UP) {
		c->leaving = leaving;
		c->deadline = env->now(env->world) +
			      bcl_shm_context(shm)->config.peer_timeout;
		shm->waiting += leaving ? 1 : -1u;
		bcl_shm_want(shm, BCL_WORK_SOCKETS);
	}
	pthread_mutex_unlock(&shm->lock);
}

static void send_word(struct bcl_connection *c, enum bcl_leave_word word)
{
	c->said = (uint8_t)word;
	bcl_outbox_post(c, BCL_SHM_LEAVE, word, NULL, 0);
}

/* True if all operations that this side had begun with the peer have ended. */
static bool is_idle(const struct bcl_connection *c)
{
	const struct bcl_large_tables *t = c->large.tables;
	unsigned i;

	for (i = 0; t && i < BCL_CLAIMS; i++)
		if (t->offers[i].kind || t->pulls[i].kind)
			return false;
	return !c->remotes || !c->remotes->accesses;
}

/* The number of messages, notifications and channels that named the peer to the
 * program. Completions of the program's own operations do not count. */
static uint64_t times_named(const struct bcl_connection *c)
{
	return c->pair.received + c->events;
}

/* Part the peer from the connection: no operation begins any more. */
static void part_peer(struct bcl_connection *c)
{
	c->reserved = 0;
	bcl_posted_end(c);
	bcl_peer_part(c->pair.peer);
	set_leaving(c, true);
}

static bool peer_ends(const struct bcl_connection *c)
{
	return c->heard == BCL_LEAVE_END ||
	       (c->heard == BCL_LEAVE_LEAVE && !c->pair.peer->opened);
}

bool bcl_leave_is_over(const struct bcl_connection *c)
{
	return c->said == BCL_LEAVE_END && c->heard == BCL_LEAVE_END &&
	       c->outbox.head == c->outbox.tail;
}

bool bcl_leave_is_quiet(const struct bcl_connection *c)
{
	return c->pair.peer->closed && times_named(c) == c->named;
}

static bool is_kept(const struct bcl_connection *c)
{
	return c->pair.peer->opened && !bcl_leave_has_begun(c);
}

/* True if a word is due: *word. LEAVE and END are sent when all operations of
 * this side have ended. */
static bool is_due(const struct bcl_connection *c, enum bcl_leave_word *word)
{
	if (c->said == BCL_LEAVE_END)
		return false;
	if (is_kept(c)) {
		*word = BCL_LEAVE_STAY;
		return c->said == BCL_LEAVE_LEAVE || c->unanswered;
	}
	*word = peer_ends(c) ? BCL_LEAVE_END : BCL_LEAVE_LEAVE;
	return peer_ends(c) ||
	       (c->pair.peer->closed && c->said == BCL_LEAVE_STAY);
}

bool bcl_leave_progress(struct bcl_connection *c)
{
	bool waits = c->outbox.head != c->outbox.tail;
	enum bcl_leave_word word;

	if (is_kept(c))
		set_leaving(c, false);
	if (!is_due(c, &word))
		return bcl_leave_has_begun(c) && waits;
	if (word != BCL_LEAVE_STAY)
		set_leaving(c, true);
	/* one word at a time: a program that closes and opens the peer
	 * repeatedly must not fill the outbox */
	if (waits || (word != BCL_LEAVE_STAY && !is_idle(c)))
		return true;
	if (word == BCL_LEAVE_END)
		part_peer(c);
	c->unanswered = false;
	send_word(c, word);
	return word == BCL_LEAVE_END;
}

void bcl_leave_begin(struct bcl_connection *c)
{
	c->reserved = 0;
	c->named = times_named(c);
	if (bcl_leave_progress(c))
		bcl_shm_want(c->shm, BCL_WORK_LEAVE);
}

bool bcl_leave_take(struct bcl_connection *c, uint64_t word)
{
	if (word > BCL_LEAVE_END || c->heard == BCL_LEAVE_END)
		return false;
	c->heard = (uint8_t)word;
	bcl_shm_want(c->shm, BCL_WORK_LEAVE);
	if (word == BCL_LEAVE_END) {
		/* the peer reads no offers any more */
		bcl_offers_end(c, BCL_ERR_DEAD);
		part_peer(c);
	} else if (word == BCL_LEAVE_STAY && c->said != BCL_LEAVE_END) {
		set_leaving(c, false);
	}
	c->unanswered = word == BCL_LEAVE_LEAVE;
	return true;
}
