/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Pins: pages of the process that the card may access until the release. Pinned
 * pages count against the process's RLIMIT_MEMLOCK, and against the user's
 * limit (user.h).
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
	struct list_head link;
	unsigned long npages;
	unsigned int first; /* offset of the first byte in its page */
	bool writable;
	bool dirty; /* the card has written there */
	/* The addresses no longer name the pages; see mapping.c. Never false
	 * again. */
	bool gone;
	/* Protected by host->mapping_lock: */
	bool watched;		/* all pages are pinned */
	struct list_head doubt; /* in host->doubts */
	unsigned long from, to; /* first and last address in doubt */
	struct interval_tree_node range;
	struct page *page[];
};

/*
 * Pin [address, address + length) of current, which is the owner of the host.
 * `write`: the card will write there, otherwise only read. May sleep. Returns
 * an ERR_PTR: EFAULT, not all of it is memory, or the rights miss; ENOMEM, also
 * by RLIMIT_MEMLOCK; EDQUOT, the user's limit is reached; EINTR.
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

/* Release a pin that the card has not, in process context. */
void bcl_kmod_unpin(struct bcl_kmod_host *host, struct bcl_kmod_pin *pin);
/* Release a pin later. In a turn. */
void bcl_kmod_unpin_later(struct bcl_kmod_host *host, struct bcl_kmod_pin *pin);
/* Release all of those now. In process context, outside a turn. */
void bcl_kmod_unpin_all(struct bcl_kmod_host *host);
/* Work: bcl_kmod_unpin_all(). */
void bcl_kmod_unpin_work(struct work_struct *work);
/* Return what is charged; no pin is left. */
void bcl_kmod_pins_close(struct bcl_kmod_host *host);

/* ---- mapping.c ---- */

/* Before pages are pinned, from the address `first` on. */
void bcl_kmod_mapping_watch(struct bcl_kmod_host *host,
			    struct bcl_kmod_pin *pin, unsigned long first);
/* All pages are pinned. Returns false if the memory is gone meanwhile. */
bool bcl_kmod_mapping_watched(struct bcl_kmod_host *host,
			      struct bcl_kmod_pin *pin);
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
