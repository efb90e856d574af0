/* SPDX-License-Identifier: MIT */
/*
 * Hostile frames: the input is what a connected peer puts on the wire, frame
 * by frame: two bytes of length, then the frame. Checksums, proofs, magic,
 * destination and connection id are made right, for nothing interesting lies
 * behind wrong ones; the rest is the input's.
 */
#include <string.h>

#include "tests/unit/card_world.h"

static uint32_t victim_conn; /* its id for card 1, and the seal */
static uint32_t victim_seal;

static bool learn_conn(struct world *world, struct world_frame *frame)
{
	const struct bcl_frame_header *header = (const void *)frame->bytes;

	(void)world;
	if (frame->from == 1 && bcl_get32(header->conn)) {
		victim_conn = bcl_get32(header->conn);
		victim_seal = world_seal_of(frame->bytes);
	}
	return true;
}

/* A port with a block to spare, memory, and a channel of each kind. */
static void furnish(struct world *world, unsigned card, uint8_t *memory)
{
	struct bcl_control post = { .op = BCL_CTL_POST };

	world_port_open(world, card, 1);
	post.channel.port = 1;
	post.channel.handle = world_memory(world, card, 1, memory, 8192, 7);
	post.channel.length = 5000;
	world_control(world, card, &post, NULL);
	post.channel.number = 1;
	post.channel.reading = 1;
	world_control(world, card, &post, NULL);
}

/* Requests of the victim, for answers to refer to. */
static void ask(struct world *world, uint32_t node)
{
	static const uint8_t ops[] = { BCL_REQ_SYSTEM, BCL_REQ_PUT, BCL_REQ_GET,
				       BCL_REQ_FETCH_ADD };
	struct world_port *port = &world->card[0].port[0];

	for (unsigned i = 0; i < sizeof(ops); i++) {
		struct bcl_request *r = world_request(port);

		r->op = ops[i];
		r->node = node;
		r->dst_port = 1;
		r->target = 4;
		r->nref = 1;
		r->length = r->refs[0].length = 3000;
		r->refs[0].handle = 4;
		r->inline_len = ops[i] == BCL_REQ_FETCH_ADD ? 8 : 0;
		world_submit(port, r);
	}
}

static void make_right(struct world *world, uint8_t *frame, uint32_t length)
{
	struct bcl_frame_header *header = (void *)frame;
	uint8_t kind = header->kind & 0x3f;

	header->magic = bcl_put16(BCL_WIRE_MAGIC);
	header->card = bcl_put64(world_card_id(world, 0));
	if (kind != BCL_FRAME_HELLO) {
		header->version = BCL_WIRE_VERSION;
		header->conn = bcl_put32(victim_conn);
	}
	world_prove(frame, length, world->card[0].config.key);
	world_seal(frame, length, kind > BCL_FRAME_RESET ? victim_seal : 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct world_config config = {
		.seed = 1,
		.messages = 32,
		.nodes = 4,
		.connections = 4,
		.ports = 1,
		.blocks = 4,
		.pending = size && data[0] & 1,
	};
	uint8_t memory[2][8192] = { 0 }, frame[BCL_FRAME_MAX];
	struct bcl_completion entry;
	struct world_port *port;
	struct world *world;
	uint32_t length;

	if (size < 1)
		return 0;
	data++;
	size--;
	world = world_new(&config);
	furnish(world, 0, memory[0]);
	furnish(world, 1, memory[1]);
	world->filter = learn_conn;
	world_connect(world, 1, 0);
	world_run_for(world, 100000);
	port = &world->card[0].port[0];
	world_link(world, 0, 1, 0, false); /* its answers come from the input */
	ask(world, 0);
	while (size > 2) {
		world->link_down[1][0][0] = false;
		length = data[0] | (uint32_t)data[1] << 8;
		data += 2;
		size -= 2;
		if (length > size)
			length = (uint32_t)size;
		if (length > sizeof(frame))
			length = sizeof(frame);
		memset(frame, 0, BCL_FRAME_MIN);
		memcpy(frame, data, length);
		data += length;
		size -= length;
		if (length < BCL_FRAME_MIN)
			length = BCL_FRAME_MIN;
		make_right(world, frame, length);
		world_inject(world, 1, 0, 0, frame, length);
		world_run_for(world, 10000);
		while (world_sent(port, &entry))
			;
		while (world_received(port, &entry))
			if (entry.kind == BCL_CQ_SYSTEM)
				world_block_free(port, entry.index);
	}
	world_run_for(world, 100000000);
	world_free(world);
	return 0;
}
