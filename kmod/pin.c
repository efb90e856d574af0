// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Pins of pages of the process; see pin.h.
 *
 * Pages are pinned for writing, even if the card only reads the pages: a pin
 * for reading would pin the page of zeros, if the process never wrote the
 * memory. A read-only mapping is pinned for reading.
 */
#include "pin.h"

#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "host.h"

enum {
	AT_ONCE = 1024, /* pages, before the thread may be switched */
	CHUNK = 256,	/* pages that are charged together */
};

/*
 * ---- accounts ----
 *
 * Each change of a process's account needs the process's mmap lock for writing.
 * So the host charges some more pages than are pinned, if the limit permits.
 * Where a limit is reached, kept pins give way.
 */

/* Returns false, and takes nothing, if fewer are charged in advance. */
static bool take_charged(struct bcl_kmod_host *host, long npages)
{
	long left = atomic_long_read(&host->charged);

	while (left >= npages)
		if (atomic_long_try_cmpxchg(&host->charged, &left,
					    left - npages))
			return true;
	return false;
}

static int charge_process(struct bcl_kmod_host *host, unsigned long npages)
{
	if (take_charged(host, npages))
		return 0;
	if (account_locked_vm(host->mm, npages + CHUNK, true))
		return account_locked_vm(host->mm, npages, true);
	atomic_long_add(CHUNK, &host->charged);
	return 0;
}

static void discharge_process(struct bcl_kmod_host *host, unsigned long npages)
{
	long left = atomic_long_add_return(npages, &host->charged);

	if (left > 2 * CHUNK &&
	    atomic_long_cmpxchg(&host->charged, left, CHUNK) == left)
		account_locked_vm(host->mm, left - CHUNK, false);
}

static int charge(struct bcl_kmod_host *host, unsigned long npages)
{
	int error;

	if (!bcl_kmod_charge(host->user, BCL_KMOD_PAGES, npages))
		return -EDQUOT;
	error = charge_process(host, npages);
	if (error)
		bcl_kmod_discharge(host->user, BCL_KMOD_PAGES, npages);
	return error;
}

static int charge_or_give(struct bcl_kmod_host *host, unsigned long npages)
{
	int error = charge(host, npages);

	while (error && bcl_kmod_cache_give(host, npages))
		error = charge(host, npages);
	if (error) {
		bcl_kmod_admin_give(host, error == -EDQUOT);
		error = charge(host, npages);
	}
	return error;
}

static void discharge(struct bcl_kmod_host *host, unsigned long npages)
{
	bcl_kmod_discharge(host->user, BCL_KMOD_PAGES, npages);
	discharge_process(host, npages);
}

void bcl_kmod_pins_give(struct bcl_kmod_host *host)
{
	bcl_kmod_cache_give(host, ULONG_MAX);
	account_locked_vm(host->mm, atomic_long_xchg(&host->charged, 0), false);
}

/* ---- pins ---- */

/* Returns 0, or the reason why no more than *done pages were pinned. */
static int pin_pages(unsigned long address, unsigned long n, bool write,
		     struct page **page, unsigned long *done)
{
	const unsigned int flags = FOLL_LONGTERM | (write ? FOLL_WRITE : 0);
	int some, got;

	for (*done = 0; *done < n; *done += got) {
		if (fatal_signal_pending(current))
			return -EINTR;
		some = min_t(unsigned long, n - *done, AT_ONCE);
		got = pin_user_pages_fast(address + *done * PAGE_SIZE, some,
					  flags, page + *done);
		if (got <= 0)
			return got ?: -EFAULT;
		cond_resched();
	}
	return 0;
}

/* Pin all pages or none. */
static int pin_all(unsigned long address, bool write, struct bcl_kmod_pin *pin)
{
	unsigned long done;
	int error = pin_pages(address, pin->npages, write, pin->page, &done);

	if (error)
		unpin_user_pages(pin->page, done);
	return error;
}

/* Free a pin that has no pages. */
static void pin_free(struct bcl_kmod_host *host, struct bcl_kmod_pin *pin)
{
	bcl_kmod_mapping_forget(host, pin);
	discharge(host, pin->npages);
	kvfree(pin);
}

static void unpin_pages(struct bcl_kmod_pin *pin)
{
	unsigned long done, some;

	for (done = 0; done < pin->npages; done += some) {
		some = min_t(unsigned long, pin->npages - done, AT_ONCE);
		unpin_user_pages_dirty_lock(pin->page + done, some, pin->dirty);
		cond_resched();
	}
}

static void pin_release(struct bcl_kmod_host *host, struct bcl_kmod_pin *pin)
{
	unpin_pages(pin);
	spin_lock_bh(&host->lock);
	host->count.pages_released += pin->npages;
	spin_unlock_bh(&host->lock);
	pin_free(host, pin);
}

static bool is_anonymous(const struct bcl_kmod_pin *pin)
{
	unsigned long i;

	for (i = 0; i < pin->npages; i++) {
		if (!folio_test_anon(page_folio(pin->page[i])))
			return false;
		if (i % AT_ONCE == 0)
			cond_resched();
	}
	return true;
}

static struct bcl_kmod_pin *pin_make(struct bcl_kmod_host *host,
				     unsigned long first, unsigned long npages,
				     bool write)
{
	struct bcl_kmod_pin *pin;
	int error = charge_or_give(host, npages);

	if (error)
		return ERR_PTR(error);
	pin = kvmalloc(struct_size(pin, page, npages), GFP_KERNEL_ACCOUNT);
	if (!pin) {
		discharge(host, npages);
		return ERR_PTR(-ENOMEM);
	}
	pin->npages = npages;
	pin->users = 1;
	pin->kept = false;
	pin->writable = true;
	pin->dirty = false;
	bcl_kmod_mapping_watch(host, pin, first);
	error = pin_all(first, true, pin);
	if (error == -EFAULT && !write) {
		pin->writable = false;
		error = pin_all(first, false, pin);
	}
	if (error) {
		pin_free(host, pin);
		return ERR_PTR(error);
	}
	pin->anonymous = is_anonymous(pin);
	spin_lock_bh(&host->lock);
	host->count.pages_pinned += npages;
	spin_unlock_bh(&host->lock);
	if (bcl_kmod_mapping_watched(host, pin))
		return pin;
	pin_release(host, pin);
	return ERR_PTR(-EFAULT);
}

struct bcl_kmod_pin *bcl_kmod_pin(struct bcl_kmod_host *host, u64 address,
				  u64 length, bool write)
{
	u64 end = address + length, first = address & PAGE_MASK;
	unsigned long npages = (PAGE_ALIGN(end) - first) >> PAGE_SHIFT;
	struct bcl_kmod_pin *pin;

	if (!length || end < address || end > TASK_SIZE_MAX ||
	    npages > INT_MAX / sizeof(struct page *) - 8)
		return ERR_PTR(-EFAULT);
	pin = bcl_kmod_cache_find(host, first, npages, write);
	return pin ?: pin_make(host, first, npages, write);
}

void bcl_kmod_unpin_all(struct bcl_kmod_host *host)
{
	struct bcl_kmod_pin *pin, *next;
	LIST_HEAD(pins);

	if (list_empty_careful(&host->unpinned) &&
	    !mutex_is_locked(&host->unpinning))
		return;
	mutex_lock(&host->unpinning); /* waits for other threads' */
	spin_lock_bh(&host->lock);
	list_splice_init(&host->unpinned, &pins);
	spin_unlock_bh(&host->lock);
	list_for_each_entry_safe (pin, next, &pins, link)
		pin_release(host, pin);
	mutex_unlock(&host->unpinning);
}

void bcl_kmod_unpin_work(struct work_struct *work)
{
	bcl_kmod_unpin_all(container_of(work, struct bcl_kmod_host, release));
}
