/* SPDX-License-Identifier: MIT */
/* The card's lock: taking, asking the holder, releasing, and the bias for one
 * port. The states are in inproc.h. */
#include "card/inproc/inproc.h"

#include "env/counters.h"

enum {
	/*
	 * Turns in a row after which a port gets the bias. The number is large,
	 * because revoking a bias costs as much as a hundred turns without a
	 * bias.
	 */
	ALONE = 1024,
};

/*
 * The caller holds the lock, which had a bias for a port. Wait until the owner
 * of the port, who may have entered before, has left.
 */
static void take_bias(struct bcl_inproc *host, uint32_t bias)
{
	struct bcl_host_seat *seat = &host->seats[bias - BCL_INPROC_BIASED];

	bcl_assert(bias - BCL_INPROC_BIASED < BCL_INPROC_PORTS);
	/* Pairs with the compiler's fence in bcl_inproc_enter(): either the
	 * owner finds the lock taken, or this thread finds seat->inside. */
	host->setup.env->barrier(host->setup.env->world);
	/* Acquire: the owner's work under the bias. Pairs with
	 * bcl_inproc_unlock(). */
	while (atomic_load_explicit(&seat->inside, memory_order_acquire))
		host->setup.env->yield(host->setup.env->world);
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
	/* Acquire: pairs with the release by the last holder. */
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
		host->setup.env->yield(host->setup.env->world);
}

bool bcl_inproc_ask_or_lock(struct bcl_inproc *host)
{
	/* Release: the holder sees the `rung` of this thread. Acquire: if the
	 * lock was free, the work of the last holder. */
	uint32_t before = atomic_exchange_explicit(
		&host->lock, BCL_INPROC_ASKED, memory_order_acq_rel);

	if (in_use(before))
		return false;
	if (before != BCL_INPROC_FREE)
		take_bias(host, before);
	/*
	 * Back to HELD, so that this thread's own ASKED does not remain:
	 * otherwise two threads that take turns could find each other's ASKED
	 * for ever. Acquire: pairs with the exchange above by a thread that
	 * asks this holder.
	 */
	atomic_exchange_explicit(&host->lock, BCL_INPROC_HELD,
				 memory_order_acquire);
	return true;
}

/* Give the lock a bias for a port that was the only user for long enough. */
static bool leave_to(struct bcl_inproc *host, const struct bcl_host_seat *seat)
{
	uint32_t before = BCL_INPROC_HELD;

	if (!seat || seat != host->last) {
		host->last = seat;
		host->alone = 0;
		return false;
	}
	if (++host->alone < ALONE || !host->setup.barrier)
		return false;
	/* Fails if the lock is ASKED. Release: pairs with bcl_inproc_take(). */
	if (!atomic_compare_exchange_strong_explicit(
		    &host->lock, &before, seat->bias, memory_order_release,
		    memory_order_relaxed))
		return false;
	atomic_fetch_add_explicit(
		&host->setup.counters->values[BCL_COUNT_host_lock_left], 1,
		memory_order_relaxed);
	return true;
}

bool bcl_inproc_let_go(struct bcl_inproc *host,
		       const struct bcl_host_seat *seat)
{
	if (leave_to(host, seat))
		return false;
	/* Acquire: pairs with bcl_inproc_ask_or_lock(). Release: pairs with the
	 * next holder. */
	return atomic_exchange_explicit(&host->lock, BCL_INPROC_FREE,
					memory_order_acq_rel) ==
		       BCL_INPROC_ASKED &&
	       (bcl_inproc_take(host) || bcl_inproc_ask_or_lock(host));
}
