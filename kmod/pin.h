/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Pins: pages of the process that the card may access until the release. Pinned
 * pages count against the process's RLIMIT_MEMLOCK, and against the user's
 * limit (user.h), also those that the card keeps for further users (cache.c).
 */
#ifndef BCL_KMOD_PIN_H
#define BCL_KMOD_PIN_H

#include <bcl/status.h>
#include <linux/err.h>
#include <linux/interval_tree.h>
#include <linux/list.h>
#include <linux/types.h>
#include <linux/workqueue.h>

struct bcl_kmod_host;
struct mmu_notifier;
struct mmu_notifier_range;

struct bcl_kmod_pin {
	unsigned long npages;
	bool writable;
	bool anonymous; /* no page is of a file */
	/* Protected by host->lock: */
	struct list_head link; /* in host->kept, or in host->unpinned */
	unsigned int users;
	bool kept;  /* without users, for further ones */
	bool dirty; /* the card has written there */
	/* The addresses no longer name the pages; see mapping.c. Never false
	 * again. */
	bool gone;
	/* The process may have other rights. Never false again. */
	bool stale;
	/* Protected by host->mapping_lock: */
	bool watched;		/* pinned, and not gone at that time */
	bool unsure;		/* in doubt, or being compared */
	struct list_head doubt; /* in host->doubts */
	unsigned long from, to; /* first and last address in doubt */
	struct interval_tree_node range;
	struct page *page[];
};

/*
 * Pin [address, address + length) of current, which is the owner of the host,
 * or become a user of the pin of these pages. `write`: the card will write
 * there, otherwise only read. May sleep. Returns an ERR_PTR: EFAULT, not all of
 * it is memory, or the rights miss; ENOMEM, also by RLIMIT_MEMLOCK; EDQUOT, the
 * user's limit is reached; EINTR.
 */
struct bcl_kmod_pin *bcl_kmod_pin(struct bcl_kmod_host *host, u64 address,
				  u64 length, bool write);
/* The result of a call that cannot pin: a status, or -EDQUOT. */
static inline long bcl_kmod_pin_status(const void *error)
{
	if (PTR_ERR(error) == -EDQUOT)
		return -EDQUOT;
	return PTR_ERR(error) == -ENOMEM ? BCL_ERR_NOMEM : BCL_ERR_ARG;
}

/* The pin has one user less: the last one's pin is kept, or released later.
 * Under host->lock. */
void bcl_kmod_unpin(struct bcl_kmod_host *host, struct bcl_kmod_pin *pin);
/* Release now what is to be released later. In process context, outside a turn.
 */
void bcl_kmod_unpin_all(struct bcl_kmod_host *host);
/* Work: bcl_kmod_unpin_all(). */
void bcl_kmod_unpin_work(struct work_struct *work);
/* Release all kept pins, and return what is charged in advance. May sleep. */
void bcl_kmod_pins_give(struct bcl_kmod_host *host);

/* ---- cache.c ---- */

/* The pin of exactly these pages, which has one user more; NULL: none serves.
 */
struct bcl_kmod_pin *bcl_kmod_cache_find(struct bcl_kmod_host *host,
					 unsigned long first,
					 unsigned long npages, bool write);
/* The same, under host->lock. */
struct bcl_kmod_pin *bcl_kmod_cache_take(struct bcl_kmod_host *host,
					 unsigned long first,
					 unsigned long npages, bool write);
/* True if the pin would be kept after the card has written there. */
bool bcl_kmod_cache_keeps(const struct bcl_kmod_pin *pin);
/* Release kept pins of so many pages, or all. Returns false if none was kept.
 * May sleep. */
bool bcl_kmod_cache_give(struct bcl_kmod_host *host, unsigned long npages);
/* Release the kept pins that serve no user any more. May sleep. */
void bcl_kmod_cache_sweep(struct bcl_kmod_host *host);

/* ---- mapping.c ---- */

/* Before pages are pinned, from the address `first` on. */
void bcl_kmod_mapping_watch(struct bcl_kmod_host *host,
			    struct bcl_kmod_pin *pin, unsigned long first);
/* All pages are pinned, and others may find the pin. Returns false if the
 * memory is gone meanwhile: then the caller is the only user. */
bool bcl_kmod_mapping_watched(struct bcl_kmod_host *host,
			      struct bcl_kmod_pin *pin);
/* True if the pin may still serve further users, as far as is known. */
static inline bool bcl_kmod_mapping_holds(const struct bcl_kmod_pin *pin)
{
	return !READ_ONCE(pin->gone) && !READ_ONCE(pin->stale);
}
/* A pin of exactly these pages, with users or kept, that a new pin would equal;
 * NULL: none. Under host->lock. */
struct bcl_kmod_pin *bcl_kmod_mapping_find(struct bcl_kmod_host *host,
					   unsigned long first,
					   unsigned long npages, bool write);
/* Before the pin is freed. May sleep. */
void bcl_kmod_mapping_forget(struct bcl_kmod_host *host,
			     struct bcl_kmod_pin *pin);
/* Notice of host->ends, before and after a change. */
int bcl_kmod_mapping_changes(struct mmu_notifier *notifier,
			     const struct mmu_notifier_range *range);
void bcl_kmod_mapping_changed(struct mmu_notifier *notifier,
			      const struct mmu_notifier_range *range);
/* Work: find out which pins in doubt are gone. */
void bcl_kmod_mapping_compare(struct work_struct *work);

#endif
