/* SPDX-License-Identifier: MIT */
/* The sleep of a port's owner: what must not be left undone, and what senders
 * are told. See shm.h. */
#include "transport/shm/audit.h"
#include "transport/shm/port.h"

/* A peer that had no room for a message also wakes the sleeper when there is
 * room. */
static bool ask_for_room(struct bcl_connection *c)
{
	_Atomic uint32_t *word = &c->shm->attention[c->watch];

	if (c->pair.peer->refused)
		atomic_store_explicit(
			word,
			atomic_load_explicit(word, memory_order_relaxed) |
				BCL_ATTENTION_ROOM,
			memory_order_relaxed);
	return false;
}

static bool is_ready(struct bcl_connection *c)
{
	return bcl_pair_ready(&c->pair);
}

/* True if a copy or an access can go on just now. */
static bool copies_ready(struct bcl_connection *c)
{
	return bcl_pulls_ready(c) || bcl_rma_ready(c);
}

bool bcl_shm_sleep(struct bcl_port *port)
{
	struct bcl_shm_port *shm = port->shm;
	const struct bcl_env *env = port->context->env;
	uint32_t work, idle = BCL_WORK_COPY | BCL_WORK_LEAVE;
	bool untold;

	if (!shm)
		return true;
	if (port->context->helper)
		idle |= BCL_WORK_SOCKETS;
	untold = bcl_watch_each(shm, bcl_rma_sleep);
	bcl_audit_sleep(shm);
	shm->sleeps += BCL_ATTENTION_COUNT;
	bcl_watch_set(shm, shm->sleeps | BCL_ATTENTION_SLEEPING);
	if (port->nrefused)
		bcl_watch_each(shm, ask_for_room);
	/* partner: the store and the load of each sender, kept in order by the
	 * barrier, or the fence in bcl_pair_attend() */
	if (port->context->barrier)
		env->barrier(env->world);
	atomic_thread_fence(memory_order_seq_cst);
	work = atomic_load_explicit(&shm->watch.work, memory_order_relaxed);
	/* neither copies that wait for the peer nor sockets that the helper
	 * serves are a reason to stay awake */
	return !untold && !(work & ~idle) && !bcl_watch_each(shm, is_ready) &&
	       !bcl_watch_each(shm, copies_ready);
}

void bcl_shm_awake(struct bcl_port *port)
{
	if (!port->shm)
		return;
	atomic_store_explicit(&port->shm->audit_wanted, false,
			      memory_order_relaxed);
	bcl_watch_set(port->shm, 0);
}
