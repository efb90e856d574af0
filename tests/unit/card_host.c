/* SPDX-License-Identifier: MIT */
/* The host of a card (struct bcl_hal): memory, wires, and notifications. */
#include "card_event.h"

#include <assert.h>
#include <string.h>

#include <nicfw/order.h>

#include "sim/random.h"

enum {
	NOWHERE = 1000, /* an address that no card has */
};

/* Returns the memory of a reference, or NULL if the reference is invalid or a
 * right is missing. `rights` 0: access by the owner. */
static uint8_t *resolve(struct world_card *card, uint16_t port, uint32_t rights,
			const struct bcl_memref *ref)
{
	struct world_area *area;

	if (ref->handle >= WORLD_AREAS)
		return NULL;
	area = &card->area[ref->handle];
	if (!area->memory || ref->offset > area->length ||
	    ref->length > area->length - ref->offset || area->port != port ||
	    (area->rights & rights) != rights)
		return NULL;
	if (area->sink) /* the card accesses at most a frame */
		return area->memory;
	return area->memory + ref->offset;
}

static uint32_t right(enum bcl_dma_direction direction)
{
	return direction == BCL_DMA_READ ? BCL_MEM_REMOTE_READ
					 : BCL_MEM_REMOTE_WRITE;
}

static enum bcl_dma_result dma(void *host, enum bcl_dma_direction direction,
			       uint16_t port, int remote,
			       const struct bcl_memref *ref, void *memory,
			       uint32_t cookie)
{
	struct world_card *card = host;
	struct world *world = card->world;
	struct world_event *event;
	uint8_t *at = resolve(card, port, remote ? right(direction) : 0, ref);

	assert(ref->length > 0);
	if (!at)
		return BCL_DMA_FAULT;
	if (direction == BCL_DMA_WRITE)
		card->written += ref->length;
	if (!world->config.pending || world_chance(world, 100)) {
		if (direction == BCL_DMA_READ)
			memcpy(memory, at, ref->length);
		else
			memcpy(at, memory, ref->length);
		return BCL_DMA_DONE;
	}
	event = world_event_new(card, world_random(world, 3000), EVENT_DMA);
	event->direction = direction;
	event->cookie = cookie;
	event->length = ref->length;
	event->card_memory = memory;
	event->host_memory = at;
	event->result = BCL_DMA_DONE;
	world_event_push(world, event);
	return BCL_DMA_PENDING;
}

static void *area(void *host, uint32_t handle, uint64_t length)
{
	const struct bcl_memref ref = { 0, handle, (uint32_t)length };
	struct world_card *card = host;

	assert(!card->world->config.pending);
	return resolve(host, 0, 0, &ref);
}

static int allowed(void *host, enum bcl_dma_direction direction, uint16_t port,
		   const struct bcl_memref *ref)
{
	return resolve(host, port, right(direction), ref) != NULL;
}

static struct world_port *find_port(struct world_card *card, uint16_t number)
{
	for (unsigned i = 0; i < WORLD_PORTS; i++)
		if (card->port[i].open && card->port[i].number == number)
			return &card->port[i];
	return NULL;
}

static int repost(void *host, uint16_t number, uint32_t channel)
{
	struct world_card *card = host;

	assert(find_port(card, number) && channel < WORLD_CHANNELS);
	assert(!card->world->config.pending);
	return !card->forgets;
}

static enum bcl_dma_result atomic(void *host, enum bcl_atomic_op op,
				  uint16_t port, const struct bcl_memref *ref,
				  const uint64_t operand[2], uint64_t *old)
{
	uint8_t *at = resolve(host, port, BCL_MEM_REMOTE_ATOMIC, ref);
	uint64_t value;

	if (!at || ref->offset % 8)
		return BCL_DMA_FAULT;
	memcpy(&value, at, 8);
	value = nic_host64(value);
	*old = value;
	if (op == BCL_ATOMIC_ADD)
		value += operand[0];
	else if (value == operand[0])
		value = operand[1];
	value = nic_host64(value);
	memcpy(at, &value, 8);
	return BCL_DMA_DONE;
}

static void event(void *host, uint16_t number, enum bcl_queue queue,
		  uint32_t slot, const struct bcl_completion *entry)
{
	struct world_port *port = find_port(host, number);

	assert(port);
	assert(port->world->config.pending);
	if (queue == BCL_QUEUE_SENDS) {
		assert(slot < WORLD_REQUESTS);
		port->sends[slot] = *entry;
	} else {
		assert(slot < port->nreceives);
		port->receives[slot] = *entry;
	}
}

static void wake(void *host, uint16_t number)
{
	struct world_port *port = find_port(host, number);

	assert(port);
	assert(port->indices->sleeping);
	port->wakes++;
	port->indices->sleeping = 0;
}

static void learn(void *host, uint32_t node, unsigned rail)
{
	struct world_card *card = host;

	(void)rail;
	assert(node < WORLD_NODES && card->node[node].card);
	assert(card->world->source < WORLD_CARDS);
	assert(card->world->source_address != NOWHERE);
	card->misled += card->node[node].card !=
			world_card_id(card->world, card->world->source);
	card->known[card->world->source] = card->world->source_address;
}

static void node_changed(void *host, uint32_t node, uint64_t id,
			 uint32_t generation, enum bcl_node_state state,
			 enum bcl_status status)
{
	struct world_card *card = host;

	assert(node < WORLD_NODES);
	if (card->node[node].card != id)
		card->node[node].ups = card->node[node].losses = 0;
	card->node[node].card = id;
	card->node[node].generation = generation;
	card->node[node].state = state;
	card->node[node].status = status;
	card->node[node].ups += state == BCL_NODE_UP;
	card->node[node].losses += state == BCL_NODE_LOST;
}

static uint64_t host_random(void *host)
{
	struct world_card *card = host;
	struct world *world = card->world;

	if (world->config.first)
		return sim_random(&world->random) << 32 | world->config.first;
	if (world->config.wrap)
		return sim_random(&world->random) << 32 |
		       (uint32_t) - (int32_t)(1 + world_random(world, 40));
	return sim_random(&world->random);
}

static unsigned gather(struct world_card *card, struct bcl_tx_frame *frame,
		       uint8_t *to)
{
	unsigned length = frame->head_len;

	assert(frame->head_len >= BCL_HEADERS_SIZE);
	assert(frame->nparts <= BCL_TX_PARTS);
	assert(!card->world->config.pending || frame->nparts == 0);
	memcpy(to, frame->head, length);
	for (unsigned i = 0; i < frame->nparts; i++) {
		struct bcl_tx_part *part = &frame->part[i];
		uint8_t *at = resolve(card, part->port,
				      part->remote ? BCL_MEM_REMOTE_READ : 0,
				      &part->ref);

		assert(length + part->ref.length <= BCL_FRAME_MAX);
		if (at) /* NULL: the test called world_forget() */
			memcpy(to + length, at, part->ref.length);
		else
			memset(to + length, 0xee, part->ref.length);
		length += part->ref.length;
	}
	assert(length <= card->world->config.mtu);
	if (frame->flags & BCL_TX_PCRC) {
		struct bcl_frame_header *header = (void *)to;

		assert(header->kind & BCL_FRAME_PCRC);
		header->pcrc = bcl_put32(
			world_crc32c(NULL, 0, NULL, to + 80, length - 80));
	}
	return length;
}

static void fly(struct world *world, const struct world_frame *frame)
{
	uint64_t *last = &world->last[frame->from][frame->to][frame->rail];
	uint64_t delay = world->config.delay + world->config.late[frame->rail] +
			 world_random(world, (uint32_t)world->config.delay);
	uint64_t takes = (uint64_t)frame->length *
			 world->config.pace[frame->rail] / 1024;
	struct world_event *event;

	if (world->now + delay < *last)
		delay = *last - world->now;
	delay += takes;
	*last = world->now + delay;
	if (world_chance(world, world->config.reorder)) {
		world->reordered++;
		delay += world_random(world,
				      (uint32_t)world->config.reorder_delay);
	}
	event = world_event_new(&world->card[frame->from], delay, EVENT_FRAME);
	world_event_carry(event, frame);
	if (world_chance(world, world->config.corrupt)) {
		uint32_t bit = world_random(world, 8 * frame->length);

		world->corrupted++;
		event->frame->bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	world_event_push(world, event);
}

static void put_on_wire(struct world *world, struct world_frame *frame)
{
	if (world->link_down[frame->from][frame->to][frame->rail])
		return;
	if (world->filter && !world->filter(world, frame))
		return;
	if ((!world->config.dropping ||
	     world->config.dropping >> frame->rail & 1) &&
	    world_chance(world, world->config.drop)) {
		world->dropped++;
		return;
	}
	fly(world, frame);
	if (world_chance(world, world->config.duplicate)) {
		world->duplicated++;
		fly(world, frame);
	}
}

static unsigned target_of(struct world_card *card, uint32_t node)
{
	struct world *world = card->world;

	if (node == BCL_NODE_NONE) {
		assert(world->source < WORLD_CARDS);
		return world->source;
	}
	assert(node < WORLD_NODES && card->node[node].card);
	for (unsigned i = 0; i < world->config.cards; i++)
		if (world_card_id(world, i) == card->node[node].card)
			return i;
	return WORLD_CARDS;
}

/* The source address of a frame. As on some real rails, DATA, ACK and BYE come
 * from an address that receives nothing. */
static unsigned source_of(const struct world_card *card, const uint8_t *bytes)
{
	const struct bcl_frame_header *header = (const void *)bytes;

	switch (header->kind & ~(BCL_FRAME_PCRC | BCL_FRAME_ASK)) {
	case BCL_FRAME_DATA:
	case BCL_FRAME_ACK:
	case BCL_FRAME_BYE:
		return NOWHERE;
	default:
		return card->told;
	}
}

/* Builds frame i of a run as a single frame. */
static void part(struct bcl_tx_frame *run, unsigned i, uint8_t *head,
		 struct bcl_tx_frame *frame)
{
	uint32_t length = bcl_tx_run_head(run, i, head);
	uint32_t skip = i * run->payload;

	*frame = *run;
	frame->head = head;
	frame->nparts = 0;
	assert(run->head_len == BCL_HEADERS_SIZE);
	for (unsigned k = 0; k < run->nparts && length; k++) {
		struct bcl_tx_part piece = run->part[k];

		if (skip >= piece.ref.length) {
			skip -= piece.ref.length;
			continue;
		}
		piece.ref.offset += skip;
		piece.ref.length -= skip;
		skip = 0;
		if (piece.ref.length > length)
			piece.ref.length = length;
		length -= piece.ref.length;
		frame->part[frame->nparts++] = piece;
	}
	assert(length == 0 || run->nparts == 0);
}

static unsigned transmit(void *host, unsigned rail, uint32_t node,
			 struct bcl_tx_frame *run)
{
	struct world_card *card = host;
	struct world *world = card->world;
	struct bcl_tx_frame frame = *run;
	uint8_t head[BCL_HEADERS_SIZE];
	unsigned taken = run->frames;
	struct world_frame *out = &world->leaving;

	assert(rail < world->config.rails && run->frames > 0);
	out->from = card->index;
	out->to = target_of(card, node);
	out->rail = rail;
	out->address = node == BCL_NODE_NONE
			       ? world->source_address
			       : card->known[out->to % WORLD_CARDS];
	if (world_chance(world, world->config.busy)) {
		taken = world_random(world, run->frames);
		world_event_push(
			world, world_event_new(card, world_random(world, 20000),
					       EVENT_READY));
	}
	card->transmits++;
	if (run->frames > card->burst_most)
		card->burst_most = run->frames;
	for (unsigned i = 0; i < taken; i++) {
		if (run->frames > 1)
			part(run, i, head, &frame);
		out->length = gather(card, &frame, out->bytes);
		out->source = source_of(card, out->bytes);
		if (run->frames > 1)
			world_seal(out->bytes, out->length, run->seal);
		card->frames++;
		if (out->to < WORLD_CARDS)
			put_on_wire(world, out);
	}
	return taken;
}

static unsigned store(void *host, uint16_t port, int remote,
		      const struct bcl_memref *ref,
		      const struct bcl_rx_frame *frames, unsigned n)
{
	struct world_card *card = host;
	struct bcl_memref part = *ref;
	unsigned i;

	part.length = ref->length / n;
	for (i = 0; i < n; i++, part.offset += part.length) {
		const struct bcl_frame_header *header =
			(const void *)frames[i].head;
		const uint8_t *payload = bcl_rx_payload(&frames[i]);

		if (dma(host, BCL_DMA_WRITE, port, remote, &part,
			(void *)payload, 0) != BCL_DMA_DONE)
			break;
		if (header->kind & BCL_FRAME_PCRC &&
		    world_crc32c(NULL, 0, NULL, payload, part.length) !=
			    bcl_get32(header->pcrc))
			break;
	}
	card->stores += i;
	return i;
}

const struct bcl_hal world_hal = {
	.size = sizeof(world_hal),
	.features = BCL_HAL_GATHER,
	.transmit = transmit,
	.dma = dma,
	.area = area,
	.store = store,
	.allowed = allowed,
	.repost = repost,
	.atomic = atomic,
	.event = event,
	.wake = wake,
	.crc32c = world_crc32c,
	.headers_crc = world_headers_crc,
	.learn = learn,
	.node = node_changed,
	.random = host_random,
};
