/* SPDX-License-Identifier: MIT */
/*
 * Waiting for events of a port. A wait spins while an answer is likely to come
 * soon. Then the wait yields, which costs a fraction of a microsecond on a free
 * processor and lets other programs run on a shared one. Then the wait sleeps.
 *
 * With more ranks than processors spinning only delays the rank that is waited
 * for, so the wait yields at once. But if yields return at once for longer than
 * a slice of the scheduler, the other ranks sleep and the processor is free:
 * then the wait spins. A yield that takes longer than half a slice of the
 * scheduler, for each rank that shares the processor, means that another
 * program computes here. Then only a thread that sleeps is woken promptly, so
 * the wait sleeps soon.
 *
 * Beside other programs the system may put two ranks on one processor, and
 * leave both there, though processors are enough. A rank then spins in vain
 * until the rank yields and the peer runs. After a few such waits the rank
 * moves to another processor.
 *
 * No wake-up is lost. The sleeper sets its flags, orders them against its next
 * loads in all processes (bcl_shm_sleep(), bcl_host_sleep()), looks again, and
 * sleeps. A sender stores its message, then loads the flag. A receiver that
 * makes room for a refused sender does the same.
 */
#include "transport/card/card.h"
#include "transport/internal.h"
#include "transport/shm/shm.h"

enum {
	SPINS = 32,		     /* passes between looks at the clock */
	YIELD_SHORT = 1000,	     /* ns: no other thread ran; 220 to 660
				      * were measured, with another thread
				      * 1,200 to 2,800 */
	CROWDED = 100000000,	     /* ns for which a wait assumes so */
	LATE = 3,		     /* waits in a row that show that the peer
				      * runs on this processor */
	MOVE_PAUSE = 1000000,	     /* ns after a move without another one */
	SLEEP_PRICE = 4000,	     /* ns: price of going to sleep and being
				      * woken */
	BLIND = 15,		     /* waits that sleep at once after a wait
				      * that polled for SLEEP_PRICE in vain */
	YIELDS = 20000000,	     /* ns of yielding before a sleep */
	NO_HELPER_SLEEP = 500000000, /* ns, without a helper: the owner has
				      * to watch interfaces and audit shared
				      * memory */
};

/* Adds the rails' descriptors to the port's group, or removes them. False:
 * the system refused one. */
static bool watch_rails(struct bcl_port *port, bool watch)
{
	const struct bcl_env *env = port->context->env;
	int fds[BCL_HOST_FDS];
	unsigned n = bcl_host_fds(port->context, fds), i;
	bool watched = true;

	for (i = 0; i < n; i++) {
		if (!watch)
			env->group_remove(env->world, port->group, fds[i]);
		else if (!env->group_add(env->world, port->group, fds[i]))
			watched = false;
	}
	return watched;
}

bool bcl_port_arm(struct bcl_port *port)
{
	struct bcl_context *context = port->context;
	const struct bcl_env *env = context->env;
	bool quiet = true;

	port->flags |= BCL_PORT_ARMED;
	atomic_fetch_add_explicit(&context->armed, 1, memory_order_relaxed);
	if (port->card) {
		bcl_host_sleep(port, true);
		quiet = watch_rails(port, true);
	}
	if (port->shm)
		quiet &= bcl_shm_sleep(port);
	/* from here on the group's descriptor tells of sockets */
	bcl_port_serve(port, env->now(env->world));
	/* in this order, since the look for events may make room */
	if (quiet && !bcl_port_stash(port) && !bcl_peers_room(port, false))
		return true;
	bcl_port_disarm(port);
	return false;
}

void bcl_port_disarm(struct bcl_port *port)
{
	struct bcl_context *context = port->context;

	if (port->shm)
		bcl_shm_awake(port);
	if (port->card) {
		watch_rails(port, false);
		bcl_host_sleep(port, false);
	}
	context->env->clear(context->env->world, port->object);
	atomic_fetch_sub_explicit(&context->armed, 1, memory_order_relaxed);
	port->flags &= ~(unsigned)BCL_PORT_ARMED;
}

enum bcl_status bcl_arm(struct bcl_port *port)
{
	enum bcl_status status = bcl_port_usable(port);

	if (status)
		return status;
	bcl_presence(port->context);
	if (port->flags & BCL_PORT_ARMED)
		bcl_port_disarm(port);
	if (!(port->flags & BCL_PORT_STASHED))
		bcl_port_release(port);
	if (bcl_port_stash(port) || bcl_peers_room(port, true) ||
	    !bcl_port_arm(port))
		return BCL_ERR_AGAIN;
	return BCL_OK;
}

int bcl_port_fd(struct bcl_port *port)
{
	return bcl_port_usable(port) ? -1 : port->group;
}

/* Sleeps once, at most until `end`. */
static void sleep_once(struct bcl_port *port, uint64_t end)
{
	struct bcl_context *context = port->context;
	const struct bcl_env *env = context->env;
	uint64_t now, until = end;

	if (!bcl_port_arm(port))
		return;
	now = env->now(env->world);
	if (context->card) {
		uint64_t deadline = bcl_host_deadline(context);

		if (deadline < until)
			until = deadline;
	}
	if (!context->helper && (context->card || !env->sleeps_at_once) &&
	    until > now + NO_HELPER_SLEEP)
		until = now + NO_HELPER_SLEEP;
	bcl_count(port->counters, core_sleeps);
	if (until > now)
		env->wait(env->world, port->group, until);
	bcl_port_disarm(port);
	bcl_port_serve(port, env->now(env->world));
}

/* Polls until `end`. True: there is an event. */
static bool spin_until(struct bcl_port *port, uint64_t end)
{
	const struct bcl_env *env = port->context->env;

	do {
		for (unsigned i = 0; i < SPINS; i++)
			if (bcl_port_stash(port))
				return true;
	} while (env->now(env->world) < end);
	return false;
}

void bcl_port_late(struct bcl_port *port, uint64_t ns)
{
	const struct bcl_env *env = port->context->env;
	bool ran = ns >= YIELD_SHORT && ns <= port->context->yield_long;
	uint64_t now;

	port->spin.late =
		ran && !port->context->crowded ? port->spin.late + 1 : 0;
	if (bcl_likely(port->spin.late < LATE))
		return;
	port->spin.late = 0;
	now = env->now(env->world);
	if (now - port->spin.moved < MOVE_PAUSE)
		return;
	port->spin.moved = now;
	bcl_count(port->counters, core_moves);
	env->move(env->world);
}

/* Polls and yields until `end`, or until another program has the processor.
 * True: there is an event. */
static bool yield_until(struct bcl_port *port, uint64_t end)
{
	const struct bcl_env *env = port->context->env;
	uint64_t now = env->now(env->world);

	while (now < end) {
		uint64_t before = now;

		env->yield(env->world);
		now = env->now(env->world);
		bcl_count(port->counters, core_yields);
		if (now - before >= YIELD_SHORT)
			port->spin.alone = 0;
		else if (port->spin.alone < BCL_PORT_ALONE)
			port->spin.alone += (uint32_t)(now - before);
		if (now - before > port->context->yield_long) {
			bcl_count(port->counters, core_yields_long);
			port->spin.crowded_until = now + CROWDED;
			end = now;
		}
		/* other threads may have run for long: look at the network
		 * now */
		port->network.empty = 1;
		if (bcl_port_stash(port)) {
			bcl_port_late(port, now - before);
			return true;
		}
	}
	return false;
}

/* Another program computes here: polls until `end`, unless that was in vain
 * lately. True: there is an event. */
static bool spin_when_crowded(struct bcl_port *port, uint64_t end)
{
	if (port->spin.blind) {
		port->spin.blind--;
		return false;
	}
	if (spin_until(port, end))
		return true;
	port->spin.blind = BLIND;
	return false;
}

static uint64_t earlier_time(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

enum bcl_status bcl_wait(struct bcl_port *port, uint64_t timeout)
{
	enum bcl_status status = bcl_port_usable(port);
	struct bcl_context *context;
	const struct bcl_env *env;
	uint64_t start, end;

	if (status)
		return status;
	context = port->context;
	env = context->env;
	bcl_presence(context);
	if (port->flags & BCL_PORT_ARMED)
		bcl_port_disarm(port);
	if (!(port->flags & BCL_PORT_STASHED))
		bcl_port_release(port);
	if (bcl_port_stash(port))
		return BCL_OK;
	if (bcl_peers_room(port, true))
		return BCL_ERR_AGAIN;
	start = env->now(env->world);
	end = timeout < UINT64_MAX - start ? start + timeout : UINT64_MAX;
	if (start < port->spin.crowded_until) {
		if (spin_when_crowded(port,
				      earlier_time(start + SLEEP_PRICE, end)))
			return BCL_OK;
	} else if (!env->sleeps_at_once) {
		if (bcl_port_may_spin(port) &&
		    spin_until(port, earlier_time(start + context->config.spin,
						  end))) {
			port->spin.late = 0;
			return BCL_OK;
		}
		/* Without room the wait depends on other processes, which
		 * want to run. */
		if (!port->nrefused &&
		    yield_until(port, earlier_time(start + YIELDS, end)))
			return BCL_OK;
	}
	while (!bcl_port_stash(port)) {
		if (bcl_peers_room(port, true))
			return BCL_ERR_AGAIN;
		if (env->now(env->world) >= end)
			return BCL_ERR_TIMEOUT;
		sleep_once(port, end);
	}
	return BCL_OK;
}
