// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Receiving: the kernel gives each frame to the card that the frame names, if
 * the card has an end on the interface. The frame waits in the card's queue for
 * its next turn, which the tasklet makes.
 */
#include <linux/etherdevice.h>
#include <linux/hash.h>
#include <linux/if_ether.h>
#include <linux/random.h>
#include <linux/rculist.h>
#include <linux/skbuff.h>

#include <net/dst.h>
#include <net/net_namespace.h>

#include "host.h"

enum {
	PREFIX = sizeof(struct bcl_ether_prefix),
	BUCKET_BITS = 8,
};

static struct hlist_head cards[1 << BUCKET_BITS];
static DEFINE_SPINLOCK(cards_lock); /* for writers */

/* The queue's knowledge of a packet, in the control block of the packet. */
struct waiting {
	struct bcl_wire_address source;
	u8 end;
	u16 length; /* of the frame */
};

static struct waiting *waiting_of(struct sk_buff *packet)
{
	BUILD_BUG_ON(sizeof(struct waiting) > sizeof(packet->cb));
	return (struct waiting *)packet->cb;
}

/* ---- from the interface to the queue ---- */

static int end_of(const struct bcl_kmod_host *host,
		  const struct sk_buff *packet)
{
	/* Acquire: pairs with bcl_kmod_ends_open(). */
	unsigned int n = smp_load_acquire(&host->nends), e;

	for (e = 0; e < n; e++)
		if (READ_ONCE(host->end[e].dev) == packet->dev)
			return e;
	return -1;
}

/* Takes the packet. */
static void let_wait(struct bcl_kmod_host *host, struct sk_buff *packet)
{
	int end = end_of(host, packet);

	if (end < 0 || skb_queue_len_lockless(&host->in) >= BCL_KMOD_QUEUE) {
		host->queue_full += end >= 0;
		kfree_skb(packet);
		return;
	}
	waiting_of(packet)->end = end;
	packet->dev = NULL; /* may be gone by the next turn */
	skb_queue_tail(&host->in, packet);
	tasklet_schedule(&host->tasklet);
}

/* RESET may name card 0: its sender knows only the source of the frame in
 * question. All cards of the interface get the RESET. Takes the packet. */
static void reset_all(struct sk_buff *packet)
{
	struct bcl_kmod_host *host;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cards); i++)
		hlist_for_each_entry_rcu (host, &cards[i], hashed) {
			struct sk_buff *copy =
				end_of(host, packet) < 0
					? NULL
					: skb_copy(packet,
						   GFP_ATOMIC | __GFP_NOWARN);

			if (copy)
				let_wait(host, copy);
		}
	consume_skb(packet);
}

/* Read prefix and header. Returns false if the frame is malformed. */
static bool read_headers(struct sk_buff *packet, u64 *card, u8 *kind)
{
	const struct bcl_ether_prefix *prefix = (const void *)packet->data;
	const struct bcl_frame_header *header = (const void *)(prefix + 1);
	struct waiting *waiting = waiting_of(packet);
	u32 length;

	if (packet->len < PREFIX + BCL_FRAME_MIN)
		return false;
	length = bcl_get16(prefix->length);
	if (length < BCL_FRAME_MIN || length > packet->len - PREFIX)
		return false;
	*card = bcl_get64(header->card);
	*kind = header->kind;
	waiting->source = (struct bcl_wire_address){
		.kind = BCL_WIRE_PACKET,
		.length = bcl_wire_length(BCL_WIRE_PACKET),
	};
	memcpy(waiting->source.bytes, eth_hdr(packet)->h_source, ETH_ALEN);
	waiting->source.bytes[ETH_ALEN] = prefix->from;
	waiting->length = length;
	return true;
}

/* Under rcu_read_lock(), as all handlers of packets. */
static int packet_came(struct sk_buff *packet, struct net_device *dev,
		       struct packet_type *type, struct net_device *original)
{
	struct bcl_kmod_host *host;
	u64 card;
	u8 kind;

	packet = skb_share_check(packet, GFP_ATOMIC);
	if (!packet)
		return NET_RX_DROP;
	if (packet->pkt_type != PACKET_HOST || skb_linearize(packet))
		goto drop;
	skb_orphan(packet);
	skb_dst_drop(packet);
	if (!read_headers(packet, &card, &kind))
		goto drop;
	if (!card && kind == BCL_FRAME_RESET) {
		reset_all(packet);
		return NET_RX_SUCCESS;
	}
	hlist_for_each_entry_rcu (host, &cards[hash_64(card, BUCKET_BITS)],
				  hashed)
		if (host->id == card && net_eq(host->net, dev_net(dev))) {
			let_wait(host, packet);
			return NET_RX_SUCCESS;
		}
drop:
	kfree_skb(packet);
	return NET_RX_DROP;
}

static struct packet_type packets = {
	.type = htons(BCL_ETHERTYPE),
	.func = packet_came,
};

void bcl_kmod_receive_init(void)
{
	dev_add_pack(&packets);
}

void bcl_kmod_receive_exit(void)
{
	dev_remove_pack(&packets);
}

/* ---- cards ---- */

static bool is_taken(u64 id)
{
	struct bcl_kmod_host *host;

	hlist_for_each_entry (host, &cards[hash_64(id, BUCKET_BITS)], hashed)
		if (host->id == id)
			return true;
	return false;
}

void bcl_kmod_receive_open(struct bcl_kmod_host *host)
{
	spin_lock_bh(&cards_lock);
	do
		host->id = get_random_u64();
	while (!host->id || is_taken(host->id));
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
			.head = packet->data + PREFIX,
			.head_len = waiting_of(packet)->length,
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
