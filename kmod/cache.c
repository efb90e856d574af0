// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * The cache of pins. Requests, channels and registered memories of the same
 * pages are users of one pin. A pin that loses its last user is kept for
 * further ones: the cards of a process keep so many pages, those that were used
 * last. Kept pins give way where pages reach a limit.
 *
 * A new user gets a pin only if the pages are what a new pin would get. The
 * look-up and the notice of changes (mapping.c) take the same lock, and while
 * the kernel changes any mapping of the process, nothing is found: the change
 * may have happened already, but be announced to no pin yet that was made
 * meanwhile.
 *
 * Only a pin of exactly the same pages serves. Memory is gone as a whole, so
 * users of a greater pin would lose memory that the process still has.
 */
#include <linux/moduleparam.h>

#include "host.h"
#include "pin.h"

static unsigned int kept_pages = 16384;
module_param(kept_pages, uint, 0644);
MODULE_PARM_DESC(kept_pages, "Pages that each card keeps pinned for further "
			     "messages (16384)");

/* ---- under host->lock ---- */

static void keep(struct bcl_kmod_host *host, struct bcl_kmod_pin *pin)
{
	pin->kept = true;
	list_add_tail(&pin->link, &host->kept);
	host->count.pages_kept += pin->npages;
}

static void unkeep(struct bcl_kmod_host *host, struct bcl_kmod_pin *pin)
{
	pin->kept = false;
	list_del(&pin->link);
	host->count.pages_kept -= pin->npages;
}

static void release_later(struct bcl_kmod_host *host, struct bcl_kmod_pin *pin)
{
	list_add_tail(&pin->link, &host->unpinned);
	schedule_work(&host->release);
}

static void drop(struct bcl_kmod_host *host, struct bcl_kmod_pin *pin)
{
	unkeep(host, pin);
	release_later(host, pin);
}

/* Drop the pins that were used least recently, until at most `most` pages are
 * kept. */
static void drop_beyond(struct bcl_kmod_host *host, u64 most)
{
	while (host->count.pages_kept > most)
		drop(host,
		     list_first_entry(&host->kept, struct bcl_kmod_pin, link));
}

/* A file learns at the release that the card has written its pages, and shall
 * not wait for that. */
static bool may_keep(const struct bcl_kmod_pin *pin, bool dirty)
{
	return bcl_kmod_mapping_holds(pin) &&
	       pin->npages <= READ_ONCE(kept_pages) &&
	       (pin->anonymous || !dirty);
}

bool bcl_kmod_cache_keeps(const struct bcl_kmod_pin *pin)
{
	return may_keep(pin, true);
}

void bcl_kmod_unpin(struct bcl_kmod_host *host, struct bcl_kmod_pin *pin)
{
	if (--pin->users)
		return;
	if (may_keep(pin, pin->dirty))
		keep(host, pin);
	else
		release_later(host, pin);
	drop_beyond(host, READ_ONCE(kept_pages));
}

struct bcl_kmod_pin *bcl_kmod_cache_take(struct bcl_kmod_host *host,
					 unsigned long first,
					 unsigned long npages, bool write)
{
	struct bcl_kmod_pin *pin =
		bcl_kmod_mapping_find(host, first, npages, write);

	if (!pin)
		return NULL;
	if (pin->kept)
		unkeep(host, pin);
	pin->users++;
	return pin;
}

/* ---- in process context ---- */

struct bcl_kmod_pin *bcl_kmod_cache_find(struct bcl_kmod_host *host,
					 unsigned long first,
					 unsigned long npages, bool write)
{
	struct bcl_kmod_pin *pin;

	spin_lock_bh(&host->lock);
	pin = bcl_kmod_cache_take(host, first, npages, write);
	spin_unlock_bh(&host->lock);
	return pin;
}

bool bcl_kmod_cache_give(struct bcl_kmod_host *host, unsigned long npages)
{
	bool given;
	u64 kept;

	spin_lock_bh(&host->lock);
	kept = host->count.pages_kept;
	given = kept;
	drop_beyond(host, kept - min_t(u64, kept, npages));
	spin_unlock_bh(&host->lock);
	bcl_kmod_unpin_all(host);
	return given;
}

void bcl_kmod_cache_sweep(struct bcl_kmod_host *host)
{
	struct bcl_kmod_pin *pin, *next;

	spin_lock_bh(&host->lock);
	list_for_each_entry_safe (pin, next, &host->kept, link)
		if (!bcl_kmod_mapping_holds(pin))
			drop(host, pin);
	spin_unlock_bh(&host->lock);
	bcl_kmod_unpin_all(host);
}
