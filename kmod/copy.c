// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Copies inside a host: one copy between the memory of the calling process and
 * the memory of the process of another card, which has permitted this to its
 * job (`admits` of OPEN). Works like process_vm_readv(), but asks the cards
 * for permission and not the processes' security modules and namespaces.
 */
#include <linux/highmem.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "host.h"

enum {
	PAGES = 32, /* at once */
};

static bool is_admitted(const struct bcl_kmod_host *host,
			const struct bcl_kmod_host *peer)
{
	return peer->admits && peer->user == host->user &&
	       peer->job == host->job;
}

/* The memory of the process of the card, with a reference. NULL: *status says
 * why. */
static struct mm_struct *memory_of(const struct bcl_kmod_host *host, u64 card,
				   long *status)
{
	struct mm_struct *mm = NULL;
	struct bcl_kmod_host *peer;

	rcu_read_lock();
	peer = bcl_kmod_card(card);
	*status = BCL_ERR_DEAD;
	/* Acquire: pairs with bcl_kmod_open(). */
	if (peer && smp_load_acquire(&peer->open)) {
		if (!is_admitted(host, peer))
			*status = BCL_ERR_PERM;
		else if (mmget_not_zero(peer->mm))
			mm = peer->mm;
	}
	rcu_read_unlock();
	return mm;
}

static bool copy_in_page(struct page *page, unsigned int offset,
			 char __user *local, size_t length, bool write)
{
	char *memory = kmap_local_page(page);
	unsigned long left;

	/* copy_from_user() would clear what it cannot copy. The caller has
	 * asked access_ok(). */
	if (write)
		left = __copy_from_user_inatomic(memory + offset, local,
						 length);
	else
		left = copy_to_user(local, memory + offset, length);
	kunmap_local(memory);
	return !left;
}

/* Copy up to `length` bytes. Returns how many; less than 0: not all of it is
 * memory, or the thread is killed. */
static ssize_t copy_some(struct mm_struct *mm, unsigned long remote,
			 char __user *local, u64 length, bool write)
{
	unsigned int offset = offset_in_page(remote);
	struct page *page[PAGES];
	long n = min_t(u64, DIV_ROUND_UP(offset + length, PAGE_SIZE), PAGES);
	ssize_t done = 0;
	bool copied = true;
	long got, i;

	if (mmap_read_lock_killable(mm))
		return -EINTR;
	got = bcl_compat_pin_pages(mm, remote - offset, n,
				   write ? FOLL_WRITE : 0, page);
	mmap_read_unlock(mm);
	for (i = 0; i < got && copied; i++) {
		size_t some = min_t(u64, length - done, PAGE_SIZE - offset);

		copied = copy_in_page(page[i], offset, local + done, some,
				      write);
		done += some;
		offset = 0;
	}
	if (got > 0)
		unpin_user_pages_dirty_lock(page, got, write);
	return got > 0 && copied ? done : -EFAULT;
}

static long copy_all(struct mm_struct *mm, const struct bcl_device_copy *copy)
{
	char __user *local = u64_to_user_ptr(copy->local);
	u64 done = 0;

	while (done < copy->length) {
		ssize_t some = copy_some(mm, copy->remote + done, local + done,
					 copy->length - done, copy->write);

		if (some == -EINTR || fatal_signal_pending(current))
			return -EINTR;
		if (some < 0)
			return BCL_ERR_MEMORY;
		done += some;
		cond_resched();
	}
	return BCL_OK;
}

static bool is_user(u64 address, u64 length)
{
	return length <= TASK_SIZE_MAX && address <= TASK_SIZE_MAX - length;
}

long bcl_kmod_copy(struct bcl_kmod_host *host,
		   const struct bcl_device_copy *copy)
{
	struct mm_struct *mm;
	long status;

	if (copy->write > 1)
		return -EINVAL;
	if (!access_ok(u64_to_user_ptr(copy->local), copy->length) ||
	    !is_user(copy->remote, copy->length))
		return BCL_ERR_MEMORY;
	mm = memory_of(host, copy->card, &status);
	if (!mm)
		return status;
	status = copy_all(mm, copy);
	/* If the process has ended meanwhile, its cards end here. */
	mmput(mm);
	if (status)
		return status;
	spin_lock_bh(&host->lock);
	host->count.bytes_copied_between += copy->length;
	spin_unlock_bh(&host->lock);
	return BCL_OK;
}
