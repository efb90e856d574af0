/* SPDX-License-Identifier: MIT */
#include "card_world.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nicfw/order.h>

#include "sim/random.h"

enum {
	NOWHERE = 1000, /* an address that nobody has */
};

enum event_kind {
	EVENT_FRAME,
	EVENT_DMA,
	EVENT_READY,
};

struct world_event {
	uint64_t at, order;
	enum event_kind kind;
	unsigned card, rail;
	uint64_t incarnation;
	/* dma */
	enum bcl_dma_direction direction;
	uint32_t cookie, length;
	void *card_memory, *host_memory;
	enum bcl_dma_result result;
	struct world_frame *frame;
};

/* ---- chance and time ---- */

uint32_t world_random(struct world *world, uint32_t below)
{
	return (uint32_t)(sim_random(&world->random) % below);
}

static bool chance(struct world *world, unsigned per_mille)
{
	return per_mille && world_random(world, 1000) < per_mille;
}

unsigned world_seeds(unsigned n)
{
	const char *more = getenv("BCL_TEST_SEEDS");

	if (getenv("BCL_TEST_SEED"))
		return 1;
	return more ? (unsigned)strtoul(more, NULL, 0) : n;
}

uint64_t world_seed(unsigned i)
{
	const char *seed = getenv("BCL_TEST_SEED");

	return seed ? strtoull(seed, NULL, 0) : i + 1;
}

static uint64_t noted;

static void print_seed(void)
{
	if (noted)
		fprintf(stderr, "failed with BCL_TEST_SEED=%llu\n",
			(unsigned long long)noted);
}

void world_note(uint64_t seed)
{
	static bool registered;

	if (!registered)
		atexit(print_seed);
	registered = true;
	noted = seed;
}

static bool sooner(const struct world_event *a, const struct world_event *b)
{
	return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static void push(struct world *world, struct world_event *event)
{
	size_t at = world->nevents++;

	event->order = world->order++;
	if (at == world->room) {
		world->room = world->room ? 2 * world->room : 64;
		world->events =
			realloc(world->events, world->room * sizeof(event));
		assert(world->events);
	}
	while (at > 0 && sooner(event, world->events[(at - 1) / 2])) {
		world->events[at] = world->events[(at - 1) / 2];
		at = (at - 1) / 2;
	}
	world->events[at] = event;
}

static struct world_event *pop(struct world *world)
{
	struct world_event *first = world->events[0], *last;
	size_t at = 0, child;

	last = world->events[--world->nevents];
	while ((child = 2 * at + 1) < world->nevents) {
		if (child + 1 < world->nevents &&
		    sooner(world->events[child + 1], world->events[child]))
			child++;
		if (!sooner(world->events[child], last))
			break;
		world->events[at] = world->events[child];
		at = child;
	}
	world->events[at] = last;
	return first;
}

static struct world_event *new_event(struct world_card *card, uint64_t delay,
				     enum event_kind kind)
{
	struct world_event *event = calloc(1, sizeof(*event));

	assert(event);
	event->at = card->world->now + delay;
	event->kind = kind;
	event->card = card->index;
	event->incarnation = card->incarnation;
	return event;
}

static void free_event(struct world_event *event)
{
	free(event->frame);
	free(event);
}

static void set_frame(struct world_event *event,
		      const struct world_frame *frame)
{
	event->frame = malloc(sizeof(*frame));
	assert(event->frame);
	memcpy(event->frame, frame,
	       offsetof(struct world_frame, bytes) + frame->length);
}

/* ---- what the host gives the card ---- */

/* The memory that a reference names, or NULL; `rights` 0: by its owner. */
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
	if (area->sink) /* whoever asks means at most a frame */
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
	if (!world->config.pending || chance(world, 100)) {
		if (direction == BCL_DMA_READ)
			memcpy(memory, at, ref->length);
		else
			memcpy(at, memory, ref->length);
		return BCL_DMA_DONE;
	}
	event = new_event(card, world_random(world, 3000), EVENT_DMA);
	event->direction = direction;
	event->cookie = cookie;
	event->length = ref->length;
	event->card_memory = memory;
	event->host_memory = at;
	event->result = BCL_DMA_DONE;
	push(world, event);
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

static struct world_port *find_port(struct world_card *card, uint16_t number)
{
	for (unsigned i = 0; i < WORLD_PORTS; i++)
		if (card->port[i].open && card->port[i].number == number)
			return &card->port[i];
	return NULL;
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
	card->known[card->world->source] = card->world->source_address;
}

static void node_changed(void *host, uint32_t node, uint64_t id, uint32_t life,
			 enum bcl_node_state state, enum bcl_status status)
{
	struct world_card *card = host;

	assert(node < WORLD_NODES);
	if (card->node[node].card != id)
		card->node[node].ups = card->node[node].losses = 0;
	card->node[node].card = id;
	card->node[node].life = life;
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
		if (at) /* a test may have taken it away */
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
	if (chance(world, world->config.reorder)) {
		world->reordered++;
		delay += world_random(world,
				      (uint32_t)world->config.reorder_delay);
	}
	event = new_event(&world->card[frame->from], delay, EVENT_FRAME);
	set_frame(event, frame);
	if (chance(world, world->config.corrupt)) {
		uint32_t bit = world_random(world, 8 * frame->length);

		world->corrupted++;
		event->frame->bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	push(world, event);
}

static void put_on_wire(struct world *world, struct world_frame *frame)
{
	if (world->link_down[frame->from][frame->to][frame->rail])
		return;
	if (world->filter && !world->filter(world, frame))
		return;
	if ((!world->config.dropping ||
	     world->config.dropping >> frame->rail & 1) &&
	    chance(world, world->config.drop)) {
		world->dropped++;
		return;
	}
	fly(world, frame);
	if (chance(world, world->config.duplicate)) {
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

/* As rails may: DATA, ACK and BYE come from where nobody is reached. */
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

/* The frame number i of a run, by itself. */
static void part(struct bcl_tx_frame *run, unsigned i, uint8_t *head,
		 struct bcl_tx_frame *frame)
{
	*frame = *run;
	frame->head = head;
	assert(run->head_len == BCL_HEADERS_SIZE && run->nparts <= 1);
	frame->part[0].ref.length = bcl_tx_run_head(run, i, head);
	frame->part[0].ref.offset += i * run->payload;
}

static unsigned transmit(void *host, unsigned rail, uint32_t node,
			 struct bcl_tx_frame *run)
{
	struct world_card *card = host;
	struct world *world = card->world;
	struct bcl_tx_frame frame = *run;
	uint8_t head[BCL_HEADERS_SIZE];
	unsigned taken = run->frames;
	struct world_frame out;

	assert(rail < world->config.rails && run->frames > 0);
	out.from = card->index;
	out.to = target_of(card, node);
	out.rail = rail;
	out.address = node == BCL_NODE_NONE ? world->source_address
					    : card->known[out.to % WORLD_CARDS];
	if (chance(world, world->config.busy)) {
		taken = world_random(world, run->frames);
		push(world,
		     new_event(card, world_random(world, 20000), EVENT_READY));
	}
	card->transmits++;
	if (run->frames > card->burst_most)
		card->burst_most = run->frames;
	for (unsigned i = 0; i < taken; i++) {
		if (run->frames > 1)
			part(run, i, head, &frame);
		out.length = gather(card, &frame, out.bytes);
		out.source = source_of(card, out.bytes);
		if (run->frames > 1)
			world_seal(out.bytes, out.length);
		card->frames++;
		if (out.to < WORLD_CARDS)
			put_on_wire(world, &out);
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

static const struct bcl_hal hal = {
	.size = sizeof(hal),
	.features = BCL_HAL_GATHER,
	.transmit = transmit,
	.dma = dma,
	.area = area,
	.store = store,
	.allowed = allowed,
	.atomic = atomic,
	.event = event,
	.wake = wake,
	.crc32c = world_crc32c,
	.headers_crc = world_headers_crc,
	.learn = learn,
	.node = node_changed,
	.random = host_random,
};

/* ---- the world ---- */

uint64_t world_card_id(const struct world *world, unsigned card)
{
	(void)world;
	return 0xca4d000000000001 + card * 0x100000007;
}

static void open_card(struct world *world, unsigned index)
{
	struct world_card *card = &world->card[index];
	const struct world_config *config = &world->config;
	struct bcl_hal with = hal;
	uint32_t size;

	card->world = world;
	card->index = index;
	card->dead = false;
	card->incarnation = sim_random(&world->random);
	card->config = (struct bcl_card_config){
		.card = world_card_id(world, index),
		.incarnation = card->incarnation,
		.key = "the world's key",
		.peer_timeout = config->peer_timeout,
		.ack_delay = 20000,
		.rto_min = 200000,
		.rto_max = 20000000,
		.max_nodes = config->nodes,
		.max_messages = config->messages,
		.buffers = config->pending ? 16 : 0,
		.frame = config->pending ? config->mtu : 0,
		.pcrc = !config->no_pcrc,
	};
	if (config->pending)
		with.features = 0;
	card->config.key[0] ^= config->odd_key == index + 1;
	size = bcl_card_arena(&card->config, config->ports, config->connections,
			      config->ports * WORLD_CHANNELS);
	card->arena = aligned_alloc(64, (size + 63) & ~63u);
	assert(card->arena);
	memset(card->arena, 0, size);
	card->card =
		bcl_card_open(card->arena, size, &with, card, &card->config);
	assert(card->card);
	card->next = (struct bcl_card_next){ UINT64_MAX, 0 };
	memset(card->node, 0, sizeof(card->node));
	for (unsigned rail = 0; rail < config->rails; rail++) {
		struct bcl_control control = { .op = BCL_CTL_RAIL };

		control.rail.number = rail;
		control.rail.up = 1;
		control.rail.mtu = config->mtu;
		control.rail.burst = config->burst;
		control.rail.window = config->window;
		control.rail.small = rail == 0;
		control.rail.bulk = config->stripe || rail + 1 == config->rails;
		if (world_control(world, index, &control, NULL) != BCL_OK)
			abort();
	}
}

struct world *world_new(const struct world_config *config)
{
	struct world *world = calloc(1, sizeof(*world));
	struct world_config *c = &world->config;

	assert(world);
	*c = *config;
	c->cards = c->cards ? c->cards : 2;
	c->rails = c->rails ? c->rails : 1;
	c->delay = c->delay ? c->delay : 2000;
	c->reorder_delay = c->reorder_delay ? c->reorder_delay : 50000;
	c->mtu = c->mtu ? c->mtu : 1472;
	c->burst = c->burst ? c->burst : 16;
	c->window = c->window ? c->window : 1 << 20;
	c->messages = c->messages ? c->messages : 256;
	c->nodes = c->nodes ? c->nodes : 32;
	c->connections = c->connections ? c->connections : 20;
	c->ports = c->ports ? c->ports : WORLD_PORTS;
	c->blocks = c->blocks ? c->blocks : 64;
	c->peer_timeout = c->peer_timeout ? c->peer_timeout : 10000000000;
	world->random = c->seed * 0x9e3779b97f4a7c15 + 1;
	world->source = WORLD_CARDS;
	world->now = 1000000;
	for (unsigned i = 0; i < c->cards; i++)
		open_card(world, i);
	return world;
}

static void close_card(struct world *world, unsigned index)
{
	struct world_card *card = &world->card[index];

	for (unsigned i = 0; i < WORLD_PORTS; i++)
		if (card->port[i].open)
			world_port_free(&card->port[i]);
	memset(card->area, 0, sizeof(card->area));
	free(card->arena);
	card->arena = NULL;
	card->card = NULL;
	card->dead = true;
}

void world_free(struct world *world)
{
	for (unsigned i = 0; i < world->config.cards; i++)
		if (!world->card[i].dead)
			close_card(world, i);
	while (world->nevents)
		free_event(pop(world));
	free(world->events);
	free(world);
}

void world_move(struct world *world, unsigned card)
{
	world->card[card].address++;
}

void world_kill(struct world *world, unsigned card)
{
	close_card(world, card);
}

void world_revive(struct world *world, unsigned card)
{
	open_card(world, card);
}

enum bcl_status world_control(struct world *world, unsigned card,
			      const struct bcl_control *control,
			      uint32_t *result)
{
	uint32_t ignored;

	return bcl_card_control(world->card[card].card, control, world->now,
				result ? result : &ignored,
				&world->card[card].next);
}

uint32_t world_connect(struct world *world, unsigned card, unsigned to)
{
	return world_connect_by(world, card, to, world->card[card].config.key);
}

uint32_t world_connect_by(struct world *world, unsigned card, unsigned to,
			  const uint8_t *key)
{
	struct bcl_control control = { .op = BCL_CTL_CONNECT };
	uint32_t node = BCL_NODE_NONE;

	control.connect.card = world_card_id(world, to);
	control.connect.rails = (1u << world->config.rails) - 1;
	memcpy(control.connect.key, key, BCL_KEY_SIZE);
	if (world_control(world, card, &control, &node) != BCL_OK)
		return BCL_NODE_NONE;
	return node;
}

/* ---- time ---- */

void world_stop_dma(struct world *world, unsigned card,
		    const struct world_area *area)
{
	for (size_t i = 0; i < world->nevents; i++) {
		struct world_event *event = world->events[i];
		const uint8_t *at = event->host_memory;

		if (event->kind == EVENT_DMA && event->card == card &&
		    at >= area->memory && at < area->memory + area->length)
			event->result = BCL_DMA_FAULT;
	}
}

static bool looks_around(const struct world_frame *frame)
{
	uint8_t kind =
		frame->bytes[offsetof(struct bcl_frame_header, kind)] & 0x3f;

	return kind == BCL_FRAME_HELLO || kind == BCL_FRAME_HELLO_ACK;
}

static bool arrives(const struct world *world, const struct world_frame *frame)
{
	const struct world_card *card = &world->card[frame->to];

	return !card->dead &&
	       !world->link_down[frame->from][frame->to][frame->rail] &&
	       (frame->address == card->address || looks_around(frame));
}

/* In memory of its own, at any address, in one or two pieces. */
static void *present(struct world *world, const struct world_frame *frame,
		     struct bcl_rx_frame *rx)
{
	unsigned shift = world_random(world, 8);
	uint8_t *memory = malloc(2 * (frame->length + 8));
	uint8_t *body = memory + frame->length + 8 + shift;

	assert(memory);
	memcpy(memory + shift, frame->bytes, frame->length);
	*rx = (struct bcl_rx_frame){ .head = memory + shift,
				     .head_len = (uint16_t)frame->length };
	if (frame->length > BCL_HEADERS_SIZE && world_random(world, 2)) {
		rx->head_len = BCL_HEADERS_SIZE;
		rx->body_len = (uint16_t)(frame->length - BCL_HEADERS_SIZE);
		memcpy(body, frame->bytes + BCL_HEADERS_SIZE, rx->body_len);
		rx->body = body;
	}
	return memory;
}

/* The next event, if it is a frame that may come together with this one. */
static struct world_event *companion(struct world *world,
				     const struct world_frame *frame)
{
	const struct world_event *next;

	if (!world->config.together || !world->nevents)
		return NULL;
	next = world->events[0];
	return next->kind == EVENT_FRAME && next->frame->from == frame->from &&
			       next->frame->to == frame->to &&
			       next->frame->rail == frame->rail &&
			       next->frame->source == frame->source &&
			       next->at <= world->now + world->config.together
		       ? pop(world)
		       : NULL;
}

static void deliver_frame(struct world *world, const struct world_frame *frame)
{
	struct world_card *card = &world->card[frame->to];
	struct bcl_rx_frame rx[WORLD_TOGETHER];
	void *memory[WORLD_TOGETHER];
	struct world_event *event;
	unsigned n = 0, i;

	if (!arrives(world, frame))
		return;
	card->told = card->address;
	memory[n] = present(world, frame, &rx[n]);
	while (++n < WORLD_TOGETHER && (event = companion(world, frame))) {
		memory[n] = present(world, event->frame, &rx[n]);
		free_event(event);
	}
	world->source = frame->from;
	world->source_rail = frame->rail;
	world->source_address = frame->source;
	bcl_card_frames(card->card, frame->rail, rx, n, world->now, 64,
			&card->next);
	world->source = WORLD_CARDS;
	for (i = 0; i < n; i++)
		free(memory[i]);
	if (world_random(world, 4) == 0)
		bcl_card_drained(card->card, frame->rail, world->now, 64,
				 &card->next);
}

static void handle(struct world *world, struct world_event *event)
{
	struct world_card *card = &world->card[event->card];

	if (event->kind == EVENT_FRAME) {
		deliver_frame(world, event->frame);
		return;
	}
	if (card->dead || card->incarnation != event->incarnation)
		return;
	if (event->kind == EVENT_READY) {
		for (unsigned rail = 0; rail < world->config.rails; rail++)
			bcl_card_transmit_ready(card->card, rail, world->now,
						64, &card->next);
		return;
	}
	if (event->result == BCL_DMA_DONE) {
		if (event->direction == BCL_DMA_READ)
			memcpy(event->card_memory, event->host_memory,
			       event->length);
		else
			memcpy(event->host_memory, event->card_memory,
			       event->length);
	}
	bcl_card_dma_done(card->card, event->cookie, event->result, world->now,
			  64, &card->next);
}

/* When something happens next; *card: whose timer, or WORLD_CARDS. */
static uint64_t next_time(struct world *world, unsigned *card)
{
	uint64_t at = world->nevents ? world->events[0]->at : UINT64_MAX;

	*card = WORLD_CARDS;
	for (unsigned i = 0; i < world->config.cards; i++) {
		const struct world_card *c = &world->card[i];
		uint64_t due = c->next.more ? world->now : c->next.deadline;

		if (!c->dead && due < at) {
			at = due;
			*card = i;
		}
	}
	return at;
}

void world_step(struct world *world)
{
	unsigned card;
	uint64_t at = next_time(world, &card);
	struct world_event *event;

	if (at == UINT64_MAX)
		return;
	if (at > world->now)
		world->now = at;
	if (card < WORLD_CARDS) {
		bcl_card_timer(world->card[card].card, world->now, 64,
			       &world->card[card].next);
		return;
	}
	event = pop(world);
	handle(world, event);
	free_event(event);
}

void world_run(struct world *world, uint64_t until)
{
	unsigned card, same = 0;
	uint64_t before;

	while (next_time(world, &card) <= until) {
		before = world->now;
		world_step(world);
		same = world->now == before ? same + 1 : 0;
		assert(same < 100000); /* a card that is never content */
	}
	if (until > world->now)
		world->now = until;
}

void world_run_for(struct world *world, uint64_t ns)
{
	world_run(world, world->now + ns);
}

void world_link(struct world *world, unsigned a, unsigned b, unsigned rail,
		bool up)
{
	world->link_down[a][b][rail] = !up;
	world->link_down[b][a][rail] = !up;
}

uint64_t world_counter(const struct world *world, unsigned card,
		       enum bcl_card_counter counter)
{
	return bcl_card_counters(world->card[card].card)[counter];
}

void world_inject(struct world *world, unsigned from, unsigned to,
		  unsigned rail, const uint8_t *bytes, uint32_t length)
{
	struct world_event *event =
		new_event(&world->card[from], 0, EVENT_FRAME);
	struct world_frame frame = {
		.from = from,
		.to = to,
		.rail = rail,
		.address = world->card[to].address,
		.source = world->card[from].told,
		.length = length,
	};

	memcpy(frame.bytes, bytes, length);
	set_frame(event, &frame);
	push(world, event);
}

void world_dump(const struct world *world)
{
	static const char *const names[] = {
#define NAME(name, text) #name,
		BCL_CARD_COUNTERS(NAME)
#undef NAME
	};

	for (unsigned c = 0; c < world->config.cards; c++) {
		if (world->card[c].dead)
			continue;
		fprintf(stderr, "card %u at %llu ns:", c,
			(unsigned long long)world->now);
		for (unsigned i = 0; i < BCL_CARD_NCOUNTERS; i++)
			if (world_counter(world, c, i))
				fprintf(stderr, " %s=%llu", names[i],
					(unsigned long long)world_counter(
						world, c, i));
		fprintf(stderr, "\n");
	}
}
