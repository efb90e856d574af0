// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Ends that are interfaces of Ethernet: a frame follows a prefix. The kernel
 * gives each frame to the card that the frame names, if the card has an end on
 * the interface.
 */
#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/if_ether.h>
#include <linux/rculist.h>

#include <net/dst.h>
#include <net/net_namespace.h>

#include "end.h"

enum {
	PREFIX = sizeof(struct bcl_ether_prefix),
	HINTS = 32,	/* fan-out hints that handshakes try */
	NO_HINT = 0xff, /* any fan-out hint will do */
};

/* ---- the end ---- */

static int ether_open(struct bcl_kmod_host *host, struct bcl_kmod_end *own,
		      const struct bcl_wire_address *asked)
{
	if (own->dev->type != ARPHRD_ETHER && own->dev->type != ARPHRD_LOOPBACK)
		return EPFNOSUPPORT;
	own->address.bytes[ETH_ALEN] = NO_HINT;
	return 0;
}

static u32 ether_measure(struct bcl_kmod_end *own, u32 mtu)
{
	memcpy(own->address.bytes, own->dev->dev_addr, ETH_ALEN);
	return mtu - PREFIX;
}

/* ---- sending ---- */

static struct sk_buff *ether_begin(struct bcl_kmod_end *own,
				   const struct bcl_wire_address *to,
				   u32 length, u32 frame)
{
	struct net_device *dev = own->dev;
	const unsigned int before = LL_RESERVED_SPACE(dev); /* may change */
	struct bcl_ether_prefix *prefix;
	struct sk_buff *packet;

	if (PREFIX + length > READ_ONCE(dev->mtu))
		return NULL;
	packet = alloc_skb(before + PREFIX + length +
				   READ_ONCE(dev->needed_tailroom),
			   GFP_ATOMIC | __GFP_NOWARN);
	if (!packet)
		return NULL;
	skb_reserve(packet, before);
	skb_reset_network_header(packet);
	prefix = skb_put_zero(packet, PREFIX);
	prefix->length = bcl_put16(length);
	prefix->to = to->bytes[ETH_ALEN];
	prefix->from = NO_HINT;
	packet->dev = dev;
	packet->protocol = htons(BCL_ETHERTYPE);
	if (dev_hard_header(packet, dev, BCL_ETHERTYPE, to->bytes,
			    own->address.bytes, packet->len) >= 0)
		return packet;
	kfree_skb(packet);
	return NULL;
}

/* Handshakes also go to a second hint, all hints in turn; see wire/packet.c. */
static struct sk_buff *make_second(struct bcl_kmod_host *host,
				   const struct sk_buff *packet)
{
	struct bcl_ether_prefix *prefix = (void *)skb_network_header(packet);
	u8 kind = bcl_kmod_kind_of(prefix + 1);
	struct sk_buff *second;

	if ((kind != BCL_FRAME_HELLO && kind != BCL_FRAME_HELLO_ACK) ||
	    prefix->to == NO_HINT)
		return NULL;
	second = skb_copy(packet, GFP_ATOMIC | __GFP_NOWARN);
	if (second) {
		prefix = (void *)skb_network_header(second);
		prefix->to = host->hello_turn++ % HINTS;
	}
	return second;
}

static bool ether_send(struct bcl_kmod_host *host, struct sk_buff *packet)
{
	struct sk_buff *second = make_second(host, packet);

	if (second)
		dev_queue_xmit(second);
	return !dev_queue_xmit(packet);
}

const struct bcl_kmod_kind bcl_kmod_ether = {
	.open = ether_open,
	.measure = ether_measure,
	.begin = ether_begin,
	.send = ether_send,
};

/* ---- receiving ---- */

/* Returns the end on the interface of the packet; -1: none. */
static int end_of(const struct bcl_kmod_host *host,
		  const struct sk_buff *packet)
{
	/* Acquire: pairs with bcl_kmod_ends_open(). */
	unsigned int n = smp_load_acquire(&host->nends), e;

	for (e = 0; e < n; e++)
		if (READ_ONCE(host->end[e].dev) == packet->dev &&
		    host->end[e].kind == &bcl_kmod_ether)
			return e;
	return -1;
}

/* Takes the packet. */
static void give_to(struct bcl_kmod_host *host, struct sk_buff *packet,
		    const struct bcl_wire_address *source)
{
	int end = end_of(host, packet);

	if (end < 0)
		kfree_skb(packet);
	else
		bcl_kmod_arrived(host, end, source, packet, packet->len);
}

struct given {
	struct sk_buff *packet;
	const struct bcl_wire_address *source;
};

static void give_copy(struct bcl_kmod_host *host, void *arg)
{
	const struct given *given = arg;
	struct sk_buff *copy;

	if (end_of(host, given->packet) < 0)
		return;
	copy = skb_copy(given->packet, GFP_ATOMIC | __GFP_NOWARN);
	if (copy)
		give_to(host, copy, given->source);
}

/* Take the prefix from the packet. Returns false if the frame is malformed. */
static bool read_prefix(struct sk_buff *packet, struct bcl_wire_address *source)
{
	const struct bcl_ether_prefix *prefix = (const void *)packet->data;
	u32 length;

	if (packet->len < PREFIX + BCL_FRAME_MIN)
		return false;
	length = bcl_get16(prefix->length);
	if (length < BCL_FRAME_MIN || length > packet->len - PREFIX)
		return false;
	*source = (struct bcl_wire_address){
		.kind = BCL_WIRE_PACKET,
		.length = bcl_wire_length(BCL_WIRE_PACKET),
	};
	memcpy(source->bytes, eth_hdr(packet)->h_source, ETH_ALEN);
	source->bytes[ETH_ALEN] = prefix->from;
	skb_pull(packet, PREFIX);
	return !pskb_trim(packet, length);
}

/* Under rcu_read_lock(), as all handlers of packets. */
static int packet_came(struct sk_buff *packet, struct net_device *dev,
		       struct packet_type *type, struct net_device *original)
{
	const struct bcl_frame_header *header;
	struct bcl_wire_address source;
	struct bcl_kmod_host *host;

	packet = skb_share_check(packet, GFP_ATOMIC);
	if (!packet)
		return NET_RX_DROP;
	if (packet->pkt_type != PACKET_HOST || skb_linearize(packet) ||
	    !read_prefix(packet, &source))
		goto drop;
	header = (const void *)packet->data;
	/* RESET may name card 0: its sender knows only the source of the frame
	 * in question. All cards of the interface get the RESET. */
	if (!bcl_get64(header->card) && header->kind == BCL_FRAME_RESET) {
		struct given given = { packet, &source };

		bcl_kmod_each_card(give_copy, &given);
		consume_skb(packet);
		return NET_RX_SUCCESS;
	}
	host = bcl_kmod_card(bcl_get64(header->card));
	if (host && net_eq(host->net, dev_net(dev))) {
		give_to(host, packet, &source);
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

void bcl_kmod_ether_init(void)
{
	dev_add_pack(&packets);
}

void bcl_kmod_ether_exit(void)
{
	dev_remove_pack(&packets);
}
