// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* Faults on purpose; see fault.h. */
#include "fault.h"

#include <linux/netdevice.h>

#include "end.h"

enum {
	HELD = 128, /* frames at most */
	OVERTAKE = 4,
	SOON = 1, /* jiffies until a held frame goes in any case */
};

static bool strikes(struct bcl_kmod_fault *fault,
		    enum bcl_device_fault_kind kind)
{
	u32 drawn = prandom_u32_state(&fault->random) >> 1;

	if (drawn >= fault->plan.chance[kind])
		return false;
	fault->struck[kind]++;
	return true;
}

/* Invert one bit of the frames. */
static void corrupt(struct bcl_kmod_fault *fault, struct sk_buff *packet)
{
	u8 *frame = packet->head + bcl_kmod_leaving(packet)->at;
	u32 bits = (skb_tail_pointer(packet) - frame) * 8;
	u32 bit = prandom_u32_state(&fault->random) % bits;

	frame[bit / 8] ^= 1 << bit % 8;
}

static void lose(struct sk_buff *packet)
{
	dev_put(packet->dev);
	kfree_skb(packet);
}

/* NULL: no memory. */
static struct sk_buff *copy(const struct sk_buff *packet)
{
	struct sk_buff *second = skb_copy(packet, GFP_ATOMIC | __GFP_NOWARN);

	if (second)
		dev_hold(second->dev);
	return second;
}

static void hold(struct bcl_kmod_fault *fault, struct sk_buff *packet)
{
	bcl_kmod_leaving(packet)->turn =
		fault->passed + 1 +
		prandom_u32_state(&fault->random) % OVERTAKE;
	__skb_queue_tail(&fault->held, packet);
	schedule_delayed_work(&fault->release, SOON);
}

/* Put the frames that the faults leave of a packet into `go`. */
static void strike(struct bcl_kmod_fault *fault, struct sk_buff *packet,
		   struct sk_buff_head *go)
{
	struct sk_buff *second = NULL;

	fault->passed++;
	if (strikes(fault, BCL_DEVICE_DROP)) {
		lose(packet);
		return;
	}
	if (strikes(fault, BCL_DEVICE_CORRUPT))
		corrupt(fault, packet);
	if (strikes(fault, BCL_DEVICE_DUP))
		second = copy(packet);
	if (strikes(fault, BCL_DEVICE_REORDER) &&
	    skb_queue_len(&fault->held) < HELD)
		hold(fault, packet);
	else
		__skb_queue_tail(go, packet);
	if (second)
		__skb_queue_tail(go, second);
}

/* Move the held frames whose turn is at most `turn` to `go`. */
static void release_due(struct bcl_kmod_fault *fault, u64 turn,
			struct sk_buff_head *go)
{
	struct sk_buff *packet, *next;

	skb_queue_walk_safe(&fault->held, packet, next)
	{
		if (bcl_kmod_leaving(packet)->turn > turn)
			continue;
		__skb_unlink(packet, &fault->held);
		__skb_queue_tail(go, packet);
	}
}

static unsigned int send_all(struct bcl_kmod_host *host,
			     struct sk_buff_head *go)
{
	struct sk_buff *packet;
	unsigned int not_taken = 0;

	while ((packet = __skb_dequeue(go)))
		not_taken += bcl_kmod_send(host, packet);
	return not_taken;
}

unsigned int bcl_kmod_fault_send(struct bcl_kmod_host *host,
				 struct sk_buff *packet)
{
	struct bcl_kmod_fault *fault = &host->fault;
	struct sk_buff_head go;

	if (!READ_ONCE(fault->on))
		return bcl_kmod_send(host, packet);
	__skb_queue_head_init(&go);
	spin_lock(&fault->lock);
	strike(fault, packet, &go);
	release_due(fault, fault->passed, &go);
	spin_unlock(&fault->lock);
	return send_all(host, &go);
}

/* No later frame came for a while. */
static void release_all(struct work_struct *work)
{
	struct bcl_kmod_fault *fault =
		container_of(work, struct bcl_kmod_fault, release.work);
	struct sk_buff_head go;

	__skb_queue_head_init(&go);
	spin_lock_bh(&fault->lock);
	release_due(fault, U64_MAX, &go);
	spin_unlock(&fault->lock);
	send_all(container_of(fault, struct bcl_kmod_host, fault), &go);
	local_bh_enable();
}

/* ---- plans ---- */

void bcl_kmod_fault_init(struct bcl_kmod_fault *fault)
{
	spin_lock_init(&fault->lock);
	__skb_queue_head_init(&fault->held);
	INIT_DELAYED_WORK(&fault->release, release_all);
}

void bcl_kmod_fault_set(struct bcl_kmod_fault *fault,
			const struct bcl_device_fault *plan)
{
	bool on = memchr_inv(plan->chance, 0, sizeof(plan->chance));

	spin_lock_bh(&fault->lock);
	fault->plan = *plan;
	prandom_seed_state(&fault->random, plan->seed);
	WRITE_ONCE(fault->on, on);
	spin_unlock_bh(&fault->lock);
}

void bcl_kmod_fault_close(struct bcl_kmod_fault *fault)
{
	static const struct bcl_device_fault none;
	struct sk_buff *packet;

	bcl_kmod_fault_set(fault, &none);
	cancel_delayed_work_sync(&fault->release);
	while ((packet = __skb_dequeue(&fault->held)))
		lose(packet);
}

void bcl_kmod_fault_show(struct bcl_kmod_fault *fault,
			 struct bcl_device_fault *plan,
			 u64 struck[BCL_DEVICE_FAULTS])
{
	spin_lock(&fault->lock);
	*plan = fault->plan;
	memcpy(struck, fault->struck, sizeof(fault->struck));
	spin_unlock(&fault->lock);
}
