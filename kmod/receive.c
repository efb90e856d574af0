// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Receiving: a frame waits in the card's queue for its next turn, which the
 * tasklet makes. All cards, by id.
 */
#include <linux/hash.h>
#include <linux/random.h>
#include <linux/rculist.h>
#include <linux/skbuff.h>

#include <net/dst.h>

#include "end.h"

enum {
	BUCKET_BITS = 8,
};

static struct hlist_head cards[1 << BUCKET_BITS];
static DEFINE_SPINLOCK(cards_lock); /* for writers */

/* ---- from an end to the queue ---- */

/* The queue's knowledge of a packet, in the control block of the packet. */
struct waiting {
	struct bcl_wire_address source;
	u8 end;
};

static struct waiting *waiting_of(struct sk_buff *packet)
{
	BUILD_BUG_ON(sizeof(struct waiting) > sizeof(packet->cb));
	return (struct waiting *)packet->cb;
}

void bcl_kmod_arrived(struct bcl_kmod_host *host, unsigned int end,
		      const struct bcl_wire_address *source,
		      struct sk_buff *packet)
{
	if (skb_queue_len_lockless(&host->in) >= BCL_KMOD_QUEUE) {
		host->queue_full++;
		kfree_skb(packet);
		return;
	}
	skb_orphan(packet);
	skb_dst_drop(packet);
	*waiting_of(packet) = (struct waiting){ *source, end };
	packet->dev = NULL; /* may be gone by the next turn */
	skb_queue_tail(&host->in, packet);
	tasklet_schedule(&host->tasklet);
}

/* ---- cards ---- */

struct bcl_kmod_host *bcl_kmod_card(u64 id)
{
	struct bcl_kmod_host *host;

	hlist_for_each_entry_rcu (host, &cards[hash_64(id, BUCKET_BITS)],
				  hashed, lockdep_is_held(&cards_lock))
		if (host->id == id)
			return host;
	return NULL;
}

void bcl_kmod_each_card(void (*call)(struct bcl_kmod_host *host, void *arg),
			void *arg)
{
	struct bcl_kmod_host *host;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cards); i++)
		hlist_for_each_entry_rcu (host, &cards[i], hashed)
			call(host, arg);
}

void bcl_kmod_receive_open(struct bcl_kmod_host *host)
{
	spin_lock_bh(&cards_lock);
	do
		host->id = get_random_u64();
	while (!host->id || bcl_kmod_card(host->id));
	hlist_add_head_rcu(&host->hashed,
			   &cards[hash_64(host->id, BUCKET_BITS)]);
	spin_unlock_bh(&cards_lock);
}

void bcl_kmod_receive_close(struct bcl_kmod_host *host)
{
	spin_lock_bh(&cards_lock);
	hlist_del_init_rcu(&host->hashed);
	spin_unlock_bh(&cards_lock);
	synchronize_net();
}

/* ---- from the queue to the core ---- */

static bool is_like(struct sk_buff *a, struct sk_buff *b)
{
	return waiting_of(a)->end == waiting_of(b)->end &&
	       !memcmp(&waiting_of(a)->source, &waiting_of(b)->source,
		       sizeof(waiting_of(a)->source));
}

/* Take frames of one source from the queue, for one input. */
static unsigned int take_burst(struct bcl_kmod_host *host,
			       struct sk_buff_head *burst)
{
	struct sk_buff *packet;
	unsigned int n = 0;

	spin_lock(&host->in.lock);
	while (n < BCL_KMOD_BURST && (packet = skb_peek(&host->in)) &&
	       (!n || is_like(packet, skb_peek(burst)))) {
		__skb_unlink(packet, &host->in);
		__skb_queue_tail(burst, packet);
		host->burst[n++] = (struct bcl_rx_frame){
			.head = packet->data,
			.head_len = packet->len,
		};
	}
	spin_unlock(&host->in.lock);
	return n;
}

static void feed(struct bcl_kmod_host *host, const struct sk_buff_head *burst,
		 unsigned int n)
{
	const struct waiting *first = waiting_of(skb_peek(burst));
	struct bcl_card_next next;

	host->source = &first->source;
	host->source_end = first->end;
	host->end[first->end].wet = true;
	bcl_card_frames(host->card, host->end[first->end].rail, host->burst, n,
			ktime_get_ns(), BCL_KMOD_BUDGET, &next);
	bcl_kmod_wants(host, &next);
	host->source = NULL;
}

bool bcl_kmod_receive(struct bcl_kmod_host *host)
{
	unsigned int left = BCL_KMOD_BUDGET, n;
	struct sk_buff_head burst;

	while (left) {
		__skb_queue_head_init(&burst);
		n = take_burst(host, &burst);
		if (!n)
			return true;
		feed(host, &burst, n);
		__skb_queue_purge(&burst);
		left -= min(left, n);
	}
	return skb_queue_empty(&host->in);
}
