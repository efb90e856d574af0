/* SPDX-License-Identifier: MIT */
#include "card_event.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/random.h"

/* ---- chance and time ---- */

uint32_t world_random(struct world *world, uint32_t below)
{
	return (uint32_t)(sim_random(&world->random) % below);
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
	struct bcl_hal with = world_hal;
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
		control.rail.small = config->share || rail == 0;
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
		world_event_free(world_event_pop(world));
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

uint32_t world_connect_later(struct world *world, unsigned card, unsigned to,
			     uint64_t every)
{
	uint32_t node;

	while ((node = world_connect(world, card, to)) == BCL_NODE_NONE)
		world_run_for(world, every);
	return node;
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

/* Copies the frame to new memory, at a random alignment, in one or two pieces.
 * The caller frees the memory. */
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

/* Takes the next event if the event is a frame that may arrive in the same call
 * of the card as `frame`. */
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
		       ? world_event_pop(world)
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
		world_event_free(event);
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

/* Returns the time of the next event or timer. *card: the card of the timer, or
 * WORLD_CARDS for an event. */
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
	event = world_event_pop(world);
	handle(world, event);
	world_event_free(event);
}

void world_run(struct world *world, uint64_t until)
{
	unsigned card, same = 0;
	uint64_t before;

	while (next_time(world, &card) <= until) {
		before = world->now;
		world_step(world);
		same = world->now == before ? same + 1 : 0;
		if (same == 100000) {
			fprintf(stderr, "a card is never content\n");
			abort();
		}
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
		world_event_new(&world->card[from], 0, EVENT_FRAME);
	struct world_frame *frame = calloc(1, sizeof(*frame));

	assert(frame);
	frame->from = from;
	frame->to = to;
	frame->rail = rail;
	frame->address = world->card[to].address;
	frame->source = world->card[from].told;
	frame->length = length;
	memcpy(frame->bytes, bytes, length);
	world_event_carry(event, frame);
	free(frame);
	world_event_push(world, event);
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
