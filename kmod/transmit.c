// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Sending: frames of the core become packets of the kernel, which wait until
 * the turn is over. Payloads are copied: a packet that shares the process's
 * pages may still lie in a queue of some device when the peer has the message,
 * and the process may write to the pages again.
 */
#include <linux/skbuff.h>

#include "end.h"

static struct bcl_target target_of(struct bcl_kmod_host *host,
				   unsigned int rail, u32 index,
				   const struct bcl_tx_frame *frame)
{
	struct bcl_ways *ways = host->connecting;

	if (index == BCL_NODE_NONE) {
		if (host->source && host->end[host->source_end].rail == rail)
			return (struct bcl_target){ host->source,
						    host->source_end };
		return (struct bcl_target){ NULL, 0 };
	}
	if (index < BCL_KMOD_NODES && host->node[index].ways.known & 1 << rail)
		ways = &host->node[index].ways;
	if (!ways)
		return (struct bcl_target){ NULL, 0 };
	return bcl_ways_target(
		ways, rail, bcl_kmod_kind_of(frame->head) == BCL_FRAME_HELLO);
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

unsigned int bcl_kmod_send(struct bcl_kmod_host *host, struct sk_buff *packet)
{
	struct net_device *dev = packet->dev;
	bool taken = host->end[bcl_kmod_leaving(packet)->end].kind->send(
		host, packet);

	dev_put(dev);
	return !taken;
}

/* A packet with room for `length` bytes, in frames of `frame` bytes. NULL: not
 * to be sent. */
static struct sk_buff *make_packet(struct bcl_kmod_host *host,
				   const struct bcl_target *to, u32 length,
				   u32 frame)
{
	struct bcl_kmod_end *own = &host->end[to->end];
	struct sk_buff *packet = NULL;

	if (own->dev && !own->barred)
		packet = own->kind->begin(own, to->address, length, frame);
	if (!packet)
		return NULL;
	dev_hold(packet->dev); /* until the packet is sent */
	*bcl_kmod_leaving(packet) = (struct bcl_kmod_leaving){
		.end = to->end,
		.at = skb_tail_pointer(packet) - packet->head,
	};
	host->count.packets++;
	return packet;
}

static void count_copied(struct bcl_kmod_host *host, u32 length)
{
	host->count.bytes_copied_out += length;
	host->count.frames++;
}

static void send_frame(struct bcl_kmod_host *host, const struct bcl_target *to,
		       struct bcl_tx_frame *frame)
{
	struct bcl_frame_header *header = (void *)frame->head;
	u32 length = frame->head_len + bcl_tx_parts_length(frame);
	struct source source;
	struct sk_buff *packet;
	u8 *at;

	if (!find_parts(host, frame, &source))
		return;
	packet = make_packet(host, to, length, length);
	if (!packet) {
		host->count.not_sent++;
		return;
	}
	at = skb_put(packet, length);
	copy_next(&source, at + frame->head_len, length - frame->head_len);
	memcpy(at + BCL_HEADERS_SIZE, frame->head + BCL_HEADERS_SIZE,
	       frame->head_len - BCL_HEADERS_SIZE);
	if (frame->flags & BCL_TX_PCRC)
		header->pcrc = bcl_put32(bcl_kmod_crc32c(
			0, at + BCL_HEADERS_SIZE, length - BCL_HEADERS_SIZE));
	memcpy(at, frame->head, BCL_HEADERS_SIZE);
	count_copied(host, length - frame->head_len);
	skb_queue_tail(&host->out, packet);
}

/* ---- runs ---- */

/* Append frame number i of the run to the packet. */
static void put_frame(struct bcl_kmod_host *host,
		      const struct bcl_tx_frame *run, unsigned int i,
		      struct source *source, struct sk_buff *packet)
{
	u8 head[BCL_HEADERS_SIZE] __aligned(8);
	u32 length = bcl_tx_run_head(run, i, head);
	struct bcl_frame_header *header = (void *)head;
	u8 *at = skb_put(packet, BCL_HEADERS_SIZE + length);

	if (run->nparts)
		copy_next(source, at + BCL_HEADERS_SIZE, length);
	if (run->flags & BCL_TX_PCRC)
		header->pcrc = bcl_put32(
			bcl_kmod_crc32c(0, at + BCL_HEADERS_SIZE, length));
	header->hcrc = bcl_put32(bcl_kmod_headers_crc(head) ^ run->seal);
	memcpy(at, head, BCL_HEADERS_SIZE);
	count_copied(host, length);
}

/* A packet for n frames of the run from number i on. */
static struct sk_buff *make_for(struct bcl_kmod_host *host,
				const struct bcl_target *to,
				const struct bcl_tx_frame *run, unsigned int i,
				unsigned int n)
{
	u32 payload = n * run->payload;
	u32 length;

	if (i + n == run->frames && run->nparts)
		payload = bcl_tx_parts_length(run) - i * run->payload;
	length = n * BCL_HEADERS_SIZE + payload;
	return make_packet(host, to, length,
			   n > 1 ? BCL_HEADERS_SIZE + run->payload : length);
}

/* The frames that one packet may hold. Without memory for several, each has a
 * packet of its own. */
static unsigned int count_together(const struct bcl_kmod_end *own,
				   const struct bcl_tx_frame *run)
{
	u32 frame = BCL_HEADERS_SIZE + run->payload;

	return own->kind ? max(own->kind->several / frame, 1u) : 1;
}

static void send_run(struct bcl_kmod_host *host, const struct bcl_target *to,
		     const struct bcl_tx_frame *run)
{
	unsigned int together = count_together(&host->end[to->end], run);
	unsigned int i = 0, end;
	struct sk_buff *packet;
	struct source source;

	if (!find_parts(host, run, &source))
		return;
	while (i < run->frames) {
		together = min(together, run->frames - i);
		packet = make_for(host, to, run, i, together);
		if (!packet && together > 1) {
			together = 1;
			packet = make_for(host, to, run, i, 1);
		}
		if (!packet) {
			host->count.not_sent += run->frames - i;
			return;
		}
		for (end = i + together; i < end; i++)
			put_frame(host, run, i, &source, packet);
		skb_queue_tail(&host->out, packet);
	}
}

unsigned int bcl_kmod_transmit(void *arg, unsigned int rail, u32 node,
			       struct bcl_tx_frame *frame)
{
	struct bcl_kmod_host *host = arg;
	const struct bcl_target to = target_of(host, rail, node, frame);

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
 * thread takes the frames of all threads. A packet that the system
 * refuses is lost, as on the wire.
 */
void bcl_kmod_flush(struct bcl_kmod_host *host)
{
	struct sk_buff *packet;

	while (!skb_queue_empty_lockless(&host->out)) {
		/* Full barrier, also if the bit was set: pairs with the barrier
		 * below. Either this thread finds the bit clear, or the other
		 * finds the frame. */
		if (test_and_set_bit(0, &host->sending))
			return;
		while ((packet = skb_dequeue(&host->out)))
			host->not_taken += bcl_kmod_fault_send(host, packet);
		clear_bit_unlock(0, &host->sending);
		smp_mb__after_atomic();
	}
}
