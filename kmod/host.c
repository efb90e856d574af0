// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Opening and closing a card in the kernel. */
#include "host.h"

#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include <net/net_namespace.h>

#include "compat.h"
#include "pin.h"

enum {
	ACK_DELAY = 200 * NSEC_PER_USEC,
	RTO_MIN = 2 * NSEC_PER_MSEC,
	RTO_MAX = 100 * NSEC_PER_MSEC, /* or the time-out of peers if less */
};

struct bcl_kmod_host *bcl_kmod_host_make(void)
{
	struct bcl_kmod_host *host =
		kvzalloc(sizeof(*host), GFP_KERNEL_ACCOUNT);
	unsigned int i;

	if (!host)
		return NULL;
	mutex_init(&host->mutex);
	init_rwsem(&host->giving);
	mutex_init(&host->unpinning);
	mutex_init(&host->comparing);
	spin_lock_init(&host->mapping_lock);
	host->mapped = RB_ROOT_CACHED;
	INIT_LIST_HEAD(&host->doubts);
	INIT_WORK(&host->compare, bcl_kmod_mapping_compare);
	spin_lock_init(&host->lock);
	for (i = 0; i < BCL_KMOD_SEATS; i++)
		mutex_init(&host->seat[i].mutex);
	xa_init_flags(&host->memories, XA_FLAGS_ACCOUNT | XA_FLAGS_LOCK_BH);
	INIT_LIST_HEAD(&host->listed);
	INIT_LIST_HEAD(&host->kept);
	INIT_LIST_HEAD(&host->unpinned);
	INIT_WORK(&host->release, bcl_kmod_unpin_work);
	skb_queue_head_init(&host->in);
	skb_queue_head_init(&host->out);
	tasklet_setup(&host->tasklet, bcl_kmod_tasklet);
	bcl_compat_hrtimer(&host->timer, bcl_kmod_timer);
	bcl_kmod_fault_init(&host->fault);
	host->deadline = U64_MAX;
	host->armed = U64_MAX;
	return host;
}

/* Returns ARG if the core refuses the configuration. */
static enum bcl_status open_core(struct bcl_kmod_host *host,
				 const struct bcl_device_open *open)
{
	struct bcl_card_config config = {
		.card = host->id,
		.incarnation = open->incarnation,
		.peer_timeout = open->peer_timeout,
		.ack_delay = ACK_DELAY,
		.rto_min = RTO_MIN,
		.rto_max = min_t(u64, open->peer_timeout, RTO_MAX),
		.max_nodes = BCL_KMOD_NODES,
		.max_messages = BCL_KMOD_MESSAGES,
		.pcrc = open->pcrc,
	};
	u32 size;

	memcpy(config.key, open->key, BCL_KEY_SIZE);
	size = bcl_card_arena(&config, BCL_KMOD_SEATS, BCL_KMOD_CONNECTIONS,
			      BCL_KMOD_SEATS * BCL_KMOD_CHANNELS);
	host->arena = __vmalloc(size, GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	host->node = kvcalloc(BCL_KMOD_NODES, sizeof(*host->node),
			      GFP_KERNEL_ACCOUNT);
	host->news = __vmalloc(PAGE_SIZE, GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!host->arena || !host->node || !host->news)
		return BCL_ERR_NOMEM;
	host->card =
		bcl_card_open(host->arena, size, &bcl_kmod_hal, host, &config);
	return host->card ? BCL_OK : BCL_ERR_ARG;
}

/* Peers get BYE. */
static void leave_peers(struct bcl_kmod_host *host)
{
	struct bcl_control control = { .op = BCL_CTL_DISCONNECT };
	u32 result;

	for (control.node = 0; control.node < READ_ONCE(host->nodes_end);
	     control.node++) {
		bcl_kmod_enter(host);
		if (host->node[control.node].shown.state != BCL_NODE_CLOSED)
			bcl_kmod_command(host, &control, &result);
		bcl_kmod_leave(host);
	}
}

/* Stop all that may enter the core, and give back what the card has of the
 * process and of the system. */
static void shut(struct bcl_kmod_host *host)
{
	bcl_kmod_ends_stop(host);
	bcl_kmod_receive_close(host);
	spin_lock_bh(&host->lock);
	host->closing = true;
	spin_unlock_bh(&host->lock);
	hrtimer_cancel(&host->timer);
	tasklet_kill(&host->tasklet);
	bcl_kmod_fault_close(&host->fault);
	bcl_kmod_ends_close(host);
	bcl_kmod_discharge(host->user, BCL_KMOD_FRAMES,
			   atomic_xchg(&host->frames, 0));
	skb_queue_purge(&host->in);
	bcl_kmod_memories_close(host);
	bcl_kmod_pins_give(host);
	flush_work(&host->release);
	flush_work(&host->compare); /* no pin is left that starts it again */
}

static void release(struct bcl_kmod_host *host)
{
	vfree(host->arena);
	vfree(host->news);
	kvfree(host->node);
	put_net(host->net);
	put_pid(host->process);
	mmdrop(host->mm);
	bcl_kmod_discharge(host->user, BCL_KMOD_PEERS, host->npeers);
	bcl_kmod_user_put(host->user);
}

/*
 * The process ends, or its file is closed for good: whatever is first. Another
 * process that inherited the file has no use for the card. If both happen at
 * the same time, two threads come here. The kernel lets neither go on before
 * both have returned.
 */
static void process_ends(struct mmu_notifier *ends, struct mm_struct *mm)
{
	struct bcl_kmod_host *host =
		container_of(ends, struct bcl_kmod_host, ends);
	unsigned int i;

	if (test_and_set_bit(0, &host->ended))
		return;
	bcl_kmod_admin_remove(host);
	leave_peers(host);
	for (i = 0; i < BCL_KMOD_SEATS; i++)
		bcl_kmod_port_close(host, i);
	shut(host);
}

static const struct mmu_notifier_ops process_operations = {
	.release = process_ends,
	.invalidate_range_start = bcl_kmod_mapping_changes,
	.invalidate_range_end = bcl_kmod_mapping_changed,
};

/* Returns to the state before OPEN. */
static void undo_open(struct bcl_kmod_host *host)
{
	shut(host);
	release(host);
	host->card = NULL;
	host->arena = NULL;
	host->news = NULL;
	host->node = NULL;
	host->nodes_end = 0;
	host->npeers = 0;
	host->nends = 0;
	memset(host->end, 0, sizeof(host->end));
	memset(host->rail, 0, sizeof(host->rail));
	host->closing = false;
	host->deadline = U64_MAX;
	host->armed = U64_MAX;
}

long bcl_kmod_open(struct bcl_kmod_host *host, struct bcl_device_open *open)
{
	enum bcl_status status;

	if (host->open || open->nends > BCL_DEVICE_ENDS || open->admits > 1)
		return -EINVAL;
	if (open->abi != BCL_CARD_ABI) {
		open->abi = BCL_CARD_ABI;
		return BCL_ERR_VERSION;
	}
	host->user = bcl_kmod_user_get();
	if (IS_ERR(host->user))
		return PTR_ERR(host->user);
	host->mm = current->mm;
	mmgrab(host->mm);
	host->net = get_net(current->nsproxy->net_ns);
	host->process = get_task_pid(current, PIDTYPE_TGID);
	host->job = bcl_kmod_job_of(open->key);
	host->admits = open->admits;
	bcl_kmod_receive_open(host);
	status = open_core(host, open);
	if (!status && !bcl_kmod_ends_open(host, open))
		status = BCL_ERR_NORAIL;
	host->ends.ops = &process_operations;
	if (!status && mmu_notifier_register(&host->ends, host->mm))
		status = BCL_ERR_NOMEM;
	if (status) {
		undo_open(host);
		return status;
	}
	bcl_kmod_enter(host);
	bcl_kmod_ends_tell(host);
	bcl_kmod_ends_show(host, open);
	bcl_kmod_leave(host);
	open->card = host->id;
	/* Release: pairs with may_call(), device.c. */
	smp_store_release(&host->open, true);
	bcl_kmod_admin_add(host);
	return BCL_OK;
}

void bcl_kmod_close(struct bcl_kmod_host *host)
{
	if (host->open) {
		/* Calls process_ends() if the process has not ended. */
		mmu_notifier_unregister(&host->ends, host->mm);
		release(host);
	}
	kvfree(host);
}
