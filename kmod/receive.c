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
	u16 frame; /* bytes of each but the last */
	u32 at;	   /* first byte that the core does not have yet */
};

static struct waiting *waiting_of(struct sk_buff *packet)
{
	BUILD_BUG_ON(sizeof(struct waiting) > sizeof(packet->cb));
	return (struct waiting *)packet->cb;
}

/* True of a HELLO from a card that would be one peer too many. */
static bool is_unwelcome(const struct bcl_kmod_host *host,
			 const struct sk_buff *packet)
{
	const struct bcl_frame_header *header = (void *)packet->data;
	const struct bcl_hello *hello = (const void *)(header + 1);

	BUILD_BUG_ON(sizeof(*header) + sizeof(hello->card) > BCL_FRAME_MIN);
	return bcl_kmod_kind_of(header) == BCL_FRAME_HELLO &&
	       !bcl_kmod_may_meet(host, bcl_get64(hello->card));
}

void bcl_kmod_arrived(struct bcl_kmod_host *host, unsigned int end,
		      const struct bcl_wire_address *source,
		      struct sk_buff *packet, u32 frame)
{
	int n = DIV_ROUND_UP(packet->len, frame);

	if (READ_ONCE(host->end[end].barred) ||
	    !pskb_may_pull(packet, BCL_FRAME_MIN))
		goto drop;
	if (atomic_read(&host->frames) + n > BCL_KMOD_QUEUE) {
		host->queue_full += n;
		goto drop;
	}
	if (is_unwelcome(host, packet) ||
	    !bcl_kmod_charge(host->user, BCL_KMOD_FRAMES, n)) {
		host->over_limit += n;
		goto drop;
	}
	atomic_add(n, &host->frames);
	skb_orphan(packet);
	skb_dst_drop(packet);
	*waiting_of(packet) = (struct waiting){ *source, end, frame, 0 };
	packet->dev = NULL; /* may be gone by the next turn */
	skb_queue_tail(&host->in, packet);
	tasklet_schedule(&host->tasklet);
	return;
drop:
	kfree_skb(packet);
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

/* The bytes of the packet in one piece. */
static const u8 *bytes_of(struct bcl_kmod_host *host, struct sk_buff *packet)
{
	const struct waiting *waiting = waiting_of(packet);
	u8 *flat = host->end[waiting->end].flat;

	if (!skb_is_nonlinear(packet))
		return packet->data;
	if (!waiting->at)
		skb_copy_bits(packet, 0, flat, packet->len);
	return flat;
}

/* Append the packet's next frames to the n of an input. Returns their number.
 */
static unsigned int take_frames(struct bcl_kmod_host *host,
				struct sk_buff *packet, unsigned int n)
{
	const u8 *bytes = bytes_of(host, packet);
	struct waiting *waiting = waiting_of(packet);

	host->count.joined += !waiting->at && waiting->frame < packet->len;
	while (n < BCL_KMOD_BURST && waiting->at < packet->len) {
		u32 length =
			min(packet->len - waiting->at, (u32)waiting->frame);

		host->burst[n++] = (struct bcl_rx_frame){
			.head = bytes + waiting->at,
			.head_len = length,
		};
		waiting->at += length;
	}
	return n;
}

/*
 * Take frames of one source from the queue, for one input. A packet with more
 * frames stays in the queue, which is emptied by turns of the card alone. A
 * packet in pieces is an input by itself: an end has memory for one copy.
 */
static unsigned int take_burst(struct bcl_kmod_host *host,
			       struct sk_buff_head *burst,
			       struct sk_buff *first)
{
	struct sk_buff *packet = first;
	unsigned int n = 0;

	do {
		n = take_frames(host, packet, n);
		if (waiting_of(packet)->at < packet->len)
			break;
		skb_unlink(packet, &host->in);
		__skb_queue_tail(burst, packet);
		if (skb_is_nonlinear(packet))
			break;
		packet = skb_peek(&host->in);
	} while (n < BCL_KMOD_BURST && packet && !skb_is_nonlinear(packet) &&
		 is_like(packet, first));
	atomic_sub(n, &host->frames);
	bcl_kmod_discharge(host->user, BCL_KMOD_FRAMES, n);
	return n;
}

static void feed(struct bcl_kmod_host *host, struct sk_buff *first,
		 unsigned int n)
{
	const struct waiting *waiting = waiting_of(first);
	struct bcl_kmod_end *own = &host->end[waiting->end];
	struct bcl_card_next next;

	host->source = &waiting->source;
	host->source_end = waiting->end;
	own->wet = true;
	bcl_card_frames(host->card, own->rail, host->burst, n, ktime_get_ns(),
			BCL_KMOD_BUDGET, &next);
	bcl_kmod_wants(host, &next);
	host->source = NULL;
}

bool bcl_kmod_receive(struct bcl_kmod_host *host)
{
	unsigned int left = BCL_KMOD_BUDGET, n;
	struct sk_buff_head burst;
	struct sk_buff *first;

	while (left) {
		first = skb_peek(&host->in);
		if (!first)
			return true;
		__skb_queue_head_init(&burst);
		n = take_burst(host, &burst, first);
		feed(host, first, n);
		__skb_queue_purge(&burst);
		left -= min(left, n);
	}
	return skb_queue_empty(&host->in);
}
