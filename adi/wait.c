/* SPDX-License-Identifier: MIT */
/*
 * Waiting for requests, and the lock of a job with threads. Without threads the
 * caller turns for a while and then sleeps in bcl_wait(). With threads all
 * waiting threads turn, and release the lock after a turn that found nothing, or
 * when another thread wants the lock.
 * After a while the threads sleep on the port and on an object of the job.
 * Another thread wakes the sleepers
 *  - when it completes a request that a sleeper waits for;
 *  - when it leaves the library after a poll, which disarmed the port, and the
 *    port already has events;
 *  - when it leaves chores, and no sleeper wakes up by itself for the chores.
 *
 * The last sleeper that gets up clears the object: a thread that is still on
 * its way to sleep finds the object set.
 */
#include <errno.h>
#include <string.h>

#include "adi/job.h"
#include "adi/progress.h"
#include "adi/request.h"
#include "transport/context.h"
#include "transport/port.h"

enum {
	SPINS = 32,	     /* turns between looks at the clock */
	YIELDS = 20000000,   /* ns of yielding before a sleep */
	YIELD_LONG = 700000, /* ns of one yield: another process computes
			      * here */
	NAP = 1000000,	     /* ns of a sleep from which nothing might wake
			      * us */
};

/* ---- the lock --------------------------------------------------------------
 */

bool bcl_adi_is_held(const struct bcl_adi *adi)
{
	return !adi->threads ||
	       (adi->held && pthread_equal(adi->owner, pthread_self()));
}

/* Notes that this thread has the lock. */
static void own(struct bcl_adi *adi)
{
#ifdef BCL_ASSERTIONS
	adi->owner = pthread_self();
	adi->held++;
#else
	(void)adi;
#endif
}

static void lock(struct bcl_adi *adi)
{
	pthread_mutex_lock(&adi->lock);
	own(adi);
}

static void unlock(struct bcl_adi *adi)
{
	bcl_assert(bcl_adi_is_held(adi));
#ifdef BCL_ASSERTIONS
	adi->held--;
#endif
	pthread_mutex_unlock(&adi->lock);
}

static enum bcl_status refuse_threads(const struct bcl_adi *adi,
				      const char *call)
{
	bcl_log(&adi->context->config, BCL_LOG_ERROR, "adi",
		"threads (BCL_ADI_THREADS) have nothing to wait on: %s: %s",
		call, strerror(errno));
	return BCL_ERR_SYSTEM;
}

enum bcl_status bcl_adi_threads_open(struct bcl_adi *adi)
{
	const struct bcl_env *env = adi->env;
	pthread_mutexattr_t attributes;
	int members[2];

	adi->object = env->object_open(env->world);
	if (adi->object < 0)
		return refuse_threads(adi, "eventfd");
	members[0] = adi->object;
	members[1] = bcl_port_fd(adi->port);
	adi->group = env->group_open(env->world, members, 2);
	if (adi->group < 0) {
		refuse_threads(adi, "epoll");
		env->object_close(env->world, adi->object);
		return BCL_ERR_SYSTEM;
	}
	/* recursive: the packet layer's callbacks hold the lock, and send */
	pthread_mutexattr_init(&attributes);
	pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&adi->lock, &attributes);
	pthread_mutexattr_destroy(&attributes);
	adi->threads = true;
	adi->plain_in = ~adi->port->fork_generation;
	return BCL_OK;
}

void bcl_adi_threads_close(struct bcl_adi *adi)
{
	if (!adi->threads)
		return;
	pthread_mutex_destroy(&adi->lock);
	adi->env->object_close(adi->env->world, adi->group);
	adi->env->object_close(adi->env->world, adi->object);
}

enum bcl_status bcl_adi_enter_slowly(struct bcl_adi *adi)
{
	/* the thread that holds the lock may not exist in a forked child */
	if (bcl_port_forked(adi->port))
		return BCL_ERR_FORKED;
	if (!adi->threads)
		return BCL_OK;
	if (!pthread_mutex_trylock(&adi->lock)) {
		own(adi);
		return BCL_OK;
	}
	/* a thread that waits reads `wanted` and lets this thread in */
	atomic_fetch_add_explicit(&adi->wanted, 1, memory_order_relaxed);
	lock(adi);
	atomic_fetch_sub_explicit(&adi->wanted, 1, memory_order_relaxed);
	return BCL_OK;
}

static void wake(struct bcl_adi *adi)
{
	adi->wake = false;
	adi->env->wake(adi->env->world, adi->object);
}

void bcl_adi_unlock_threads(struct bcl_adi *adi)
{
	if (adi->sleepers) {
		if (adi->turned &&
		    (adi->stalled || bcl_arm(adi->port) != BCL_OK))
			adi->wake = true;
		adi->turned = false;
		if (adi->chores && !adi->napping)
			adi->wake = true;
		if (adi->wake)
			wake(adi);
	}
	unlock(adi);
}

/* Releases the lock for a moment, and yields if another thread wants the
 * lock. */
static void breathe(struct bcl_adi *adi, bool yield)
{
	if (adi->sleepers && adi->wake)
		wake(adi);
	unlock(adi);
	if (yield || atomic_load_explicit(&adi->wanted, memory_order_relaxed))
		adi->env->yield(adi->env->world);
	lock(adi);
}

bool bcl_adi_wait_turn(struct bcl_adi *adi)
{
	bool busy = bcl_adi_turn(adi);

	if (bcl_unlikely(busy && adi->threads) &&
	    atomic_load_explicit(&adi->wanted, memory_order_relaxed))
		breathe(adi, true);
	return busy;
}

/* Sleeps until the port has events, one of the requests is done, or `until`. */
static void sleep_once(struct bcl_adi *adi,
		       struct bcl_adi_request *const *requests, unsigned n,
		       uint64_t until)
{
	const struct bcl_env *env = adi->env;
	uint64_t now;
	unsigned i;

	if (bcl_arm(adi->port) != BCL_OK)
		return;
	adi->turned = false;
	/* without a helper only this process serves the card's timers */
	if (!adi->context->helper) {
		now = env->now(env->world);
		if (until > now + NAP)
			until = now + NAP;
	}
	if (!adi->threads) {
		env->wait(env->world, bcl_port_fd(adi->port), until);
		return;
	}
	for (i = 0; i < n; i++) {
		if (requests[i])
			requests[i]->end |= BCL_END_WAKE;
	}
	if (adi->sleepers++ && adi->wake)
		wake(adi);
	unlock(adi);
	env->wait(env->world, adi->group, until);
	lock(adi);
	if (!--adi->sleepers) {
		env->clear(env->world, adi->object);
		adi->wake = false;
	}
	for (i = 0; i < n; i++) {
		if (requests[i])
			requests[i]->end &= (uint8_t)~BCL_END_WAKE;
	}
}

/* Sleeps while an event waits for memory: bcl_wait() and bcl_arm() would
 * release the data of that event. */
static void nap_stalled(struct bcl_adi *adi, uint64_t end)
{
	const struct bcl_env *env = adi->env;
	uint64_t until = env->now(env->world) + NAP;

	if (adi->threads)
		unlock(adi);
	env->wait(env->world, adi->port->object, until < end ? until : end);
	if (adi->threads)
		lock(adi);
}

/* ---- resting ----------------------------------------------------------------
 */

static void yield(struct bcl_adi *adi, struct bcl_adi_idle *idle, uint64_t now)
{
	const struct bcl_env *env = adi->env;

	bcl_count(adi->counters, core_yields);
	if (adi->threads)
		breathe(adi, true);
	else
		env->yield(env->world);
	if (env->now(env->world) - now > YIELD_LONG)
		idle->until = now;
	idle->turns = SPINS; /* spin no more */
}

bool bcl_adi_linger(struct bcl_adi *adi, struct bcl_adi_idle *idle)
{
	const struct bcl_env *env = adi->env;
	bool spins = !adi->context->crowded;
	uint64_t now;

	if (bcl_unlikely(adi->stalled) || env->sleeps_at_once)
		return false;
	if (spins && ++idle->turns < SPINS) {
		if (adi->threads)
			breathe(adi, false);
		return true;
	}
	now = env->now(env->world);
	if (!idle->until)
		idle->until =
			now + YIELDS + (spins ? adi->context->config.spin : 0);
	if (now >= idle->until)
		return false;
	if (spins && idle->until - now > YIELDS) {
		idle->turns = 0;
		return true;
	}
	yield(adi, idle, now);
	return true;
}

void bcl_adi_sleep(struct bcl_adi *adi, uint64_t ns)
{
	uint64_t end = adi->env->now(adi->env->world) + ns;

	if (bcl_unlikely(adi->stalled))
		nap_stalled(adi, end);
	else
		sleep_once(adi, NULL, 0, end);
}

/*
 * Rests after a turn that found nothing, at most until `end`. `unwoken`:
 * nothing wakes the caller for some of what it waits for. Returns true if the
 * caller slept or might have slept, false if the rest was a moment only.
 */
static bool rest(struct bcl_adi *adi, struct bcl_adi_idle *idle, bool unwoken,
		 struct bcl_adi_request *const *requests, unsigned n,
		 uint64_t end)
{
	const struct bcl_env *env = adi->env;
	uint64_t now;

	if (bcl_unlikely(adi->stalled)) {
		nap_stalled(adi, end);
		return true;
	}
	if (!adi->threads && !unwoken) {
		now = env->now(env->world);
		if (bcl_adi_keepalive(adi, now, &end))
			return false;
		bcl_wait(adi->port, end > now ? end - now : 0);
		return true;
	}
	if (bcl_adi_linger(adi, idle))
		return false;
	now = env->now(env->world);
	if (bcl_adi_keepalive(adi, now, &end))
		return false;
	if (unwoken && end > now + NAP)
		end = now + NAP;
	if (end <= now)
		return true;
	adi->napping |= unwoken;
	sleep_once(adi, requests, n, end);
	/* if more threads nap, the next thread that leaves chores wakes them in
	 * vain, once */
	adi->napping = false;
	return true;
}

void bcl_adi_rest(struct bcl_adi *adi, struct bcl_adi_idle *idle, uint64_t end)
{
	rest(adi, idle, adi->chores, NULL, 0, end);
}

void bcl_adi_idle(struct bcl_adi *adi, struct bcl_adi_idle *idle)
{
	rest(adi, idle, true, NULL, 0, UINT64_MAX);
}

enum bcl_status bcl_adi_wait_any(struct bcl_adi *adi,
				 struct bcl_adi_request *const *requests,
				 unsigned n, unsigned *index)
{
	struct bcl_adi_idle idle = { 0 };
	bool busy = true;
	unsigned i;

	for (;;) {
		for (i = 0; i < n; i++) {
			if (requests[i] &&
			    requests[i]->state == BCL_REQUEST_DONE) {
				*index = i;
				return BCL_OK;
			}
		}
		if (adi->broken)
			return adi->broken;
		if (busy)
			idle = (struct bcl_adi_idle){ 0 };
		else
			rest(adi, &idle, adi->chores, requests, n, UINT64_MAX);
		busy = bcl_adi_wait_turn(adi);
	}
}
