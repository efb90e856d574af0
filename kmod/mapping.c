// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Notice of changes of the process's mappings. A pin is gone when the addresses
 * no longer name the pages of the pin. The kernel names exactly the addresses
 * that are unmapped or moved (MMU_NOTIFY_UNMAP). For all further changes the
 * kernel only names addresses where a page may have been replaced
 * (MMU_NOTIFY_CLEAR), often for a page that stays. So a work item compares the
 * pages of the pin with the pages at the addresses. Where rights change
 * (MMU_NOTIFY_PROTECTION_VMA), the pin serves those who use it, but no further
 * ones.
 */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/sched/mm.h>

#include "compat.h"
#include "host.h"
#include "pin.h"

enum {
	COMPARE = 32, /* pages, at once */
};

static struct bcl_kmod_host *host_of(struct mmu_notifier *notifier)
{
	return container_of(notifier, struct bcl_kmod_host, ends);
}

/* ---- watched pins ---- */

void bcl_kmod_mapping_watch(struct bcl_kmod_host *host,
			    struct bcl_kmod_pin *pin, unsigned long first)
{
	pin->watched = false;
	pin->unsure = false;
	pin->gone = false;
	pin->stale = false;
	INIT_LIST_HEAD(&pin->doubt);
	pin->range.start = first;
	pin->range.last = first + pin->npages * PAGE_SIZE - 1;
	spin_lock_bh(&host->mapping_lock);
	interval_tree_insert(&pin->range, &host->mapped);
	spin_unlock_bh(&host->mapping_lock);
}

bool bcl_kmod_mapping_watched(struct bcl_kmod_host *host,
			      struct bcl_kmod_pin *pin)
{
	spin_lock_bh(&host->mapping_lock);
	pin->watched = !pin->gone;
	if (!list_empty(&pin->doubt))
		schedule_work(&host->compare);
	spin_unlock_bh(&host->mapping_lock);
	return pin->watched;
}

void bcl_kmod_mapping_forget(struct bcl_kmod_host *host,
			     struct bcl_kmod_pin *pin)
{
	mutex_lock(&host->comparing);
	spin_lock_bh(&host->mapping_lock);
	interval_tree_remove(&pin->range, &host->mapped);
	list_del(&pin->doubt);
	spin_unlock_bh(&host->mapping_lock);
	mutex_unlock(&host->comparing);
}

/* A pin without users that is not kept is about to be released. A file must
 * hear of each intent to write, which is where pages are pinned. */
static bool serves(const struct bcl_kmod_pin *pin, bool write)
{
	return (pin->users || pin->kept) && pin->watched &&
	       bcl_kmod_mapping_holds(pin) && !pin->unsure &&
	       (!write || (pin->writable && pin->anonymous));
}

static struct bcl_kmod_pin *find(struct bcl_kmod_host *host,
				 unsigned long first, unsigned long last,
				 bool write)
{
	struct interval_tree_node *node;
	struct bcl_kmod_pin *pin;

	for (node = interval_tree_iter_first(&host->mapped, first, first); node;
	     node = interval_tree_iter_next(node, first, first)) {
		pin = container_of(node, struct bcl_kmod_pin, range);
		if (node->start == first && node->last == last &&
		    serves(pin, write))
			return pin;
	}
	return NULL;
}

struct bcl_kmod_pin *bcl_kmod_mapping_find(struct bcl_kmod_host *host,
					   unsigned long first,
					   unsigned long npages, bool write)
{
	struct bcl_kmod_pin *pin = NULL;

	spin_lock(&host->mapping_lock);
	if (!host->changing)
		pin = find(host, first, first + npages * PAGE_SIZE - 1, write);
	spin_unlock(&host->mapping_lock);
	return pin;
}

/* ---- notice ---- */

/* Remember which part of the pin the kernel has named. */
static void doubt(struct bcl_kmod_host *host, struct bcl_kmod_pin *pin,
		  unsigned long start, unsigned long last)
{
	start = max(start, pin->range.start);
	last = min(last, pin->range.last);
	if (list_empty(&pin->doubt)) {
		list_add_tail(&pin->doubt, &host->doubts);
		pin->from = start;
		pin->to = last;
	}
	pin->unsure = true;
	pin->from = min(pin->from, start);
	pin->to = max(pin->to, last);
	if (pin->watched)
		schedule_work(&host->compare);
}

/* A pin that is gone or stale is kept no longer. */
static void spoil(struct bcl_kmod_host *host, bool *flag)
{
	if (*flag)
		return;
	WRITE_ONCE(*flag, true);
	schedule_work(&host->compare);
}

static void notice_pin(struct bcl_kmod_host *host, struct bcl_kmod_pin *pin,
		       const struct mmu_notifier_range *range)
{
	if (range->event == MMU_NOTIFY_UNMAP)
		spoil(host, &pin->gone);
	else if (range->event == MMU_NOTIFY_PROTECTION_VMA)
		spoil(host, &pin->stale);
	else
		doubt(host, pin, range->start, range->end - 1);
}

static bool concerns(const struct mmu_notifier_range *range)
{
	return range->event == MMU_NOTIFY_UNMAP ||
	       range->event == MMU_NOTIFY_CLEAR ||
	       range->event == MMU_NOTIFY_PROTECTION_VMA;
}

/* Under host->mapping_lock. Returns true if there are such pins. */
static bool notice(struct bcl_kmod_host *host,
		   const struct mmu_notifier_range *range)
{
	const unsigned long last = range->end - 1;
	struct interval_tree_node *node;
	bool found = false;

	for (node = interval_tree_iter_first(&host->mapped, range->start, last);
	     node; node = interval_tree_iter_next(node, range->start, last)) {
		notice_pin(host, container_of(node, struct bcl_kmod_pin, range),
			   range);
		found = true;
	}
	return found;
}

/* A turn may have found the pin a moment ago: the turn ends first. */
static void await_turn(struct bcl_kmod_host *host)
{
	spin_lock_bh(&host->lock);
	spin_unlock_bh(&host->lock);
}

/* Neither sleeps nor fails, so the kernel may call at any time. */
int bcl_kmod_mapping_changes(struct mmu_notifier *notifier,
			     const struct mmu_notifier_range *range)
{
	struct bcl_kmod_host *host = host_of(notifier);
	bool found = false;

	spin_lock_bh(&host->mapping_lock);
	host->changing++;
	if (range->event == MMU_NOTIFY_UNMAP)
		found = notice(host, range);
	spin_unlock_bh(&host->mapping_lock);
	if (found)
		await_turn(host);
	return 0;
}

/* Also for pins made meanwhile. */
void bcl_kmod_mapping_changed(struct mmu_notifier *notifier,
			      const struct mmu_notifier_range *range)
{
	struct bcl_kmod_host *host = host_of(notifier);
	bool found = false;

	spin_lock_bh(&host->mapping_lock);
	if (concerns(range))
		found = notice(host, range);
	host->changing--;
	spin_unlock_bh(&host->mapping_lock);
	if (found && range->event == MMU_NOTIFY_UNMAP)
		await_turn(host);
}

/* ---- comparing ---- */

/* The number of pages, up to n, that the addresses from `at` on name. Faults no
 * page in. */
static unsigned long count_mapped(struct mm_struct *mm, unsigned long at,
				  unsigned long n, struct page *const *page)
{
	struct page *now[COMPARE];
	long got, i, same = 0;

	mmap_read_lock(mm);
	got = bcl_compat_get_pages(mm, at, n, FOLL_FORCE | FOLL_NOFAULT, now);
	mmap_read_unlock(mm);
	while (same < got && now[same] == page[same])
		same++;
	for (i = 0; i < got; i++)
		put_page(now[i]);
	return same;
}

/* The file of shared memory that has the page at this address, with a
 * reference, or NULL. Under the mmap lock. */
static struct file *shared_file(struct mm_struct *mm, unsigned long at,
				struct page *page)
{
	const struct vm_area_struct *area = vma_lookup(mm, at);
	struct folio *folio = page_folio(page);

	if (!area || !area->vm_file || !(area->vm_flags & VM_MAYSHARE) ||
	    file_inode(area->vm_file)->i_sb->s_magic != TMPFS_MAGIC)
		return NULL;
	if (folio->index + folio_page_idx(folio, page) !=
	    area->vm_pgoff + ((at - area->vm_start) >> PAGE_SHIFT))
		return NULL;
	return get_file(area->vm_file);
}

/*
 * Where memory is short, or on request (MADV_PAGEOUT), the kernel takes pages
 * of shared memory off the page tables. A pinned page stays in its file, and
 * the next access finds it there. Truncation, which takes pages out of the
 * file, holds the lock of the inode from before the notice on.
 */
static bool is_in_file(struct mm_struct *mm, unsigned long at,
		       struct page *page)
{
	struct file *file;
	bool same;

	mmap_read_lock(mm);
	file = shared_file(mm, at, page);
	mmap_read_unlock(mm);
	if (!file)
		return false;
	inode_lock_shared(file_inode(file));
	same = folio_mapping(page_folio(page)) == file->f_mapping;
	inode_unlock_shared(file_inode(file));
	fput(file);
	return same;
}

static bool is_mapped(struct mm_struct *mm, const struct bcl_kmod_pin *pin,
		      unsigned long from, unsigned long to)
{
	unsigned long i = (from - pin->range.start) >> PAGE_SHIFT, some;
	const unsigned long end = ((to - pin->range.start) >> PAGE_SHIFT) + 1;

	for (; i < end; i += some) {
		unsigned long at = pin->range.start + i * PAGE_SIZE;

		some = min_t(unsigned long, end - i, COMPARE);
		some = count_mapped(mm, at, some, pin->page + i);
		if (!some && !is_in_file(mm, at, pin->page[i]))
			return false;
		some = max(some, 1ul);
		cond_resched();
	}
	return true;
}

/* A watched pin in doubt, which is in the list of these no longer, or NULL. */
static struct bcl_kmod_pin *take_doubt(struct bcl_kmod_host *host,
				       unsigned long *from, unsigned long *to)
{
	struct bcl_kmod_pin *pin, *found = NULL;

	spin_lock_bh(&host->mapping_lock);
	list_for_each_entry (pin, &host->doubts, doubt)
		if (pin->watched) {
			found = pin;
			break;
		}
	if (found) {
		list_del_init(&found->doubt);
		*from = found->from;
		*to = found->to;
	}
	spin_unlock_bh(&host->mapping_lock);
	return found;
}

/* The pin was compared. Not so what the kernel has named meanwhile. */
static void end_doubt(struct bcl_kmod_host *host, struct bcl_kmod_pin *pin,
		      bool same)
{
	spin_lock_bh(&host->mapping_lock);
	if (!same)
		WRITE_ONCE(pin->gone, true);
	pin->unsure = !list_empty(&pin->doubt);
	spin_unlock_bh(&host->mapping_lock);
}

void bcl_kmod_mapping_compare(struct work_struct *work)
{
	struct bcl_kmod_host *host =
		container_of(work, struct bcl_kmod_host, compare);
	struct bcl_kmod_pin *pin;
	unsigned long from, to;

	if (!mmget_not_zero(host->mm))
		return; /* the process ends, and its pins too */
	mutex_lock(&host->comparing);
	while ((pin = take_doubt(host, &from, &to)))
		end_doubt(host, pin, is_mapped(host->mm, pin, from, to));
	mutex_unlock(&host->comparing);
	bcl_kmod_cache_sweep(host);
	mmput_async(host->mm); /* the end of the process waits for this work */
}
