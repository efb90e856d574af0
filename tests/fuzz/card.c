/* SPDX-License-Identifier: MIT */
/*
 * The card as a whole: the input says what happens to two cards, in any order.
 * A user can write any requests and indices; beside them there are control
 * calls, frames changed on the way, links and time.
 */
#include <string.h>

#include "tests/unit/card_world.h"

enum operation {
	REQUEST, /* card, request number, up to 96 bytes; ring */
	COUNT,	 /* card, 4 bytes for requests_made; ring */
	FREED,	 /* card, 4 bytes for blocks_freed */
	SEND,	 /* card: an honest message */
	TAKE,	 /* card: read all events */
	POST,	 /* card, channel, generation, 1: reading, 2: by the word,
		  * 4: the host forgets the memory of channels */
	UNPOST,	 /* card, channel */
	CONNECT, /* card */
	PART,	 /* card, 4 - 6: DISCONNECT, ISOLATE, REJOIN */
	RAIL,	 /* card, rail, up, mtu / 64 */
	CLOSE,	 /* card: close the port, and open a new port */
	CHANGE,	 /* one of the last frames, offset, up to 8 bytes: inject */
	LINK,	 /* rail, up */
	TIME,	 /* microseconds, shifted by the high bits */
	RESTART, /* card */
	NOPERATIONS,
};

enum {
	FRAMES = 16,
};

static const uint8_t *input;
static size_t left;
static struct world_frame kept[FRAMES];
static unsigned nkept;

static uint8_t byte(void)
{
	if (!left)
		return 0;
	left--;
	return *input++;
}

static void bytes(void *to, size_t n)
{
	if (n > left)
		n = left;
	memcpy(to, input, n);
	input += n;
	left -= n;
}

static uint32_t four(void)
{
	uint32_t value = 0;

	bytes(&value, 4);
	return value;
}

static bool keep(struct world *world, struct world_frame *frame)
{
	(void)world;
	kept[nkept++ % FRAMES] = *frame;
	return true;
}

static struct world_port *open_port(struct world *world, unsigned card,
				    uint8_t *memory)
{
	struct world_port *port = world_port_open(world, card, 1);

	world_memory(world, card, 1, memory, 8192, 7);
	return port;
}

static void take(struct world_port *port)
{
	struct bcl_completion entry;

	while (world_received(port, &entry))
		if (entry.kind == BCL_CQ_SYSTEM || entry.kind == BCL_CQ_NOTIFY)
			world_block_free(port, entry.index);
}

static void control(struct world *world, unsigned card, enum operation what)
{
	struct world_card *at = &world->card[card];
	struct bcl_control control = { 0 };
	uint8_t how;

	switch (what) {
	case POST:
	case UNPOST:
		control.op = what == POST ? BCL_CTL_POST : BCL_CTL_UNPOST;
		control.channel.port = 1;
		control.channel.number = byte() % 4;
		control.channel.generation = byte();
		how = byte();
		control.channel.reading = how & 1;
		control.channel.handle = 4;
		control.channel.length = 5000;
		at->forgets = how & 4;
		if (how & 2) {
			at->port[0].postings[control.channel.number]++;
			return;
		}
		break;
	case PART:
		control.op = BCL_CTL_DISCONNECT + byte() % 3;
		control.node = byte() % 3;
		break;
	default:
		control.op = BCL_CTL_RAIL;
		control.rail.number = byte() & 1;
		control.rail.up = byte() & 1;
		control.rail.mtu = 64u * byte();
		control.rail.burst = 8;
		control.rail.window = 65536;
		control.rail.small = 1;
		/* The world's wire carries no more. */
		if (control.rail.mtu > world->config.mtu)
			control.rail.mtu = world->config.mtu;
		break;
	}
	world_control(world, card, &control, NULL);
}

static void change(struct world *world)
{
	struct world_frame *frame = &kept[byte() % FRAMES];
	uint32_t offset = byte() | (uint32_t)byte() << 8;
	uint8_t with[8];
	uint32_t seal;
	size_t n = 1 + byte() % 8;

	memset(with, 0, sizeof(with));
	bytes(with, n);
	if (frame->length < BCL_FRAME_MIN)
		return;
	offset %= frame->length;
	if (n > frame->length - offset)
		n = frame->length - offset;
	seal = world_seal_of(frame->bytes);
	memcpy(frame->bytes + offset, with, n);
	world_prove(frame->bytes, frame->length, world->card[0].config.key);
	world_seal(frame->bytes, frame->length, seal);
	world_inject(world, frame->from, frame->to, frame->rail, frame->bytes,
		     frame->length);
}

static void operate(struct world *world, struct world_port *port[2],
		    uint8_t memory[2][8192])
{
	enum operation what = byte() % NOPERATIONS;
	unsigned card = byte() & 1;
	struct world_port *at = port[card];
	uint32_t value;

	switch (what) {
	case REQUEST:
		value = byte() % WORLD_REQUESTS;
		bytes(&at->requests[value], byte() % 96u);
		at->submits[at->made++ % WORLD_REQUESTS] = value;
		at->indices->requests_made = at->made;
		world_ring(at);
		break;
	case COUNT:
		at->indices->requests_made = four();
		world_ring(at);
		break;
	case FREED:
		at->indices->blocks_freed = four();
		break;
	case SEND:
		at->made = at->indices->requests_made;
		at->nfree = 1;
		at->free[0] = byte() % WORLD_REQUESTS;
		world_send(at, 0, 1, "honest", 6, 0);
		break;
	case TAKE:
		take(at);
		break;
	case CONNECT:
		world_connect(world, card, !card);
		break;
	case CLOSE:
		world_port_close(at);
		port[card] = open_port(world, card, memory[card]);
		break;
	case CHANGE:
		change(world);
		break;
	case LINK:
		world_link(world, 0, 1, byte() & 1, byte() & 1);
		break;
	case TIME:
		value = byte();
		world_run_for(world,
			      (value & 31) * 1000ull << (value >> 5) * 3);
		break;
	case RESTART:
		world_kill(world, card);
		world_revive(world, card);
		port[card] = open_port(world, card, memory[card]);
		break;
	default:
		control(world, card, what);
		break;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct world_config config = {
		.seed = 1,
		.messages = 32,
		.nodes = 4,
		.connections = 3,
		.ports = 1,
		.blocks = 4,
		.rails = 2,
		.hostile = true,
	};
	static uint8_t memory[2][8192];
	struct world_port *port[2];
	struct world *world;
	unsigned steps = 0;

	input = data;
	left = size;
	nkept = 0;
	memset(kept, 0, sizeof(kept));
	config.pending = byte() & 1;
	world = world_new(&config);
	for (unsigned i = 0; i < 2; i++)
		port[i] = open_port(world, i, memory[i]);
	world->filter = keep;
	world_connect(world, 0, 1);
	world_connect(world, 1, 0);
	while (left && steps++ < 500)
		operate(world, port, memory);
	world_run_for(world, 50000000);
	world_free(world);
	return 0;
}
