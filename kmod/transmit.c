// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Sending: frames of the core become packets of the kernel, which wait until
 * the turn is over. Payloads are copied: a packet that shares the process's
 * pages may still lie in a queue of some device when the peer has the message,
 * and the process may write to the pages again.
 */
#include <linux/etherdevice.h>
#include <linux/skbuff.h>

#include "host.h"

enum {
	PREFIX = sizeof(struct bcl_ether_prefix),
	HINTS = 32, /* fan-out hints that handshakes try */
};

struct target {
	const struct bcl_kmod_address *address; /* NULL: not known */
	unsigned int end;
};

static u8 kind_of(const u8 *head)
{
	const struct bcl_frame_header *header = (const void *)head;

	return header->kind & ~(BCL_FRAME_PCRC | BCL_FRAME_ASK);
}

static struct target target_of(struct bcl_kmod_host *host, unsigned int rail,
			       u32 index, const struct bcl_tx_frame *frame)
{
	struct bcl_kmod_node *node = host->connecting;
	struct target to = { NULL, 0 };

	if (index == BCL_NODE_NONE) {
		if (host->source && host->end[host->source_end].rail == rail)
			to = (struct target){ host->source, host->source_end };
		return to;
	}
	if (index < BCL_KMOD_NODES && host->node[index].shown.known & 1 << rail)
		node = &host->node[index];
	if (!node || !(node->shown.known & 1 << rail))
		return to;
	if (kind_of(frame->head) == BCL_FRAME_HELLO)
		to.address = bcl_kmod_hello_to(host, node, rail, &to.end);
	else
		to = (struct target){ &node->address[rail], node->end[rail] };
	return to;
}

/* The payload of a frame or a run, read piece by piece. */
struct source {
	struct bcl_kmod_span span[BCL_TX_PARTS];
	u64 at[BCL_TX_PARTS];
	u32 left[BCL_TX_PARTS];
	unsigned int n, next;
};

/* Returns false if the memory of a part is gone: the frames are lost, as on the
 * wire. */
static bool find_parts(struct bcl_kmod_host *host,
		       const struct bcl_tx_frame *frame, struct source *source)
{
	unsigned int i;

	source->n = 0;
	source->next = 0;
	for (i = 0; i < frame->nparts; i++) {
		const struct bcl_tx_part *part = &frame->part[i];
		unsigned int n = source->n;

		if (!part->ref.length)
			continue;
		if (!bcl_kmod_span_find(host, part->port, part->remote,
					&part->ref, BCL_MEM_REMOTE_READ, false,
					&source->span[n], &source->at[n]))
			return false;
		source->left[n] = part->ref.length;
		source->n++;
	}
	return true;
}

static void copy_next(struct source *source, u8 *to, u32 length)
{
	while (length) {
		unsigned int i = source->next;
		u32 some = min(length, source->left[i]);

		bcl_kmod_span_read(&source->span[i], source->at[i], to, some);
		source->at[i] += some;
		source->left[i] -= some;
		source->next += !source->left[i];
		to += some;
		length -= some;
	}
}

/* A packet with the headers of Ethernet and prefix, and room for a frame of
 * `length` bytes. NULL: not to be sent. */
static struct sk_buff *make_packet(struct bcl_kmod_host *host,
				   const struct target *to, u32 length)
{
	const struct bcl_kmod_end *own = &host->end[to->end];
	struct bcl_ether_prefix *prefix;
	struct net_device *dev = own->dev;
	struct sk_buff *packet = NULL;
	unsigned int before = 0;

	if (dev && PREFIX + length <= READ_ONCE(dev->mtu)) {
		before = LL_RESERVED_SPACE(dev); /* may change at any time */
		packet = alloc_skb(before + PREFIX + length +
					   READ_ONCE(dev->needed_tailroom),
				   GFP_ATOMIC | __GFP_NOWARN);
	}
	if (!packet) {
		host->count.not_sent++;
		return NULL;
	}
	skb_reserve(packet, before);
	skb_reset_network_header(packet);
	prefix = skb_put_zero(packet, PREFIX);
	prefix->length = bcl_put16(length);
	prefix->to = to->address->hint;
	prefix->from = BCL_KMOD_NO_HINT;
	packet->dev = dev;
	packet->protocol = htons(BCL_ETHERTYPE);
	if (dev_hard_header(packet, dev, BCL_ETHERTYPE, to->address->mac,
			    own->address.mac, packet->len) < 0) {
		kfree_skb(packet);
		host->count.not_sent++;
		return NULL;
	}
	return packet;
}

/* Until the packet is sent, the device stays. */
static void queue_packet(struct bcl_kmod_host *host, struct sk_buff *packet)
{
	dev_hold(packet->dev);
	skb_queue_tail(&host->out, packet);
}

/* Handshakes also go to a second hint, all hints in turn; see wire/packet.c. */
static void send_twice(struct bcl_kmod_host *host, struct sk_buff *packet)
{
	struct bcl_ether_prefix *prefix = (void *)skb_network_header(packet);
	struct sk_buff *second;

	if (prefix->to == BCL_KMOD_NO_HINT)
		return;
	second = skb_copy(packet, GFP_ATOMIC | __GFP_NOWARN);
	if (!second)
		return;
	prefix = (void *)skb_network_header(second);
	prefix->to = host->hello_turn++ % HINTS;
	queue_packet(host, second);
}

static void count_copied(struct bcl_kmod_host *host, u32 length)
{
	host->count.bytes_copied_out += length;
	host->count.frames++;
}

static void send_frame(struct bcl_kmod_host *host, const struct target *to,
		       struct bcl_tx_frame *frame)
{
	struct bcl_frame_header *header = (void *)frame->head;
	u32 length = frame->head_len + bcl_tx_parts_length(frame);
	struct source source;
	struct sk_buff *packet;
	u8 *at;

	if (!find_parts(host, frame, &source))
		return;
	packet = make_packet(host, to, length);
	if (!packet)
		return;
	at = skb_put(packet, length);
	copy_next(&source, at + frame->head_len, length - frame->head_len);
	memcpy(at + BCL_HEADERS_SIZE, frame->head + BCL_HEADERS_SIZE,
	       frame->head_len - BCL_HEADERS_SIZE);
	if (frame->flags & BCL_TX_PCRC)
		header->pcrc = bcl_put32(bcl_kmod_crc32c(
			0, at + BCL_HEADERS_SIZE, length - BCL_HEADERS_SIZE));
	memcpy(at, frame->head, BCL_HEADERS_SIZE);
	count_copied(host, length - frame->head_len);
	if (kind_of(at) == BCL_FRAME_HELLO ||
	    kind_of(at) == BCL_FRAME_HELLO_ACK)
		send_twice(host, packet);
	queue_packet(host, packet);
}

static void send_run(struct bcl_kmod_host *host, const struct target *to,
		     const struct bcl_tx_frame *run)
{
	struct source source;
	unsigned int i;

	if (!find_parts(host, run, &source))
		return;
	for (i = 0; i < run->frames; i++) {
		u8 head[BCL_HEADERS_SIZE] __aligned(8);
		u32 length = bcl_tx_run_head(run, i, head);
		struct bcl_frame_header *header = (void *)head;
		struct sk_buff *packet =
			make_packet(host, to, BCL_HEADERS_SIZE + length);
		u8 *at;

		if (!packet)
			return; /* this frame and the rest are lost */
		at = skb_put(packet, BCL_HEADERS_SIZE + length);
		if (run->nparts)
			copy_next(&source, at + BCL_HEADERS_SIZE, length);
		if (run->flags & BCL_TX_PCRC)
			header->pcrc = bcl_put32(bcl_kmod_crc32c(
				0, at + BCL_HEADERS_SIZE, length));
		header->hcrc =
			bcl_put32(bcl_kmod_headers_crc(head) ^ run->seal);
		memcpy(at, head, BCL_HEADERS_SIZE);
		count_copied(host, length);
		queue_packet(host, packet);
	}
}

unsigned int bcl_kmod_transmit(void *arg, unsigned int rail, u32 node,
			       struct bcl_tx_frame *frame)
{
	struct bcl_kmod_host *host = arg;
	const struct target to = target_of(host, rail, node, frame);

	if (!to.address)
		host->count.no_address += frame->frames;
	else if (frame->frames > 1)
		send_run(host, &to, frame);
	else
		send_frame(host, &to, frame);
	return frame->frames;
}

/*
 * A single thread at a time sends, so that frames leave in order. The sending
 * thread takes the frames of all threads. If the device refuses a frame, the
 * frame is lost, as on the wire.
 */
void bcl_kmod_flush(struct bcl_kmod_host *host)
{
	struct net_device *dev;
	struct sk_buff *packet;

	while (!skb_queue_empty_lockless(&host->out)) {
		/* Full barrier, also if the bit was set: pairs with the barrier
		 * below. Either this thread finds the bit clear, or the other
		 * finds the frame. */
		if (test_and_set_bit(0, &host->sending))
			return;
		while ((packet = skb_dequeue(&host->out))) {
			dev = packet->dev;
			if (dev_queue_xmit(packet))
				host->not_taken++;
			dev_put(dev);
		}
		clear_bit_unlock(0, &host->sending);
		smp_mb__after_atomic();
	}
}
