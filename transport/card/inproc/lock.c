/* SPDX-License-Identifier: MIT */
/* The card's lock: taken, asked for, let go, and left to one port. */
#include "transport/card/inproc/inproc.h"

#include "transport/counters.h"

enum {
	/* Turns in a row after which a port gets the bias: many, because to
	 * take it away costs as much as a hundred of them without it. */
	ALONE = 1024,
};

/*
 * The lock was left to a port, and is ours now: wait until the port's owner,
 * who may have entered before, is out.
 */
static void take_bias(struct bcl_inproc *host, uint32_t bias)
{
	struct bcl_host_seat *seat = &host->seats[bias - BCL_INPROC_BIASED];

	/* Pairs with the compiler's fence in bcl_inproc_enter(): either it
	 * finds the lock taken, or we find it inside. */
	host->env->barrier(host->env->world);
	/* Acquire: what it did there. Pairs with bcl_inproc_unlock(). */
	while (atomic_load_explicit(&seat->inside, memory_order_acquire))
		host->env->yield(host->env->world);
}

static bool in_use(uint32_t lock)
{
	return lock == BCL_INPROC_HELD || lock == BCL_INPROC_ASKED;
}

bool bcl_inproc_take(struct bcl_inproc *host)
{
	uint32_t before =
		atomic_load_explicit(&host->lock, memory_order_relaxed);

	do
		if (in_use(before))
			return false;
	/* Acquire: pairs with the release of the last holder. */
	while (!atomic_compare_exchange_strong_explicit(
		&host->lock, &before, BCL_INPROC_HELD, memory_order_acquire,
		memory_order_relaxed));
	if (before != BCL_INPROC_FREE)
		take_bias(host, before);
	return true;
}

void bcl_inproc_lock(struct bcl_inproc *host, struct bcl_host_seat *seat)
{
	while (!bcl_inproc_try_lock(host, seat))
		host->env->yield(host->env->world);
}

bool bcl_inproc_ask_or_lock(struct bcl_inproc *host)
{
	/* Release: the holder sees which `rung` it is about. */
	uint32_t before = atomic_exchange_explicit(
		&host->lock, BCL_INPROC_ASKED, memory_order_acq_rel);

	if (in_use(before))
		return false;
	if (before != BCL_INPROC_FREE)
		take_bias(host, before);
	/* Not asked by ourselves: two that take turns could find each other's
	 * ASKED for ever. Acquire: pairs with the above of who asks us. */
	atomic_exchange_explicit(&host->lock, BCL_INPROC_HELD,
				 memory_order_acquire);
	return true;
}

/* Leave the lock to a port that has had it alone for long. */
static bool leave_to(struct bcl_inproc *host, const struct bcl_host_seat *seat)
{
	uint32_t before = BCL_INPROC_HELD;

	if (!seat || seat != host->last) {
		host->last = seat;
		host->alone = 0;
		return false;
	}
	if (++host->alone < ALONE || !host->context->barrier)
		return false;
	/* Not if it is ASKED. Release: pairs with bcl_inproc_take(). */
	if (!atomic_compare_exchange_strong_explicit(
		    &host->lock, &before, seat->bias, memory_order_release,
		    memory_order_relaxed))
		return false;
	atomic_fetch_add_explicit(
		&host->context->counters->values[BCL_COUNT_host_lock_left], 1,
		memory_order_relaxed);
	return true;
}

void bcl_inproc_let_go(struct bcl_inproc *host,
		       const struct bcl_host_seat *seat)
{
	if (leave_to(host, seat))
		return;
	/* Acquire and release: pairs with bcl_inproc_ask_or_lock() and with
	 * the next holder. */
	while (atomic_exchange_explicit(&host->lock, BCL_INPROC_FREE,
					memory_order_acq_rel) ==
	       BCL_INPROC_ASKED) {
		if (!bcl_inproc_take(host) && !bcl_inproc_ask_or_lock(host))
			return;
		bcl_inproc_serve_doorbells(host);
		host->last = NULL;
		host->now = 0;
	}
}
