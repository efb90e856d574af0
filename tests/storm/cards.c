/* SPDX-License-Identifier: MIT */
/*
 * Storms over a few cards and all of their ports. Frames are lost, repeated,
 * late or damaged. Links and rails go down. Cards die without a word and come
 * back. Ports close, or have no reader. Cards isolate nodes and
 * take the nodes back.
 */
#include "storm.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle.h"
#include "sim/random.h"
#include "tests/unit/card_world.h"
#include "trial.h"
#include "weather.h"

enum {
	CARDS = 4,
	PORTS = 2, /* per card: port 1 stays, port 2 comes and goes */
	FLOWS = CARDS * PORTS * CARDS * PORTS,
	SLOTS = ORACLE_SLOTS * ORACLE_SLOT,
	RESULTS = 4096, /* results of additions, by k */
	TEXT = 20000,	/* bytes of a long message, at most */
	STUCK = 6,    /* pending requests of a flow to a stuck port, at most */
	STEPS = 1000, /* at most; also the limit of weather changes */
	FEW = 16,     /* messages that a card has room for, in some storms */
	MS = 1000000,
};

/* The memory of a flow: source at the sender, target at the receiver. */
struct source {
	uint64_t result[RESULTS];
	uint8_t slot[SLOTS];
	uint8_t text[TEXT]; /* of the current long message */
};
struct target {
	uint64_t sum;
	uint8_t slot[SLOTS];
};

struct door {
	struct world_port *port; /* NULL: closed, or the card is dead */
	unsigned life;
	bool stuck; /* nobody reads from the port before the end */
	struct source *source;
	uint32_t handle;
};

struct place {
	unsigned life;
	struct door door[PORTS];
	struct target *target; /* by flow; owned by port 1 */
	uint32_t handle;
};

/* The view that a card has of another card. */
struct sight {
	uint32_t node; /* BCL_NODE_NONE: not known */
	bool isolated;
	unsigned connection, ups, losses;
};

enum {
	ASKED,
	DONE,
	FAILED,
	DELIVERED,
	RETRANSMITTED,
	REROUTED,
	REFUSED,
	LOST,
	KILLS,
	CLOSINGS,
	ISOLATIONS,
	UNANSWERED,
	CALM,
	PARTED,
};

const unsigned storm_seeds = 400;
const char *const storm_counts[] = {
	[ASKED] = "asked",
	[DONE] = "ended",
	[FAILED] = "failed",
	[DELIVERED] = "delivered",
	[RETRANSMITTED] = "sent again",
	[REROUTED] = "by another rail",
	[REFUSED] = "refused",
	[LOST] = "connections lost",
	[KILLS] = "kills",
	[CLOSINGS] = "ports closed",
	[ISOLATIONS] = "isolations",
	[UNANSWERED] = "no room to answer",
	[CALM] = "in calm",
	[PARTED] = "parted from a rail",
};
const unsigned storm_ncounts = PARTED + 1;

/* The plan of a storm, made before the storm begins. */
struct course {
	struct world_config config;
	unsigned steps;
	uint16_t flow[STEPS]; /* the busy flow, by step */
	struct weather weather[STEPS];
	size_t changes;
};

struct storm {
	struct world *world;
	struct storm_log *log;
	unsigned cards;
	unsigned connections;
	struct place place[CARDS];
	struct sight sight[CARDS][CARDS];
	struct oracle_flow flow[FLOWS];
	uint32_t text[FLOWS]; /* 1 + k of the last long message; 0: none */
};

static unsigned below(struct storm *storm, unsigned n)
{
	return world_random(storm->world, n);
}

static bool chance(struct storm *storm, unsigned per_mille)
{
	return below(storm, 1000) < per_mille;
}

/* ---- who talks to whom ---- */

struct ends {
	unsigned from, out, to, in; /* cards: from, to; doors: out, in */
};

static struct ends ends_of(unsigned flow)
{
	return (struct ends){
		.in = flow % PORTS,
		.to = flow / PORTS % CARDS,
		.out = flow / PORTS / CARDS % PORTS,
		.from = flow / PORTS / CARDS / PORTS,
	};
}

static struct oracle_life life_of(const struct storm *storm, struct ends ends)
{
	const struct place *place = &storm->place[ends.to];

	return (struct oracle_life){ place->life, place->door[ends.in].life };
}

static bool exists(unsigned flow, unsigned cards)
{
	struct ends ends = ends_of(flow);

	return ends.from < cards && ends.to < cards && ends.from != ends.to;
}

static bool to_stuck(const struct storm *storm, unsigned flow)
{
	struct ends ends = ends_of(flow);

	return storm->place[ends.to].door[ends.in].stuck;
}

static bool dead(const struct storm *storm, unsigned card)
{
	return storm->world->card[card].dead;
}

/* ---- cards and ports come and go ---- */

static void open_door(struct storm *storm, unsigned card, unsigned d)
{
	struct door *door = &storm->place[card].door[d];
	size_t size = FLOWS * sizeof(*door->source);

	door->life++;
	door->port = world_port_open(storm->world, card, (uint16_t)(d + 1));
	door->source = calloc(1, size);
	door->handle = world_memory(storm->world, card, (uint16_t)(d + 1),
				    door->source, size, 0);
}

/* The oracle forgets the requests of the port. */
static void shut_door(struct storm *storm, unsigned card, unsigned d)
{
	struct door *door = &storm->place[card].door[d];

	for (unsigned f = 0; f < FLOWS; f++)
		if (ends_of(f).from == card && ends_of(f).out == d)
			oracle_forget(&storm->flow[f]);
	free(door->source);
	door->source = NULL;
	door->port = NULL;
	door->life++; /* messages that the port has not read are gone */
}

static void come_to_life(struct storm *storm, unsigned card)
{
	struct place *place = &storm->place[card];
	size_t size = FLOWS * sizeof(*place->target);

	place->life++;
	for (unsigned d = 0; d < PORTS; d++)
		open_door(storm, card, d);
	place->target = calloc(1, size);
	place->handle =
		world_memory(storm->world, card, 1, place->target, size,
			     BCL_MEM_REMOTE_READ | BCL_MEM_REMOTE_WRITE |
				     BCL_MEM_REMOTE_ATOMIC);
	for (unsigned c = 0; c < CARDS; c++)
		storm->sight[card][c] = (struct sight){ .node = BCL_NODE_NONE };
}

static void die(struct storm *storm, unsigned card)
{
	struct place *place = &storm->place[card];

	world_kill(storm->world, card);
	for (unsigned d = 0; d < PORTS; d++)
		shut_door(storm, card, d);
	free(place->target);
	place->target = NULL;
	for (unsigned f = 0; f < FLOWS; f++)
		if (ends_of(f).to == card)
			oracle_new_memory(&storm->flow[f]);
}

/* ---- traffic ---- */

static const struct world_node *node_of(const struct storm *storm,
					unsigned from, unsigned to)
{
	return &storm->world->card[from].node[storm->sight[from][to].node];
}

/* Returns a number for the current connection; 0: none. */
static unsigned connection_of(struct storm *storm, unsigned from, unsigned to)
{
	struct sight *sight = &storm->sight[from][to];
	const struct world_node *node = node_of(storm, from, to);

	if (node->state != BCL_NODE_UP)
		return 0;
	if (!sight->connection || sight->ups != node->ups ||
	    sight->losses != node->losses) {
		sight->connection = ++storm->connections;
		sight->ups = node->ups;
		sight->losses = node->losses;
	}
	return sight->connection;
}

/* True if the card `from` may send requests to the card `to`. Connects the
 * cards if necessary; after a loss only now and then. */
static bool in_sight(struct storm *storm, unsigned from, unsigned to)
{
	struct sight *sight = &storm->sight[from][to];

	if (sight->node == BCL_NODE_NONE ||
	    (node_of(storm, from, to)->state == BCL_NODE_LOST &&
	     chance(storm, 300)))
		sight->node = world_connect(storm->world, from, to);
	return sight->node != BCL_NODE_NONE;
}

/* A message that needs a long block. The front of the message is in the
 * request, and the rest is in two pieces of memory. */
static void fill_long(struct storm *storm, struct oracle_flow *flow,
		      struct oracle_ask *ask, struct bcl_request *request)
{
	struct ends ends = ends_of(flow->number);
	const struct door *door = &storm->place[ends.from].door[ends.out];
	uint8_t *text = door->source[flow->number].text;
	uint32_t front = below(storm, BCL_REQUEST_INLINE + 1), at = front;

	storm->text[flow->number] = flow->n;
	ask->length = BCL_BLOCK_SIZE + 1 + below(storm, TEXT - BCL_BLOCK_SIZE);
	oracle_fill(flow, flow->n - 1, text, ask->length);
	memcpy(request->inlined, text, front);
	request->inline_len = (uint16_t)front;
	request->nref = 2;
	for (unsigned i = 0; i < 2; i++) {
		uint32_t left = ask->length - at;

		request->refs[i] = (struct bcl_memref){
			.handle = door->handle,
			.offset =
				(uint64_t)(text - (uint8_t *)door->source) + at,
			.length = i ? left : below(storm, left + 1),
		};
		at += request->refs[i].length;
	}
	request->length = ask->length;
}

static bool may_be_long(struct storm *storm, const struct oracle_flow *flow)
{
	uint32_t last = storm->text[flow->number];

	return storm->world->config.longs && below(storm, 4) == 0 &&
	       (!last || flow->ask[last - 1].ended);
}

static void fill_message(struct storm *storm, struct oracle_flow *flow,
			 struct oracle_ask *ask, struct bcl_request *request)
{
	request->op = BCL_REQ_SYSTEM;
	request->targ64 = request->cookie;
	if (may_be_long(storm, flow)) {
		fill_long(storm, flow, ask, request);
		return;
	}
	ask->length = below(storm, ORACLE_MESSAGE_MOST + 1);
	request->length = ask->length;
	request->inline_len = (uint16_t)ask->length;
	oracle_fill(flow, flow->n - 1, request->inlined, ask->length);
}

static void fill_put(struct storm *storm, struct oracle_flow *flow,
		     struct oracle_ask *ask, struct bcl_request *request)
{
	struct ends ends = ends_of(flow->number);
	const struct door *door = &storm->place[ends.from].door[ends.out];
	uint8_t *slot =
		door->source[flow->number].slot + ask->slot * ORACLE_SLOT;

	ask->length = below(storm, ORACLE_SLOT);
	flow->memory.busy[ask->slot] = true;
	oracle_fill(flow, flow->n - 1, slot, ask->length);
	request->op = BCL_REQ_PUT;
	request->target = storm->place[ends.to].handle;
	request->targ64 = flow->number * sizeof(struct target) +
			  offsetof(struct target, slot) +
			  ask->slot * ORACLE_SLOT;
	request->length = ask->length;
	request->nref = 1;
	request->refs[0].handle = door->handle;
	request->refs[0].offset = (uint64_t)(slot - (uint8_t *)door->source);
	request->refs[0].length = ask->length;
}

static void fill_add(struct storm *storm, struct oracle_flow *flow,
		     struct bcl_request *request)
{
	struct ends ends = ends_of(flow->number);
	const struct door *door = &storm->place[ends.from].door[ends.out];
	const uint64_t one = 1;

	request->op = BCL_REQ_FETCH_ADD;
	request->target = storm->place[ends.to].handle;
	request->targ64 = flow->number * sizeof(struct target);
	request->inline_len = sizeof(one);
	memcpy(request->inlined, &one, sizeof(one));
	request->nref = 1;
	request->refs[0].handle = door->handle;
	request->refs[0].offset = flow->number * sizeof(struct source) +
				  (flow->n - 1) * sizeof(uint64_t);
	request->refs[0].length = sizeof(uint64_t);
}

static enum oracle_kind choose(struct storm *storm,
			       const struct oracle_flow *flow, unsigned slot)
{
	/* In storms with few messages there are more additions, so that cards
	 * have no room to answer. */
	unsigned kind =
		below(storm, storm->world->config.messages == FEW ? 2 : 4);

	if (ends_of(flow->number).in != 0 ||
	    dead(storm, ends_of(flow->number).to))
		return ORACLE_MESSAGE;
	if (kind == 0 && !flow->memory.busy[slot])
		return ORACLE_PUT;
	if (kind == 1 &&
	    flow->memory.adds + flow->memory.adds_unsure < ORACLE_ADDS / 2)
		return ORACLE_ADD;
	return ORACLE_MESSAGE;
}

static void ask_for(struct storm *storm, unsigned number, enum oracle_kind kind,
		    unsigned slot)
{
	struct oracle_flow *flow = &storm->flow[number];
	struct ends ends = ends_of(number);
	struct world_port *port = storm->place[ends.from].door[ends.out].port;
	struct bcl_request *request = world_request(port);
	struct oracle_ask *ask;

	if (!request)
		return;
	ask = oracle_ask(flow);
	ask->kind = kind;
	ask->slot = slot;
	ask->to = life_of(storm, ends);
	ask->connection = connection_of(storm, ends.from, ends.to);
	request->node = storm->sight[ends.from][ends.to].node;
	request->dst_port = (uint16_t)(ends.in + 1);
	request->cookie = (uint64_t)number << 32 | (flow->n - 1);
	if (ask->kind == ORACLE_MESSAGE)
		fill_message(storm, flow, ask, request);
	else if (ask->kind == ORACLE_PUT)
		fill_put(storm, flow, ask, request);
	else
		fill_add(storm, flow, request);
	storm->log->count[ASKED]++;
	world_submit(port, request);
}

static void ask(struct storm *storm, unsigned number)
{
	struct oracle_flow *flow = &storm->flow[number];
	struct ends ends = ends_of(number);
	unsigned slot = below(storm, ORACLE_SLOTS);

	if (!storm->place[ends.from].door[ends.out].port ||
	    flow->n == RESULTS || !in_sight(storm, ends.from, ends.to))
		return;
	/* A card has memory for a limited number of messages, and messages to a
	 * stuck port occupy memory until the end. */
	if (to_stuck(storm, number) && oracle_waiting(flow) >= STUCK)
		return;
	ask_for(storm, number, choose(storm, flow, slot), slot);
}

/* A request may fail because the peer is lost. A request to port 2 may also
 * fail because the port closes, or was closed before. */
static bool may_end_so(const struct storm *storm, struct ends ends,
		       enum bcl_status status)
{
	if (status == BCL_ERR_NOPORT || status == BCL_ERR_MEMORY)
		return ends.in == 1 && storm->log->count[CLOSINGS];
	return !status || bcl_status_loss(status) == BCL_LOSS_PEER;
}

static void hear_ends(struct storm *storm, struct door *door)
{
	struct bcl_completion entry;

	while (door->port && world_sent(door->port, &entry)) {
		unsigned number = (unsigned)(entry.cookie >> 32);
		uint32_t k = (uint32_t)entry.cookie;
		struct oracle_flow *flow = &storm->flow[number % FLOWS];
		struct ends ends = ends_of(number % FLOWS);
		const struct place *to = &storm->place[ends.to];
		bool same = k < flow->n && to->target &&
			    flow->ask[k].to.card == to->life;

		if (!may_end_so(storm, ends, entry.status))
			oracle_broken(flow, "number %u ended with status %u", k,
				      entry.status);
		oracle_end(flow, k, entry.status,
			   same ? to->target[number % FLOWS].slot : NULL,
			   door->source[number % FLOWS].result[k % RESULTS]);
		storm->log->count[DONE]++;
		storm->log->count[FAILED] += entry.status != BCL_OK;
	}
}

static void read_door(struct storm *storm, unsigned card, unsigned d,
		      unsigned most)
{
	struct door *door = &storm->place[card].door[d];
	struct bcl_completion entry;

	while (most-- && door->port && world_received(door->port, &entry)) {
		unsigned number = (unsigned)(entry.targ64 >> 32) % FLOWS;
		struct oracle_flow *flow = &storm->flow[number];
		struct ends ends = ends_of(number);

		if (entry.kind != BCL_CQ_SYSTEM || ends.to != card ||
		    ends.in != d || entry.src_port != ends.out + 1 ||
		    entry.card != world_card_id(storm->world, ends.from))
			oracle_broken(flow, "its message came to card %u, %u",
				      card, d);
		oracle_deliver(flow, (uint32_t)entry.targ64,
			       life_of(storm, ends),
			       world_block(door->port, &entry), entry.length);
		world_block_free_of(door->port, &entry);
		storm->log->count[DELIVERED]++;
	}
}

/* The owner of the port sleeps: it reads nothing until the card wakes it. */
static bool sleeps(const struct door *door)
{
	return door->port && door->port->indices->sleeping;
}

/* The owner of the port tells the card that it sleeps, then looks once more, as
 * every sleeper must. */
static void fall_asleep(struct storm *storm, unsigned card, unsigned d)
{
	struct door *door = &storm->place[card].door[d];
	struct world_port *port = door->port;
	uint32_t ends = port->sends_read, arrivals = port->receives_read;

	port->indices->sleeping = 1;
	hear_ends(storm, door);
	read_door(storm, card, d, 1);
	if (port->sends_read != ends || port->receives_read != arrivals)
		port->indices->sleeping = 0;
}

static void hear(struct storm *storm, unsigned card, unsigned d, bool stuck,
		 unsigned most)
{
	struct door *door = &storm->place[card].door[d];

	if (!door->port || sleeps(door))
		return;
	hear_ends(storm, door);
	if (door->stuck && !stuck)
		return;
	read_door(storm, card, d, below(storm, most) + 1);
	if (chance(storm, 200))
		fall_asleep(storm, card, d);
}

static void hear_all(struct storm *storm, bool stuck, unsigned most)
{
	for (unsigned c = 0; c < storm->cards; c++)
		for (unsigned d = 0; d < PORTS; d++)
			hear(storm, c, d, stuck, most);
}

/* ---- weather ---- */

static void change_frames(struct storm *storm, const struct weather *weather)
{
	struct world_config *config = &storm->world->config;

	config->drop = weather->drop;
	config->duplicate = weather->duplicate;
	config->reorder = weather->reorder;
	config->corrupt = weather->corrupt;
	config->busy = weather->busy;
	config->late[weather->rail] = weather->late;
}

static void change_port(struct storm *storm, unsigned card)
{
	struct door *door = &storm->place[card].door[1];
	struct world_port *port = door->port;

	if (dead(storm, card))
		return;
	if (!port) {
		open_door(storm, card, 1);
		return;
	}
	shut_door(storm, card, 1);
	world_port_close(port);
	storm->log->count[CLOSINGS]++;
}

/* Isolate the node until the next change, or take the node back. at_once:
 * isolate the node and take it back immediately. */
static void change_isolation(struct storm *storm, unsigned from, unsigned to,
			     bool at_once)
{
	struct sight *sight = &storm->sight[from][to];
	struct bcl_control control = { .node = sight->node };

	if (dead(storm, from) || sight->node == BCL_NODE_NONE)
		return;
	control.op = sight->isolated ? BCL_CTL_REJOIN : BCL_CTL_ISOLATE;
	sight->isolated = !sight->isolated;
	world_control(storm->world, from, &control, NULL);
	storm->log->count[ISOLATIONS] += sight->isolated;
	if (!sight->isolated || !at_once)
		return;
	change_isolation(storm, from, to, false);
	sight->node = world_connect(storm->world, from, to);
}

static void change_weather(struct storm *storm, const struct weather *weather)
{
	unsigned card = weather->card, to = weather->to;

	switch (weather->kind) {
	case WEATHER_KILL:
		if (!dead(storm, card)) {
			die(storm, card);
			storm->log->count[KILLS]++;
		}
		break;
	case WEATHER_REVIVE:
		if (dead(storm, card)) {
			world_revive(storm->world, card);
			come_to_life(storm, card);
		}
		break;
	case WEATHER_UNLINK:
	case WEATHER_LINK:
		world_link(storm->world, card, to, weather->rail,
			   weather->kind == WEATHER_LINK);
		break;
	case WEATHER_PORT:
		change_port(storm, card);
		break;
	case WEATHER_ISOLATE:
		change_isolation(storm, card, to, weather->back);
		break;
	case WEATHER_MOVE:
		if (!dead(storm, card))
			world_move(storm->world, card);
		break;
	default:
		change_frames(storm, weather);
	}
}

static void calm(struct storm *storm)
{
	struct world_config *config = &storm->world->config;

	config->drop = config->duplicate = config->reorder = 0;
	config->corrupt = config->busy = 0;
	memset(config->late, 0, sizeof(config->late));
	for (unsigned a = 0; a < storm->cards; a++) {
		for (unsigned b = 0; b < storm->cards; b++) {
			for (unsigned r = 0; r < config->rails; r++)
				world_link(storm->world, a, b, r, true);
			if (storm->sight[a][b].isolated)
				change_isolation(storm, a, b, false);
		}
	}
}

/* ---- the course of a storm ---- */

/* Draw a change for the two cards of the flow in this step, which may be busy
 * with the flow. If the flow does not exist, choose any two cards. */
static void draw_change(struct course *course, uint64_t *random, unsigned step)
{
	const unsigned cards = course->config.cards, flow = course->flow[step];
	const bool busy = exists(flow, cards);
	struct weather_place place = {
		.card = busy ? ends_of(flow).from
			     : (uint32_t)(sim_random(random) % cards),
		.cards = cards,
		.rails = course->config.rails,
	};
	struct weather *weather = &course->weather[course->changes++];

	place.to = busy ? ends_of(flow).to : (place.card + 1) % cards;
	weather_draw(weather, random, &place);
	weather->step = step;
}

static void draw_course(struct course *course, uint64_t seed)
{
	uint64_t random = seed;
	unsigned step, quiet; /* probability of a change, per mille */

	course->config = (struct world_config){
		.seed = seed,
		.cards = 2 + (unsigned)(seed % 3),
		.rails = 1 + (unsigned)(seed / 3 % 3),
		.stripe = seed / 9 % 2,
		.share = seed / 18 % 2,
		.pending = seed % 2,
		.blocks = 8 << seed / 5 % 4,
		.longs = seed % 8 == 6 ? 2 << seed / 8 % 2 : 0,
		.messages = seed % 5 == 0 ? FEW : 0,
		.wrap = seed % 7 != 0,
		.together = seed % 4 ? 0 : 3000,
		.peer_timeout = 200 * MS,
	};
	course->steps = 200 + (unsigned)(sim_random(&random) % (STEPS - 200));
	quiet = sim_random(&random) % 3 ? 10 : 50;
	for (step = 0; step < course->steps; step++) {
		course->flow[step] = (uint16_t)(sim_random(&random) % FLOWS);
		if (sim_random(&random) % 1000 < quiet)
			draw_change(course, &random, step);
	}
}

static void begin(struct storm *storm, const struct course *course)
{
	storm->world = world_new(&course->config);
	storm->cards = course->config.cards;
	for (unsigned f = 0; f < FLOWS; f++)
		storm->flow[f].number = f;
	for (unsigned c = 0; c < storm->cards; c++)
		come_to_life(storm, c);
	for (unsigned c = 0; c < storm->cards; c++)
		for (unsigned d = 0; d < PORTS; d++)
			storm->place[c].door[d].stuck =
				chance(storm, 100) && !course->config.messages;
}

static void rage(struct storm *storm, const struct course *course,
		 const struct weather *weather, size_t changes)
{
	for (unsigned step = 0; step < course->steps; step++) {
		unsigned flow = course->flow[step];

		for (unsigned n = below(storm, 6);
		     n && exists(flow, storm->cards); n--)
			ask(storm, flow);
		if (chance(storm, 500))
			hear_all(storm, false, 12);
		for (size_t i = 0; i < changes; i++)
			if (weather[i].step == step)
				change_weather(storm, &weather[i]);
		world_run_for(
			storm->world,
			below(storm, chance(storm, 20) ? 20 * MS : 200000));
	}
}

static unsigned waiting(const struct storm *storm, bool stuck)
{
	unsigned n = 0;

	for (unsigned f = 0; f < FLOWS; f++)
		if (stuck || !to_stuck(storm, f))
			n += oracle_waiting(&storm->flow[f]);
	return n;
}

static void __attribute__((noreturn))
give_up(const struct storm *storm, bool stuck)
{
	for (unsigned f = 0; f < FLOWS; f++)
		if (stuck || !to_stuck(storm, f))
			oracle_print_waiting(&storm->flow[f]);
	world_dump(storm->world);
	exit(1);
}

/* Wait until all requests have ended. Without `stuck`, requests to stuck ports
 * are excepted. */
static void wait_for_ends(struct storm *storm, bool stuck)
{
	uint64_t end = storm->world->now + UINT64_C(30000) * MS;

	while (waiting(storm, stuck)) {
		if (storm->world->now > end)
			give_up(storm, stuck);
		world_run_for(storm->world, MS);
		hear_all(storm, stuck, 100);
	}
}

static void settle(struct storm *storm)
{
	world_run_for(storm->world, 500 * (uint64_t)MS);
	for (unsigned i = 0; i < 100; i++)
		hear_all(storm, true, 1000);
	for (unsigned f = 0; f < FLOWS; f++) {
		struct ends ends = ends_of(f);
		const struct place *to = &storm->place[ends.to];

		if (exists(f, storm->cards) && to->target)
			oracle_settle(&storm->flow[f], life_of(storm, ends),
				      to->target[f].slot, to->target[f].sum);
	}
}

/* ---- afterwards, one thing at a time ---- */

/* Returns the flow between port 1 of both cards, or FLOWS if the cards are not
 * connected by all rails. */
static unsigned quiet_flow(const struct storm *storm, unsigned from,
			   unsigned to)
{
	const unsigned all = (1u << storm->world->config.rails) - 1;
	const unsigned number = (from * PORTS * CARDS + to) * PORTS;
	const struct sight *sight = &storm->sight[from][to];
	struct bcl_node_info info;

	if (from == to || dead(storm, from) || dead(storm, to) ||
	    sight->node == BCL_NODE_NONE || storm->flow[number].n == RESULTS ||
	    node_of(storm, from, to)->state != BCL_NODE_UP ||
	    bcl_card_node_info(storm->world->card[from].card, sight->node,
			       &info) ||
	    info.rails != all)
		return FLOWS;
	return number;
}

static uint64_t counted(const struct storm *storm, unsigned card,
			enum bcl_card_counter counter)
{
	return world_counter(storm->world, card, counter);
}

static void await_end(struct storm *storm, unsigned number, uint64_t until)
{
	until += storm->world->now;
	while (oracle_waiting(&storm->flow[number])) {
		if (storm->world->now > until)
			give_up(storm, true);
		world_run_for(storm->world, MS / 10);
		hear_all(storm, true, 1000);
	}
}

/* If no frame is lost, a message must arrive without a time-out. */
static void be_calm(struct storm *storm, unsigned number)
{
	unsigned from = ends_of(number).from;
	uint64_t timeouts = counted(storm, from, BCL_CARD_timeouts);

	ask_for(storm, number, ORACLE_MESSAGE, 0);
	await_end(storm, number, 100 * (uint64_t)MS);
	world_run_for(storm->world, 5 * (uint64_t)MS);
	if (counted(storm, from, BCL_CARD_timeouts) != timeouts)
		oracle_broken(&storm->flow[number], "a time-out in calm");
	storm->log->count[CALM]++;
}

/* A rail dies under a long put. The sender asks which part of the put has come
 * by the rail, and sends the rest by another rail. No message is withdrawn. */
static void part_rail(struct storm *storm, unsigned number)
{
	const struct ends ends = ends_of(number);
	const unsigned last = storm->world->config.rails - 1;
	uint64_t withdrawn = counted(storm, ends.from, BCL_CARD_withdrawn);
	uint64_t rerouted = counted(storm, ends.from, BCL_CARD_rerouted);

	if (storm->flow[number].memory.busy[0] ||
	    storm->flow[number].n == RESULTS)
		return;
	ask_for(storm, number, ORACLE_PUT, 0);
	world_link(storm->world, ends.from, ends.to, last, false);
	await_end(storm, number, 2000 * (uint64_t)MS);
	if (counted(storm, ends.from, BCL_CARD_withdrawn) != withdrawn)
		oracle_broken(&storm->flow[number], "withdrawn in calm");
	storm->log->count[PARTED] +=
		counted(storm, ends.from, BCL_CARD_rerouted) != rerouted;
}

static void look_after(struct storm *storm)
{
	unsigned from, to, number, any = FLOWS;

	for (from = 0; from < storm->cards; from++) {
		for (to = 0; to < storm->cards; to++) {
			number = quiet_flow(storm, from, to);
			if (number == FLOWS)
				continue;
			any = number;
			be_calm(storm, number);
		}
	}
	if (any != FLOWS && storm->world->config.rails > 1)
		part_rail(storm, any);
}

static void sum_up(struct storm *storm)
{
	for (unsigned c = 0; c < storm->cards; c++) {
		if (dead(storm, c))
			continue;
		storm->log->count[RETRANSMITTED] +=
			world_counter(storm->world, c, BCL_CARD_retransmitted);
		storm->log->count[REROUTED] +=
			world_counter(storm->world, c, BCL_CARD_rerouted);
		storm->log->count[REFUSED] +=
			world_counter(storm->world, c, BCL_CARD_refused_ring);
		storm->log->count[UNANSWERED] +=
			world_counter(storm->world, c, BCL_CARD_refused_reply);
		storm->log->count[LOST] +=
			world_counter(storm->world, c, BCL_CARD_lost);
	}
}

static void end(struct storm *storm)
{
	for (unsigned c = 0; c < storm->cards; c++)
		if (!dead(storm, c))
			die(storm, c);
	for (unsigned f = 0; f < FLOWS; f++)
		free(storm->flow[f].ask);
	world_free(storm->world);
	free(storm);
}

static void run(const struct trial *trial, const void *weather, size_t n)
{
	const struct course *course = trial->arg;
	struct storm *storm = calloc(1, sizeof(*storm));

	storm->log = trial->log;
	begin(storm, course);
	rage(storm, course, weather, n);
	calm(storm);
	wait_for_ends(storm, false);
	wait_for_ends(storm, true);
	settle(storm);
	look_after(storm);
	settle(storm);
	sum_up(storm);
	end(storm);
}

static void print(const void *weather, size_t n, FILE *to)
{
	const struct weather *change = weather;

	for (; n--; change++)
		weather_print(change, to);
}

static void read_weather(struct course *course)
{
	const struct weather_place place = {
		.cards = course->config.cards,
		.rails = course->config.rails,
	};
	char error[SIM_ERROR_SIZE];
	FILE *in = fopen(storm_script, "r");

	if (!in)
		snprintf(error, sizeof(error), "%s: %s", storm_script,
			 strerror(errno));
	if (!in || !weather_read(course->weather, STEPS, &course->changes,
				 &place, storm_script, in, error)) {
		fprintf(stderr, "%s\n", error);
		exit(1);
	}
	fclose(in);
}

void storm(uint64_t seed, struct storm_log *log)
{
	struct course *course = calloc(1, sizeof(*course));

	draw_course(course, seed);
	if (storm_script)
		read_weather(course);
	trial(&(struct trial){
		.seed = seed,
		.log = log,
		.faults = course->weather,
		.n = course->changes,
		.size = sizeof(*course->weather),
		.arg = course,
		.run = run,
		.print = print,
	});
	free(course);
}
