/* SPDX-License-Identifier: MIT */
/* The functions that the in-process host gives to its card core (nicfw/hal.h),
 * and the sink for the frames of its rails. */
#include "card/inproc/inproc.h"

#include <string.h>

#include <bcl/bcl.h>

#include "card/checksum.h"
#include "card/memory.h"
#include "env/counters.h"
#include "env/crc32c.h"
#include "env/prefetch.h"
#include "env/random.h"

/* ---- memory ---- */

/* Most ports have the seat of their number. */
static inline struct bcl_host_seat *seat_of(struct bcl_inproc *host,
					    uint16_t port)
{
	struct bcl_host_seat *seat = &host->seats[port % BCL_INPROC_PORTS];

	return seat->number == port ? seat
				    : bcl_inproc_seat_find(host, port, port);
}

static inline uint8_t *area_memory(struct bcl_inproc *host, uint32_t handle,
				   uint64_t offset, uint64_t length)
{
	uint32_t index = handle - 1;
	const struct bcl_host_area *area;

	if (index >= BCL_INPROC_HANDLES)
		return NULL;
	area = &host->areas[index];
	if (offset > area->length || length > area->length - offset)
		return NULL;
	return area->address + offset;
}

static enum bcl_dma_result count_refusal(struct bcl_inproc *host)
{
	bcl_count(host->setup.counters, host_dma_refused);
	return BCL_DMA_FAULT;
}

/* The address of the memory, or NULL: not in the memory of the port, or without
 * the rights. Port 0 is the card itself. */
static inline uint8_t *resolve_memory(struct bcl_inproc *host, uint16_t port,
				      int remote, const struct bcl_memref *ref,
				      unsigned rights)
{
	uint8_t *memory;

	if (!port)
		memory = area_memory(host, ref->handle, ref->offset,
				     ref->length);
	else if (!remote && ref->handle == BCL_HANDLE_SELF)
		memory = (uint8_t *)(uintptr_t)ref->offset;
	else if (!remote)
		memory = bcl_memory_check(host->setup.memories, ref->handle,
					  ref->offset, ref->length, 0);
	else
		memory = bcl_memory_reach(host->setup.memories, ref->handle,
					  ref->offset, ref->length, rights);
	if (!memory)
		count_refusal(host);
	return memory;
}

static void *hal_area(void *host, uint32_t handle, uint64_t length)
{
	return area_memory(host, handle, 0, length);
}

static void place_bytes(struct bcl_inproc *host, uint8_t *to,
			const uint8_t *from, uint32_t length)
{
	memcpy(to, from, length);
	bcl_count_add(host->setup.counters, BCL_COUNT_host_bytes_placed,
		      length);
}

static enum bcl_dma_result hal_dma(void *arg, enum bcl_dma_direction direction,
				   uint16_t port, int remote,
				   const struct bcl_memref *ref, void *card,
				   uint32_t cookie)
{
	bool write = direction == BCL_DMA_WRITE;
	uint8_t *memory;

	(void)cookie;
	if (!ref->length)
		return BCL_DMA_DONE;
	memory = resolve_memory(arg, port, remote, ref,
				write ? BCL_REMOTE_WRITE : BCL_REMOTE_READ);
	if (!memory)
		return BCL_DMA_FAULT;
	if (write)
		place_bytes(arg, memory, card, ref->length);
	else
		memcpy(card, memory, ref->length);
	return BCL_DMA_DONE;
}

enum {
	LINE = 64,
	AHEAD = 2, /* frames */
};

static void prefetch_memory(const uint8_t *memory, uint32_t length)
{
	uint32_t at;

	for (at = 0; at < length; at += LINE)
		bcl_prefetch_write(memory + at);
}

/*
 * The memory of the user is prefetched two frames ahead: the memory of a long
 * message is in no near cache, and stores alone fetch too few lines at a time.
 */
static unsigned hal_store(void *arg, uint16_t port, int remote,
			  const struct bcl_memref *ref,
			  const struct bcl_rx_frame *frames, unsigned n)
{
	struct bcl_inproc *host = arg;
	uint8_t *memory =
		resolve_memory(host, port, remote, ref, BCL_REMOTE_WRITE);
	uint32_t length = ref->length / n;
	unsigned i;

	if (!memory)
		return 0;
	for (i = 0; i < n; i++, memory += length) {
		const struct bcl_frame_header *header =
			(const void *)frames[i].head;
		uint32_t crc;

		if (i + AHEAD < n)
			prefetch_memory(memory + AHEAD * length, length);
		crc = bcl_crc32c_copy(0, memory, bcl_rx_payload(&frames[i]),
				      length);
		if (header->kind & BCL_FRAME_PCRC &&
		    crc != bcl_get32(header->pcrc))
			break;
	}
	bcl_count_add(host->setup.counters, BCL_COUNT_host_bytes_placed,
		      (uint64_t)i * length);
	return i;
}

static int hal_allowed(void *arg, enum bcl_dma_direction direction,
		       uint16_t port, const struct bcl_memref *ref)
{
	unsigned rights =
		direction == BCL_DMA_WRITE ? BCL_REMOTE_WRITE : BCL_REMOTE_READ;

	return resolve_memory(arg, port, 1, ref, rights) != NULL;
}

static enum bcl_dma_result hal_atomic(void *arg, enum bcl_atomic_op op,
				      uint16_t port,
				      const struct bcl_memref *ref,
				      const uint64_t operand[2], uint64_t *old)
{
	_Atomic uint64_t *word =
		(void *)resolve_memory(arg, port, 1, ref, BCL_REMOTE_ATOMIC);

	if (!word || ref->length != sizeof(*old) || (uintptr_t)word % 8)
		return BCL_DMA_FAULT;
	/* Sequentially consistent: the program may use the word in any way. */
	if (op == BCL_ATOMIC_ADD) {
		*old = atomic_fetch_add_explicit(word, operand[0],
						 memory_order_seq_cst);
	} else {
		*old = operand[0];
		atomic_compare_exchange_strong_explicit(word, old, operand[1],
							memory_order_seq_cst,
							memory_order_seq_cst);
	}
	return BCL_DMA_DONE;
}

/* ---- frames ---- */

static struct bcl_target to_source(const struct bcl_inproc *host, unsigned rail)
{
	if (!host->source || host->ends[host->source_end].number != rail)
		return (struct bcl_target){ NULL, 0 };
	return (struct bcl_target){ host->source, host->source_end };
}

static bool is_hello(const struct bcl_tx_frame *frame)
{
	const struct bcl_frame_header *header = (const void *)frame->head;

	return (header->kind & ~BCL_FRAME_PCRC) == BCL_FRAME_HELLO;
}

static struct bcl_target target_of(struct bcl_inproc *host, unsigned rail,
				   uint32_t index,
				   const struct bcl_tx_frame *frame)
{
	struct bcl_ways *ways = host->connecting;

	if (index == BCL_NODE_NONE)
		return to_source(host, rail);
	if (index < host->nnodes && host->nodes[index].ways.known & 1u << rail)
		ways = &host->nodes[index].ways;
	if (!ways)
		return (struct bcl_target){ NULL, 0 };
	return bcl_ways_target(ways, rail, is_hello(frame));
}

/* Store the checksum of all bytes after the headers in the frame header. */
static void store_checksum(struct bcl_tx_frame *frame,
			   const struct bcl_rail_tx *tx)
{
	struct bcl_frame_header *header = (void *)frame->head;
	uint32_t crc = 0;
	unsigned i;

	if (frame->head_len > BCL_HEADERS_SIZE)
		crc = bcl_crc32c(crc, frame->head + BCL_HEADERS_SIZE,
				 frame->head_len - BCL_HEADERS_SIZE);
	for (i = 1; i < tx->niov; i++)
		crc = bcl_crc32c(crc, tx->iov[i].iov_base, tx->iov[i].iov_len);
	header->pcrc = bcl_put32(crc);
}

static bool gather_frame(struct bcl_inproc *host, struct bcl_tx_frame *frame,
			 struct bcl_rail_tx *tx)
{
	unsigned i;

	tx->iov[0] = (struct iovec){ frame->head, frame->head_len };
	tx->niov = 1;
	tx->length = frame->head_len;
	for (i = 0; i < frame->nparts; i++) {
		const struct bcl_tx_part *part = &frame->part[i];
		uint8_t *memory;

		if (!part->ref.length)
			continue;
		memory = resolve_memory(host, part->port, part->remote,
					&part->ref, BCL_REMOTE_READ);
		if (!memory)
			return false;
		tx->iov[tx->niov++] =
			(struct iovec){ memory, part->ref.length };
		tx->length += part->ref.length;
	}
	if (frame->flags & BCL_TX_PCRC)
		store_checksum(frame, tx);
	return true;
}

/* The payload of a run, read piece by piece. */
struct source {
	struct iovec piece[BCL_TX_PARTS];
	unsigned next;
};

/* Returns false if the memory of a piece is gone: the run is lost, as on the
 * wire. */
static bool find_pieces(struct bcl_inproc *host, const struct bcl_tx_frame *run,
			struct source *source)
{
	unsigned i;

	source->next = 0;
	for (i = 0; i < run->nparts; i++) {
		const struct bcl_tx_part *part = &run->part[i];
		uint8_t *memory = resolve_memory(host, part->port, part->remote,
						 &part->ref, BCL_REMOTE_READ);

		if (!memory)
			return false;
		source->piece[i] = (struct iovec){ memory, part->ref.length };
	}
	return true;
}

/* Copy the next bytes to `to`. Returns their checksum. */
static uint32_t copy_next(struct source *source, uint8_t *to, size_t length)
{
	uint32_t crc = 0;

	while (length) {
		struct iovec *piece = &source->piece[source->next];
		size_t n = length < piece->iov_len ? length : piece->iov_len;

		crc = bcl_crc32c_copy(crc, to, piece->iov_base, n);
		piece->iov_base = (uint8_t *)piece->iov_base + n;
		piece->iov_len -= n;
		source->next += piece->iov_len == 0;
		to += n;
		length -= n;
	}
	return crc;
}

/* Write one frame of a run, with checksums, to `at`. Returns its length. */
static unsigned pack_frame(const struct bcl_tx_frame *run, unsigned i,
			   uint8_t *at, struct source *source)
{
	struct bcl_frame_header *header = (void *)at;
	uint32_t length = bcl_tx_run_head(run, i, at), crc = 0;

	if (run->nparts)
		crc = copy_next(source, at + BCL_HEADERS_SIZE, length);
	if (run->flags & BCL_TX_PCRC)
		header->pcrc = bcl_put32(crc);
	header->hcrc = bcl_put32(bcl_crc32c_headers(at) ^ run->seal);
	return BCL_HEADERS_SIZE + length;
}

/*
 * Write frames of a run one behind the other. The system copies one piece twice
 * as fast as headers and payloads from many places, or takes one piece without
 * a copy. The gain exceeds the cost of the copy here, since the checksum must
 * read the payload anyway.
 */
static void pack_all(struct bcl_inproc *host, const struct bcl_tx_frame *run,
		     struct source *source, unsigned first, unsigned n,
		     uint8_t *at)
{
	unsigned i;

	for (i = 0; i < n; i++) {
		unsigned length = pack_frame(run, first + i, at, source);

		host->tx[i] =
			(struct bcl_rail_tx){ { { at, length } }, 1, length };
		at += length;
	}
}

/* The memory in which n frames of a run are put together. */
static uint8_t *place_for(struct bcl_inproc *host, struct bcl_rail *rail,
			  const struct bcl_wire_address *to,
			  const struct bcl_tx_frame *run, unsigned n)
{
	uint8_t *memory = NULL;

	if (rail->stage && run->flags & BCL_TX_PCRC)
		memory = rail->stage(
			rail, to,
			BCL_INPROC_STAGE_AT +
				n * (BCL_HEADERS_SIZE + run->payload));
	return (memory ? memory : host->stage) + BCL_INPROC_STAGE_AT;
}

/* Send a run, in parts that fit the memory. Returns the number of frames
 * taken. */
static unsigned __attribute__((noinline))
transmit_run(struct bcl_inproc *host, struct bcl_rail *rail,
	     const struct bcl_wire_address *to, const struct bcl_tx_frame *run)
{
	unsigned most = (BCL_INPROC_STAGE - BCL_INPROC_STAGE_AT) /
			(BCL_HEADERS_SIZE + run->payload);
	struct source source;
	unsigned taken = 0;

	if (most > BCL_INPROC_BURST)
		most = BCL_INPROC_BURST;
	if (!find_pieces(host, run, &source))
		return run->frames;
	while (taken < run->frames) {
		unsigned n = run->frames - taken, sent;

		if (n > most)
			n = most;
		pack_all(host, run, &source, taken, n,
			 place_for(host, rail, to, run, n));
		bcl_count_add(host->setup.counters,
			      BCL_COUNT_host_bytes_gathered,
			      (uint64_t)n * run->payload);
		sent = rail->transmit(rail, to, host->tx, n);
		taken += sent;
		if (sent < n)
			break;
	}
	return taken;
}

static unsigned __attribute__((flatten))
hal_transmit(void *arg, unsigned rail, uint32_t node,
	     struct bcl_tx_frame *frame)
{
	struct bcl_inproc *host = arg;
	const struct bcl_target to = target_of(host, rail, node, frame);
	struct bcl_inproc_end *own = &host->ends[to.end];
	unsigned taken = 1;

	if (!to.address) {
		bcl_count_add(host->setup.counters, BCL_COUNT_host_no_address,
			      frame->frames);
		return frame->frames;
	}
	if (frame->frames > 1)
		taken = transmit_run(host, own->rail, to.address, frame);
	else if (gather_frame(host, frame, host->tx)) /* otherwise lost, too */
		taken = own->rail->transmit(own->rail, to.address, host->tx, 1);
	if (taken < frame->frames) {
		own->blocked = true;
		bcl_count(host->setup.counters, host_transmit_full);
	}
	return taken;
}

static void hal_learn(void *arg, uint32_t index, unsigned rail)
{
	struct bcl_inproc *host = arg;
	struct bcl_inproc_end *own = &host->ends[host->source_end];

	if (index >= host->nnodes || !host->source || own->number != rail)
		return;
	bcl_ways_learn(&host->nodes[index].ways, rail, host->source_end,
		       host->source);
	host->grown |= !own->used;
	own->used = true;
}

static void wake_port(struct bcl_inproc *host, const struct bcl_host_seat *seat)
{
	bcl_count(host->setup.counters, host_wakes);
	host->setup.env->wake(host->setup.env->world, seat->object);
}

/* All sleeping owners must report the change, regardless of the thread that
 * heard of it. */
static void wake_sleepers(struct bcl_inproc *host)
{
	unsigned i;

	for (i = 0; i < BCL_INPROC_PORTS; i++) {
		const struct bcl_host_seat *seat = &host->seats[i];

		/* The lock is held: see bcl_host_sleep(). */
		if (seat->number &&
		    atomic_load_explicit(seat->sleeping, memory_order_relaxed))
			wake_port(host, seat);
	}
}

static void hal_node(void *arg, uint32_t index, uint64_t card,
		     uint32_t generation, enum bcl_node_state state,
		     enum bcl_status status)
{
	struct bcl_inproc *host = arg;
	struct bcl_inproc_node *node = bcl_inproc_node_make(host, index, card);
	uint32_t count;

	bcl_assert(bcl_inproc_is_locked(host));
	if (!node)
		return; /* without an address the node cannot come up */
	count = atomic_load_explicit(&host->base.alive, memory_order_relaxed) +
		bcl_inproc_alive(state) - bcl_inproc_alive(node->shown.state);
	atomic_store_explicit(&host->base.alive, count, memory_order_relaxed);
	if (state != BCL_NODE_UP)
		node->ways.proved = 0;
	bcl_host_node_set(&node->shown, generation, state, status);
	if (host->trace)
		bcl_journal_node(&host->journal, card, state, status);
	/* Owners read the count without the lock, then take the lock. Release:
	 * pairs with bcl_host_receive(). */
	atomic_fetch_add_explicit(&host->changes, 1, memory_order_release);
	wake_sleepers(host);
}

/* ---- the rest ---- */

static void hal_wake(void *arg, uint16_t port)
{
	struct bcl_inproc *host = arg;
	struct bcl_host_seat *seat = seat_of(host, port);

	if (seat)
		wake_port(host, seat);
}

static uint64_t hal_random(void *arg)
{
	struct bcl_inproc *host = arg;

	return bcl_random_draw(host->setup.random);
}

const struct bcl_hal bcl_inproc_hal = {
	.size = sizeof(struct bcl_hal),
	.features = BCL_HAL_GATHER,
	.transmit = hal_transmit,
	.dma = hal_dma,
	.area = hal_area,
	.store = hal_store,
	.allowed = hal_allowed,
	.atomic = hal_atomic,
	.wake = hal_wake,
	.crc32c = bcl_host_crc32c,
	.headers_crc = bcl_host_headers_crc,
	.learn = hal_learn,
	.node = hal_node,
	.random = hal_random,
};

/* ---- what the rails bring ---- */

static void frames_came(struct bcl_inproc *host, unsigned rail,
			const struct bcl_rx_frame *frames, unsigned n)
{
	struct bcl_card_next next;

	bcl_assert(bcl_inproc_is_locked(host));
	bcl_card_frames(host->card, rail, frames, n, bcl_inproc_now(host),
			BCL_INPROC_BUDGET, &next);
	bcl_inproc_wants(host, &next);
}

static void sink_deliver(void *arg, unsigned end,
			 const struct bcl_wire_address *source,
			 const struct bcl_rx_frame *frames, unsigned n)
{
	struct bcl_inproc *host = arg;

	host->source = source;
	host->source_end = end;
	if (n)
		frames_came(host, host->ends[end].number, frames, n);
	host->source = NULL;
}

static void sink_gone(void *arg, unsigned end,
		      const struct bcl_wire_address *address,
		      enum bcl_status why)
{
	struct bcl_inproc *host = arg;
	unsigned rail = host->ends[end].number;
	struct bcl_card_next next;
	uint32_t i;

	for (i = 0; i < host->nnodes; i++) {
		struct bcl_inproc_node *node = &host->nodes[i];

		if (!bcl_inproc_alive(node->shown.state) ||
		    !bcl_ways_refused(&node->ways, rail, end, address))
			continue;
		bcl_card_node_gone(host->card, i, rail, why,
				   bcl_inproc_now(host), BCL_INPROC_BUDGET,
				   &next);
		bcl_inproc_wants(host, &next);
	}
}

static uint64_t sink_believed(void *arg)
{
	const struct bcl_inproc *host = arg;

	return bcl_card_counters(host->card)[BCL_CARD_frames_received];
}

const struct bcl_rail_sink bcl_inproc_sink = {
	.deliver = sink_deliver,
	.gone = sink_gone,
	.believed = sink_believed,
};
