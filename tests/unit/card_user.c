/* SPDX-License-Identifier: MIT */
/* The library's side of a port in the world of cards: memory and queues. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <nicfw/order.h>

#include "card_world.h"

void world_port_free(struct world_port *port)
{
	free(port->requests);
	free(port->sends);
	free(port->receives);
	free(port->blocks);
	free(port->indices);
	free(port->freed);
	port->open = false;
}

uint32_t world_memory(struct world *world, unsigned card, uint16_t port,
		      void *memory, uint64_t length, uint32_t rights)
{
	for (uint32_t i = 1; i < WORLD_AREAS; i++) {
		struct world_area *area = &world->card[card].area[i];

		if (area->memory)
			continue;
		area->memory = memory;
		area->length = length;
		area->port = port;
		area->rights = rights;
		return i;
	}
	abort();
}

uint32_t world_sink(struct world *world, unsigned card, uint16_t port,
		    uint64_t length)
{
	static uint8_t nothing[BCL_FRAME_MAX];
	uint32_t handle =
		world_memory(world, card, port, nothing, length,
			     BCL_MEM_REMOTE_READ | BCL_MEM_REMOTE_WRITE);

	world->card[card].area[handle].sink = true;
	return handle;
}

void world_forget(struct world *world, unsigned card, uint32_t handle)
{
	world->card[card].area[handle].memory = NULL;
}

struct world_port *world_port_open(struct world *world, unsigned card,
				   uint16_t number)
{
	struct bcl_control control = { .op = BCL_CTL_PORT_OPEN };
	struct world_port *port = NULL;

	for (unsigned i = 0; i < WORLD_PORTS && !port; i++)
		if (!world->card[card].port[i].open)
			port = &world->card[card].port[i];
	assert(port);
	memset(port, 0, sizeof(*port));
	port->world = world;
	port->card = card;
	port->number = number;
	port->open = true;
	port->nblocks = world->config.blocks;
	port->nlongs = world->config.pending ? 0 : world->config.longs;
	port->nreceives = 2 * (port->nblocks > WORLD_CHANNELS ? port->nblocks
							      : WORLD_CHANNELS);
	while (port->nreceives <
	       port->nblocks + port->nlongs + 2 * WORLD_CHANNELS)
		port->nreceives *= 2;
	control.port.nrequests = WORLD_REQUESTS;
	control.port.nreceives = port->nreceives;
	control.port.nblocks = port->nblocks;
	control.port.nlongs = port->nlongs;
	control.port.nchannels = WORLD_CHANNELS;
	port->requests = calloc(WORLD_REQUESTS, BCL_REQUEST_SIZE + 4);
	port->submits = (uint32_t *)(port->requests + WORLD_REQUESTS);
	port->sends = calloc(WORLD_REQUESTS, BCL_COMPLETION_SIZE);
	port->receives = calloc(1, bcl_area_size(&control, BCL_AREA_RECEIVES));
	port->again = bcl_again(port->receives, port->nreceives);
	port->blocks = calloc(1, bcl_blocks_size(port->nblocks, port->nlongs));
	port->indices = calloc(1, bcl_area_size(&control, BCL_AREA_INDICES));
	port->postings = bcl_postings(port->indices);
	port->freed = calloc(port->nblocks + port->nlongs, 1);
	for (uint32_t i = 0; i < WORLD_REQUESTS; i++)
		port->free[port->nfree++] = i;
	control.port.number = number;
	control.port.requests =
		world_memory(world, card, 0, port->requests,
			     WORLD_REQUESTS * (BCL_REQUEST_SIZE + 4), 0);
	control.port.sends =
		world_memory(world, card, 0, port->sends,
			     WORLD_REQUESTS * BCL_COMPLETION_SIZE, 0);
	control.port.receives =
		world_memory(world, card, 0, port->receives,
			     bcl_area_size(&control, BCL_AREA_RECEIVES), 0);
	control.port.blocks =
		world_memory(world, card, 0, port->blocks,
			     bcl_blocks_size(port->nblocks, port->nlongs), 0);
	control.port.indices =
		world_memory(world, card, 0, port->indices,
			     bcl_area_size(&control, BCL_AREA_INDICES), 0);
	if (world_control(world, card, &control, NULL) != BCL_OK)
		abort();
	return port;
}

void world_port_close(struct world_port *port)
{
	struct world *world = port->world;
	struct world_card *card = &world->card[port->card];
	struct bcl_control control = { .op = BCL_CTL_PORT_CLOSE };

	control.port.number = port->number;
	if (world_control(world, port->card, &control, NULL) != BCL_OK)
		abort();
	for (unsigned i = 0; i < WORLD_AREAS; i++) {
		struct world_area *area = &card->area[i];

		if (area->memory != (uint8_t *)port->requests &&
		    area->memory != (uint8_t *)port->sends &&
		    area->memory != (uint8_t *)port->receives &&
		    area->memory != port->blocks &&
		    area->memory != (uint8_t *)port->indices &&
		    area->port != port->number)
			continue;
		world_stop_dma(world, port->card, area);
		area->memory = NULL;
	}
	world_port_free(port);
}

struct bcl_request *world_request(struct world_port *port)
{
	struct bcl_request *request;

	if (!port->nfree)
		return NULL;
	request = &port->requests[port->free[--port->nfree]];
	memset(request, 0, sizeof(*request));
	return request;
}

void world_ring(struct world_port *port)
{
	struct world *world = port->world;
	struct world_card *card = &world->card[port->card];

	bcl_card_doorbell(card->card, port->number,
			  nic_host32(port->indices->requests_made), world->now,
			  64, &card->next);
}

/* Converts a request to the byte order of the world's hosts. */
static void turn_request(struct bcl_request *request)
{
	request->dst_port = nic_host16(request->dst_port);
	request->node = nic_host32(request->node);
	request->generation = nic_host32(request->generation);
	request->target = nic_host32(request->target);
	request->length = nic_host32(request->length);
	request->targ64 = nic_host64(request->targ64);
	request->cookie = nic_host64(request->cookie);
	request->arg32 = nic_host32(request->arg32);
	request->inline_len = nic_host16(request->inline_len);
	request->nref = nic_host16(request->nref);
	for (unsigned i = 0; i < BCL_REQUEST_REFS; i++) {
		struct bcl_memref *ref = &request->refs[i];

		ref->offset = nic_host64(ref->offset);
		ref->handle = nic_host32(ref->handle);
		ref->length = nic_host32(ref->length);
	}
}

/* Converts a completion from the byte order of the world's hosts. */
static void turn_completion(struct bcl_completion *entry)
{
	entry->cookie = nic_host64(entry->cookie);
	entry->targ64 = nic_host64(entry->targ64);
	entry->card = nic_host64(entry->card);
	entry->length = nic_host32(entry->length);
	entry->index = nic_host32(entry->index);
	entry->node = nic_host32(entry->node);
	entry->arg32 = nic_host32(entry->arg32);
	entry->src_port = nic_host16(entry->src_port);
	entry->status = nic_host16(entry->status);
	entry->lap = nic_host32(entry->lap);
}

void world_submit(struct world_port *port, struct bcl_request *request)
{
	const struct world_card *card = &port->world->card[port->card];

	if (request->node < WORLD_NODES)
		request->generation = card->node[request->node].generation;
	turn_request(request);
	port->submits[port->made++ % WORLD_REQUESTS] =
		nic_host32((uint32_t)(request - port->requests));
	port->indices->requests_made = nic_host32(port->made);
	world_ring(port);
}

bool world_send(struct world_port *port, uint32_t node, uint16_t to,
		const void *bytes, uint32_t length, uint64_t cookie)
{
	struct bcl_request *request = world_request(port);

	if (!request)
		return false;
	assert(length <= BCL_REQUEST_INLINE);
	request->op = BCL_REQ_SYSTEM;
	request->node = node;
	request->dst_port = to;
	request->length = length;
	request->inline_len = (uint16_t)length;
	request->cookie = cookie;
	request->targ64 = cookie;
	if (length)
		memcpy(request->inlined, bytes, length);
	world_submit(port, request);
	return true;
}

/* Is the entry the next to read? The card must not have overwritten an unread
 * entry. */
static bool next_entry(const struct world_port *port,
		       struct bcl_completion *entry, uint32_t lap)
{
	turn_completion(entry);
	assert(entry->lap <= lap || port->world->config.hostile);
	return entry->lap == lap;
}

bool world_sent(struct world_port *port, struct bcl_completion *entry)
{
	*entry = port->sends[port->sends_read % WORLD_REQUESTS];
	if (!next_entry(port, entry, 1 + port->sends_read / WORLD_REQUESTS))
		return false;
	port->sends_read++;
	if (entry->index < WORLD_REQUESTS)
		port->free[port->nfree++] = entry->index;
	assert(port->nfree <= WORLD_REQUESTS);
	return true;
}

bool world_received(struct world_port *port, struct bcl_completion *entry)
{
	*entry = port->receives[port->receives_read % port->nreceives];
	if (!next_entry(port, entry, 1 + port->receives_read / port->nreceives))
		return false;
	port->receives_read++;
	return true;
}

const uint8_t *world_block(const struct world_port *port,
			   const struct bcl_completion *entry)
{
	assert(entry->index <
	       (entry->length > BCL_BLOCK_SIZE ? port->nlongs : port->nblocks));
	return port->blocks +
	       bcl_block_at(port->nblocks, entry->index, entry->length);
}

static void give_back(uint32_t *index, uint8_t *out_of_turn, uint32_t n,
		      uint32_t block)
{
	uint32_t freed = nic_host32(*index);

	assert(block < n && !out_of_turn[block]);
	out_of_turn[block] = 1;
	for (; out_of_turn[freed % n]; freed++)
		out_of_turn[freed % n] = 0;
	*index = nic_host32(freed);
}

void world_block_free(struct world_port *port, uint32_t block)
{
	give_back(&port->indices->blocks_freed, port->freed, port->nblocks,
		  block);
}

void world_block_free_of(struct world_port *port,
			 const struct bcl_completion *entry)
{
	if (entry->kind == BCL_CQ_SYSTEM && entry->length > BCL_BLOCK_SIZE)
		give_back(&port->indices->longs_freed,
			  port->freed + port->nblocks, port->nlongs,
			  entry->index);
	else
		world_block_free(port, entry->index);
}
