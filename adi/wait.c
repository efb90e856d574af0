/* SPDX-License-Identifier: MIT */
/* Waiting for requests. Without threads the caller turns for a while and then
 * sleeps in bcl_wait(). With threads all waiting threads turn, and release the
 * lock after a turn that found nothing, or when another thread wants the lock.
 * After a while the threads sleep (lock.c). */
#include "adi/job.h"
#include "adi/progress.h"
#include "adi/request.h"
#include "adi/schedule.h"
#include "transport/context.h"
#include "transport/port.h"

enum {
	SPINS = 32,	   /* turns between looks at the clock */
	YIELDS = 20000000, /* ns of yielding before a sleep */
};

bool bcl_adi_wait_turn(struct bcl_adi *adi)
{
	bool busy = bcl_adi_turn(adi);

	if (bcl_unlikely(busy && adi->threads) &&
	    atomic_load_explicit(&adi->wanted, memory_order_relaxed))
		bcl_adi_breathe(adi, true);
	return busy;
}

static void yield(struct bcl_adi *adi, struct bcl_adi_idle *idle, uint64_t now)
{
	const struct bcl_env *env = adi->env;
	uint64_t took;

	bcl_count(adi->counters, core_yields);
	if (adi->threads)
		bcl_adi_breathe(adi, true);
	else
		env->yield(env->world);
	took = env->now(env->world) - now;
	if (took > adi->context->yield_long)
		idle->until = now;
	idle->yielded = adi->threads ? 0 : took;
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
			bcl_adi_breathe(adi, false);
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

void bcl_adi_came(struct bcl_adi *adi, struct bcl_adi_idle *idle)
{
	if (idle->until)
		bcl_port_late(adi->port, idle->yielded);
	*idle = (struct bcl_adi_idle){ 0 };
}

void bcl_adi_sleep(struct bcl_adi *adi, uint64_t ns)
{
	uint64_t end = adi->env->now(adi->env->world) + ns;

	bcl_adi_sleep_until(adi, NULL, 0, end);
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
		bcl_adi_sleep_until(adi, NULL, 0, end);
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
	if (unwoken && end > now + BCL_ADI_NAP)
		end = now + BCL_ADI_NAP;
	if (end <= now)
		return true;
	adi->napping |= unwoken;
	bcl_adi_sleep_until(adi, requests, n, end);
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
			bcl_adi_came(adi, &idle);
		else
			rest(adi, &idle, adi->chores, requests, n, UINT64_MAX);
		busy = bcl_adi_wait_turn(adi);
	}
}

enum bcl_status bcl_adi_wait_one(struct bcl_adi *adi,
				 struct bcl_adi_request *request)
{
	unsigned index;

	return bcl_adi_wait_any(adi, &request, 1, &index);
}

enum bcl_status bcl_adi_schedule_run(struct bcl_adi *adi,
				     struct bcl_adi_schedule *schedule)
{
	struct bcl_adi_request request = { .state = BCL_REQUEST_NEW };
	enum bcl_status status;

	bcl_adi_schedule_begin(adi, schedule, &request);
	status = bcl_adi_wait_done(adi, &request);
	return status ? status : request.status.status;
}
