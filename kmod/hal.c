// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The functions that the kernel gives to a card core (nicfw/hal.h). */
#include <linux/random.h>

#include "compat.h"
#include "host.h"
#include "pin.h"

/* ---- checksums ---- */

static u32 hal_crc32c(void *host, u32 crc, void *to, const void *data,
		      u32 length)
{
	if (to)
		data = memcpy(to, data, length);
	return bcl_kmod_crc32c(crc, data, length);
}

static u32 hal_headers_crc(void *host, const void *headers)
{
	return bcl_kmod_headers_crc(headers);
}

/* ---- memory ---- */

static void *hal_area(void *arg, u32 handle, u64 length)
{
	struct bcl_kmod_host *host = arg;
	u32 seat = (handle - 1) / BCL_KMOD_AREAS;
	u32 area = (handle - 1) % BCL_KMOD_AREAS;
	const struct bcl_kmod_port *port;

	if (!handle || seat >= BCL_KMOD_SEATS || area >= BCL_AREAS)
		return NULL;
	port = host->seat[seat].port;
	if (!port || length > bcl_area_size(&port->opened, area))
		return NULL;
	return area == BCL_AREA_REQUESTS ? (void *)port->shadow
					 : port->area[area];
}

static u32 right_to(enum bcl_dma_direction direction)
{
	return direction == BCL_DMA_WRITE ? BCL_MEM_REMOTE_WRITE
					  : BCL_MEM_REMOTE_READ;
}

static enum bcl_dma_result hal_dma(void *arg, enum bcl_dma_direction direction,
				   u16 port, int remote,
				   const struct bcl_memref *ref, void *card,
				   u32 cookie)
{
	struct bcl_kmod_host *host = arg;
	bool write = direction == BCL_DMA_WRITE;
	struct bcl_kmod_span span;
	u64 at;

	if (!ref->length)
		return BCL_DMA_DONE;
	if (!bcl_kmod_span_find(host, port, remote, ref, right_to(direction),
				write, &span, &at))
		return BCL_DMA_FAULT;
	if (write) {
		bcl_kmod_span_write(&span, at, card, ref->length);
		host->count.bytes_copied_in += ref->length;
	} else {
		bcl_kmod_span_read(&span, at, card, ref->length);
	}
	return BCL_DMA_DONE;
}

static unsigned int hal_store(void *arg, u16 port, int remote,
			      const struct bcl_memref *ref,
			      const struct bcl_rx_frame *frames, unsigned int n)
{
	struct bcl_kmod_host *host = arg;
	u32 length = ref->length / n;
	struct bcl_kmod_span span;
	unsigned int i;
	u64 at;

	if (!bcl_kmod_span_find(host, port, remote, ref, BCL_MEM_REMOTE_WRITE,
				true, &span, &at))
		return 0;
	for (i = 0; i < n; i++, at += length) {
		const struct bcl_frame_header *header =
			(const void *)frames[i].head;
		const u8 *payload = bcl_rx_payload(&frames[i]);

		if (header->kind & BCL_FRAME_PCRC &&
		    bcl_kmod_crc32c(0, payload, length) !=
			    bcl_get32(header->pcrc))
			break;
		bcl_kmod_span_write(&span, at, payload, length);
	}
	host->count.bytes_copied_in += (u64)i * length;
	return i;
}

static int hal_allowed(void *arg, enum bcl_dma_direction direction, u16 port,
		       const struct bcl_memref *ref)
{
	struct bcl_kmod_span span;
	u64 at;

	return bcl_kmod_span_find(arg, port, 1, ref, right_to(direction),
				  direction == BCL_DMA_WRITE, &span, &at) &&
	       bcl_kmod_span_mapped(&span);
}

static enum bcl_dma_result hal_atomic(void *arg, enum bcl_atomic_op op,
				      u16 port, const struct bcl_memref *ref,
				      const u64 operand[2], u64 *old)
{
	struct bcl_kmod_span span;
	u64 at;

	if (ref->length != sizeof(*old) ||
	    !bcl_kmod_span_find(arg, port, 1, ref, BCL_MEM_REMOTE_ATOMIC, true,
				&span, &at) ||
	    span.kind != BCL_KMOD_PINNED || (span.offset + at) % 8)
		return BCL_DMA_FAULT;
	*old = bcl_kmod_span_atomic(&span, at, op, operand);
	return BCL_DMA_DONE;
}

/* ---- nodes ---- */

static void hal_learn(void *arg, u32 index, unsigned int rail)
{
	struct bcl_kmod_host *host = arg;
	struct bcl_kmod_end *own = &host->end[host->source_end];

	if (index >= BCL_KMOD_NODES || !host->source || own->rail != rail)
		return;
	bcl_ways_learn(&host->node[index].ways, rail, host->source_end,
		       host->source);
	host->grown |= !own->used;
	own->used = true;
}

static void wake_port(const struct bcl_kmod_port *port)
{
	if (port->wake)
		bcl_compat_eventfd_signal(port->wake);
}

static void hal_wake(void *arg, u16 number)
{
	const struct bcl_kmod_seat *seat = bcl_kmod_seat_of(arg, number);

	if (seat)
		wake_port(seat->port);
}

/* All owners that sleep must report the change. */
static void wake_sleepers(struct bcl_kmod_host *host)
{
	unsigned int i;

	for (i = 0; i < BCL_KMOD_SEATS; i++) {
		const struct bcl_kmod_port *port = host->seat[i].port;
		const struct bcl_port_indices *indices;

		if (!port)
			continue;
		indices = (const void *)port->area[BCL_AREA_INDICES];
		if (READ_ONCE(indices->sleeping))
			wake_port(port);
	}
}

static void hal_node(void *arg, u32 index, u64 card, u32 generation,
		     enum bcl_node_state state, enum bcl_status status)
{
	struct bcl_kmod_host *host = arg;
	struct bcl_kmod_node *node = bcl_kmod_node_make(host, index, card);

	if (!node)
		return;
	if (state != BCL_NODE_UP)
		node->ways.proved = 0;
	node->shown.generation = generation;
	node->shown.state = state;
	bcl_kmod_node_count(host, node);
	if (state == BCL_NODE_LOST || state == BCL_NODE_ISOLATED)
		node->shown.lost = status;
	/* Full barrier: the owner stores `sleeping`, then loads the count. */
	smp_store_mb(host->news->changes, host->news->changes + 1);
	wake_sleepers(host);
}

static u64 hal_random(void *host)
{
	return get_random_u64();
}

const struct bcl_hal bcl_kmod_hal = {
	.size = sizeof(struct bcl_hal),
	.features = BCL_HAL_GATHER,
	.transmit = bcl_kmod_transmit,
	.dma = hal_dma,
	.area = hal_area,
	.store = hal_store,
	.allowed = hal_allowed,
	.repost = bcl_kmod_repost,
	.atomic = hal_atomic,
	.wake = hal_wake,
	.crc32c = hal_crc32c,
	.headers_crc = hal_headers_crc,
	.learn = hal_learn,
	.node = hal_node,
	.random = hal_random,
};
