/* SPDX-License-Identifier: MIT */
/*
 * The lock of a job with threads, and sleep, in which a thread releases the
 * lock. The threads sleep on the port and on an object of the job. Another
 * thread wakes the sleepers
 *  - when the thread completes a request for which a sleeper waits;
 *  - when the thread leaves the library after a poll, which disarmed the port,
 *    and the port already has events;
 *  - when the thread leaves chores, and no sleeper wakes up by itself for the
 *    chores.
 *
 * The last sleeper that gets up clears the object: a thread that is still on
 * its way to sleep finds the object set.
 */
#include <errno.h>
#include <string.h>

#include "adi/job.h"
#include "adi/request.h"
#include "transport/port.h"

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
#endif
	adi->held++;
}

static void lock(struct bcl_adi *adi)
{
	pthread_mutex_lock(&adi->lock);
	own(adi);
}

static void unlock(struct bcl_adi *adi)
{
	bcl_assert(bcl_adi_is_held(adi));
	adi->held--;
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
	/* not while an upcall looks at an event, which bcl_arm() would release:
	 * the outermost leave does the work */
	if (adi->sleepers && adi->held == 1) {
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

void bcl_adi_breathe(struct bcl_adi *adi, bool yield)
{
	if (adi->sleepers && adi->wake)
		wake(adi);
	unlock(adi);
	if (yield || atomic_load_explicit(&adi->wanted, memory_order_relaxed))
		adi->env->yield(adi->env->world);
	lock(adi);
}

/* ---- sleep ---- */

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
		if (until > now + BCL_ADI_NAP)
			until = now + BCL_ADI_NAP;
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
	uint64_t until = env->now(env->world) + BCL_ADI_NAP;

	if (adi->threads)
		unlock(adi);
	env->wait(env->world, adi->port->object, until < end ? until : end);
	if (adi->threads)
		lock(adi);
}

void bcl_adi_sleep_until(struct bcl_adi *adi,
			 struct bcl_adi_request *const *requests, unsigned n,
			 uint64_t end)
{
	if (bcl_unlikely(adi->stalled))
		nap_stalled(adi, end);
	else
		sleep_once(adi, requests, n, end);
}
