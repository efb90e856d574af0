/* SPDX-License-Identifier: MIT */
/*
 * Makes the first inputs of frame.corpus/ and card.corpus/: real frames of
 * every kind, and short stories of operations. Usage: sow DIRECTORY
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/card_world.h"

static const char *directory;

static void put(const char *corpus, const char *name, const void *bytes,
		size_t length)
{
	char path[4096];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s.corpus/%s", directory, corpus,
		 name);
	file = fopen(path, "wb");
	if (!file || fwrite(bytes, 1, length, file) != length || fclose(file)) {
		perror(path);
		exit(1);
	}
}

static uint8_t story[1 << 16];
static size_t told;

static void tell(const void *bytes, size_t length)
{
	if (told + length > sizeof(story))
		return;
	memcpy(story + told, bytes, length);
	told += length;
}

static bool record(struct world *world, struct world_frame *frame)
{
	uint8_t length[2] = { (uint8_t)frame->length,
			      (uint8_t)(frame->length >> 8) };

	(void)world;
	if (frame->from == 1) {
		tell(length, 2);
		tell(frame->bytes, frame->length);
	}
	return true;
}

/* Record the frames from card 1 to card 0 during the operations. */
static void frames(const char *name, const uint8_t *ops, unsigned nops,
		   uint32_t length, unsigned drop)
{
	struct world_config config = { .seed = 1, .blocks = 4, .drop = drop };
	struct world *world = world_new(&config);
	struct world_port *port[2];
	uint8_t memory[2][8192] = { 0 };
	uint32_t node, zero = 0;

	for (unsigned i = 0; i < 2; i++) {
		port[i] = world_port_open(world, i, 1);
		world_memory(world, i, 1, memory[i], 8192, 7);
	}
	told = 0;
	tell(&zero, 1);
	world->filter = record;
	node = world_connect(world, 1, 0);
	for (unsigned i = 0; i < nops; i++) {
		struct bcl_request *r = world_request(port[1]);

		r->op = ops[i];
		r->node = node;
		r->dst_port = 1;
		r->target = ops[i] == BCL_REQ_CHANNEL ? 0 : 4;
		r->nref = 1;
		r->length = r->refs[0].length = length;
		r->refs[0].handle = 4;
		if (ops[i] == BCL_REQ_FETCH_ADD)
			r->inline_len = 8;
		if (ops[i] == BCL_REQ_COMPARE_SWAP)
			r->inline_len = 16;
		if (r->inline_len)
			r->refs[0].length = 8;
		world_submit(port[1], r);
	}
	world_send(port[0], world_connect(world, 0, 1), 1, "x", 1, 0);
	world_run_for(world, 3000000);
	put("frame", name, story, told);
	world_free(world);
}

static void story_of(const char *name, const char *text, size_t length)
{
	put("card", name, text, length);
}

#define STORY(name, text) story_of(name, text, sizeof(text) - 1)

int main(int argc, char **argv)
{
	static const uint8_t all[] = {
		BCL_REQ_SYSTEM,	      BCL_REQ_CHANNEL, BCL_REQ_PUT,
		BCL_REQ_PUT_NOTIFY,   BCL_REQ_GET,     BCL_REQ_FETCH_ADD,
		BCL_REQ_COMPARE_SWAP,
	};
	static const uint8_t many[] = {
		BCL_REQ_SYSTEM, BCL_REQ_SYSTEM, BCL_REQ_SYSTEM, BCL_REQ_SYSTEM,
		BCL_REQ_SYSTEM, BCL_REQ_SYSTEM, BCL_REQ_SYSTEM, BCL_REQ_SYSTEM,
	};

	if (argc != 2) {
		fprintf(stderr, "usage: sow DIRECTORY\n");
		return 2;
	}
	directory = argv[1];
	for (unsigned i = 0; i < sizeof(all); i++) {
		char name[32];

		snprintf(name, sizeof(name), "op-%u", all[i]);
		frames(name, &all[i], 1, 64, 0);
	}
	frames("all", all, sizeof(all), 200, 0);
	frames("fragments", all, sizeof(all), 4000, 0);
	frames("lossy", all, sizeof(all), 4000, 300);
	frames("refused", many, sizeof(many), 8, 0);

	/* operation, card, arguments: see card.c */
	STORY("talk", "\0\3\0\1\15\0\41\3\1\2\4\1\4\0\15\0\50");
	STORY("talk-slowly", "\1\3\0\1\15\0\41\3\1\2\15\0\101\4\1\4\0");
	STORY("requests", "\0\0\0\0\30\3\0\1\0\0\0\0\0\4\0\0\0\100\0\0\0"
			  "\15\0\41\0\1\5\30\5\0\1\0\0\0\0\0\4\0\0\0\15\0\41");
	STORY("indices", "\0\1\0\5\0\0\0\2\1\377\377\377\377\1\1\0\0\0\200"
			 "\15\0\41\3\0\1\15\0\41");
	STORY("channels", "\0\5\0\1\3\0\5\1\2\3\1\6\0\1\3\0\5\0\1\4\0\15\0\41");
	STORY("partings", "\0\3\0\1\15\0\41\10\0\0\0\15\0\41\7\0\3\0\2\15\0\41"
			  "\10\1\1\0\15\0\41\10\1\2\0\7\1\15\0\50");
	STORY("rails", "\0\3\0\1\15\0\41\11\0\0\0\0\3\0\2\15\0\50\11\0\0\1\27"
		       "\15\0\50\14\0\1\0\3\1\2\15\0\120\14\0\1\1\15\0\120");
	STORY("close",
	      "\0\3\0\1\12\0\15\0\41\3\1\2\12\1\15\0\50\3\0\3\15\0\41");
	STORY("changed", "\0\3\0\1\15\0\41\13\0\1\50\0\1\5\5\13\0\2\24\0\3\0\0"
			 "\1\0\15\0\41\3\1\1\15\0\41");
	STORY("lives", "\0\3\0\1\15\0\41\16\1\3\0\2\15\0\50\7\0\7\1\15\0\41"
		       "\3\0\3\3\1\4\15\0\50");
	return 0;
}
