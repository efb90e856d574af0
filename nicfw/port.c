/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Ports: opening and closing, blocks of the system rings, and wake-up of the
 * owner.
 */
#include <nicfw/port.h>

#include <nicfw/arena.h>
#include <nicfw/card.h>
#include <nicfw/channel.h>
#include <nicfw/conn.h>
#include <nicfw/dma.h>

enum {
	WORD_SLEEPING = NIC_RINGS,
};

void bcl_nic_port_init(struct nic_port *port)
{
	nic_list_init(&port->intake);
	nic_list_init(&port->active);
	nic_list_init(&port->news);
	nic_list_init(&port->starving);
	nic_list_init(&port->ready);
	nic_list_init(&port->flows);
}

static uint32_t bitmap_size(uint32_t nblocks)
{
	return (nblocks + 31) / 32 * 4;
}

uint32_t bcl_nic_port_size(uint32_t nblocks, uint32_t nlongs,
			   uint32_t nchannels)
{
	return (uint32_t)sizeof(struct nic_port) + 8 + bitmap_size(nblocks) +
	       bitmap_size(nlongs) +
	       nchannels * (uint32_t)sizeof(struct nic_channel);
}

static bool power_of_two(uint32_t n)
{
	return n != 0 && (n & (n - 1)) == 0 && n <= 65536;
}

/*
 * Get the addresses of the port's areas. Returns false if an area is missing or
 * too short.
 */
static bool find_areas(struct bcl_card *card, const struct bcl_control *control,
		       struct nic_areas *at)
{
	void *(*area)(void *, uint32_t, uint64_t) = card->hal.area;
	void *host = card->host;

	at->requests = area(host, control->port.requests,
			    bcl_area_size(control, BCL_AREA_REQUESTS));
	at->sends = area(host, control->port.sends,
			 bcl_area_size(control, BCL_AREA_SENDS));
	at->receives = area(host, control->port.receives,
			    bcl_area_size(control, BCL_AREA_RECEIVES));
	at->blocks = area(host, control->port.blocks,
			  bcl_area_size(control, BCL_AREA_BLOCKS));
	at->indices = area(host, control->port.indices,
			   bcl_area_size(control, BCL_AREA_INDICES));
	if (!at->requests || !at->sends || !at->receives || !at->blocks ||
	    !at->indices)
		return false;
	at->again = bcl_again(at->receives, control->port.nreceives);
	at->postings = bcl_postings(at->indices);
	return true;
}

static bool is_well_formed(const struct bcl_card *card,
			   const struct bcl_control *control)
{
	return control->port.number != 0 && control->port.number <= 65535 &&
	       power_of_two(control->port.nrequests) &&
	       power_of_two(control->port.nreceives) &&
	       power_of_two(control->port.nblocks) &&
	       (control->port.nlongs == 0 ||
		(card->gather && power_of_two(control->port.nlongs))) &&
	       control->port.nreceives >=
		       control->port.nblocks + control->port.nlongs &&
	       control->port.nchannels <= 65536;
}

enum bcl_status bcl_nic_port_open(struct bcl_card *card,
				  const struct bcl_control *control)
{
	uint32_t number = control->port.number;
	struct nic_port *port;

	if (!is_well_formed(card, control))
		return BCL_ERR_ARG;
	if (nic_port_find(card, (uint16_t)number))
		return BCL_ERR_BUSY;
	port = bcl_nic_arena_take(card,
				  bcl_nic_port_size(control->port.nblocks,
						    control->port.nlongs,
						    control->port.nchannels));
	if (!port)
		return BCL_ERR_NOMEM;
	if (card->gather && !find_areas(card, control, &port->at)) {
		bcl_nic_arena_put(card, port);
		return BCL_ERR_ARG;
	}
	bcl_nic_port_init(port);
	port->number = (uint16_t)number;
	port->requests = control->port.requests;
	port->sends = control->port.sends;
	port->receives = control->port.receives;
	port->blocks = control->port.blocks;
	port->indices = control->port.indices;
	port->nrequests = control->port.nrequests;
	port->nreceives = control->port.nreceives;
	port->ring[NIC_BLOCKS].n = control->port.nblocks;
	port->ring[NIC_LONGS].n = control->port.nlongs;
	port->nchannels = control->port.nchannels;
	while (port->nrequests >> port->sends_shift > 1)
		port->sends_shift++;
	while (port->nreceives >> port->receives_shift > 1)
		port->receives_shift++;
	port->channel = (struct nic_channel *)(void *)(port + 1);
	port->ring[NIC_BLOCKS].spare =
		(uint32_t *)(void *)(port->channel + port->nchannels);
	port->ring[NIC_LONGS].spare = port->ring[NIC_BLOCKS].spare +
				      bitmap_size(control->port.nblocks) / 4;
	port->hashed = card->ports[number % NIC_PORT_BUCKETS];
	card->ports[number % NIC_PORT_BUCKETS] = port;
	return BCL_OK;
}

void bcl_nic_port_remove(struct bcl_card *card, struct nic_port *port)
{
	struct nic_port **at = &card->ports[port->number % NIC_PORT_BUCKETS];

	bcl_assert(port->closed && nic_list_empty(&port->flows));
	while (*at != port)
		at = &(*at)->hashed;
	*at = port->hashed;
	nic_list_remove(&port->intake);
	nic_list_remove(&port->active);
	nic_list_remove(&port->news);
	nic_list_remove(&port->starving);
	port->jobs++;
	bcl_nic_port_job_done(card, port);
}

void bcl_nic_port_job_done(struct bcl_card *card, struct nic_port *port)
{
	bcl_assert(port->jobs);
	if (--port->jobs == 0 && port->closed)
		bcl_nic_arena_put(card, port);
}

/*
 * Read one of the port's indices to port->word[]. FAULT: no job is free, or the
 * memory cannot be read.
 */
static enum bcl_dma_result read_index(struct bcl_card *card,
				      struct nic_port *port, uint32_t offset,
				      unsigned word, enum nic_job_kind kind)
{
	struct bcl_memref ref = { offset, port->indices, 4 };
	enum bcl_dma_result result;

	if (card->gather) {
		port->word[word] = nic_load_first(
			(const uint32_t *)port->at.indices + offset / 4);
		return BCL_DMA_DONE;
	}
	if (card->jobs.left == 0)
		return BCL_DMA_FAULT;
	result = bcl_nic_dma_job(card, BCL_DMA_READ, 0, 0, &ref,
				 &port->word[word], kind, port, NULL);
	if (result == BCL_DMA_PENDING)
		port->jobs++;
	return result;
}

void bcl_nic_port_tell_room(struct bcl_card *card, struct nic_port *port)
{
	struct nic_conn *conn;
	uint32_t i = 0, k;

	port->refused = 0;
	while ((conn = nic_conn_next(card, &i))) {
		for (k = 0; k < NIC_ROOMS; k++) {
			if (conn->rooms[k] != port->number)
				continue;
			conn->rooms_ready |= (uint8_t)(1u << k);
			if (conn->small_rail < BCL_RAILS_MAX)
				nic_conn_work(card, conn,
					      NIC_WORK_ACK << conn->small_rail);
		}
	}
}

void bcl_nic_port_freed(struct bcl_card *card, struct nic_port *port,
			enum nic_rings which)
{
	uint32_t freed = nic_host32(port->word[which]);
	struct nic_ring *ring = &port->ring[which];

	/* Any process may have written there: take only a plausible count. */
	if (ring->next - freed <= ring->n)
		ring->freed = freed;
	if (!ring->wanted || nic_ring_used(ring) == ring->n)
		return;
	ring->wanted = 0;
	if (!port->ring[NIC_BLOCKS].wanted && !port->ring[NIC_LONGS].wanted)
		nic_list_remove(&port->starving);
	bcl_nic_port_tell_room(card, port);
}

/* Only the ring NIC_BLOCKS is read by a dma that may be PENDING. */
static void read_freed(struct bcl_card *card, struct nic_port *port,
		       enum nic_rings which)
{
	const uint32_t at[NIC_RINGS] = {
		[NIC_BLOCKS] = offsetof(struct bcl_port_indices, blocks_freed),
		[NIC_LONGS] = offsetof(struct bcl_port_indices, longs_freed),
	};

	if (port->freed_due)
		return;
	switch (read_index(card, port, at[which], which, NIC_JOB_FREED)) {
	case BCL_DMA_DONE:
		bcl_nic_port_freed(card, port, which);
		break;
	case BCL_DMA_PENDING:
		port->freed_due = 1;
		break;
	case BCL_DMA_FAULT:
		break;
	}
}

static uint32_t take_spare(struct nic_ring *ring)
{
	uint32_t block = 0;

	while (!(ring->spare[block / 32] >> block % 32 & 1))
		block++;
	ring->spare[block / 32] &= ~(1u << block % 32);
	ring->nspare--;
	return block;
}

/*
 * The library does not tell when it frees blocks. Most ports free some soon.
 * The others are looked at more and more rarely, up to rto_min.
 */
static void feed_later(struct bcl_card *card)
{
	card->starving_at = card->now + card->starving_wait;
	card->starving_wait =
		nic_backoff(card->starving_wait, 1, card->config.rto_min);
}

bool bcl_nic_port_block_look(struct bcl_card *card, struct nic_port *port,
			     struct nic_ring *ring)
{
	if (ring->nspare)
		return true;
	read_freed(card, port, (enum nic_rings)(ring - port->ring));
	if (nic_ring_used(ring) < ring->n)
		return true;
	port->refused = 1;
	ring->wanted = 1;
	if (nic_list_empty(&port->starving)) {
		nic_list_append(&card->starving, &port->starving);
		card->starving_wait = card->config.ack_delay;
		feed_later(card);
	}
	return false;
}

bool bcl_nic_port_block_find(struct bcl_card *card, struct nic_port *port,
			     struct nic_ring *ring, uint32_t *block)
{
	if (!bcl_nic_port_block_look(card, port, ring))
		return false;
	*block = ring->nspare ? take_spare(ring) : ring->next++ & (ring->n - 1);
	return true;
}

/*
 * Keep a block for the next message, as the message for it was not delivered.
 * Blocks are freed in ring order, so each block must be delivered once per lap.
 * An owner that frees blocks before their messages come may have one block
 * taken twice, and so kept twice.
 */
void bcl_nic_port_block_spare(struct nic_ring *ring, uint32_t block)
{
	uint32_t bit = 1u << block % 32;

	bcl_assert(block < ring->n);
	if (ring->spare[block / 32] & bit)
		return;
	ring->spare[block / 32] |= bit;
	ring->nspare++;
}

void bcl_nic_port_feed(struct bcl_card *card)
{
	struct nic_link *link, *next;
	struct nic_port *port;
	unsigned which;

	for (link = card->starving.next; link != &card->starving; link = next) {
		next = link->next;
		port = bcl_container_of(link, struct nic_port, starving);
		for (which = 0; which < NIC_RINGS; which++)
			if (port->ring[which].wanted)
				read_freed(card, port, (enum nic_rings)which);
	}
	feed_later(card);
}

void bcl_nic_port_slept(struct bcl_card *card, struct nic_port *port)
{
	if (port->word[WORD_SLEEPING])
		card->hal.wake(card->host, port->number);
}

/* Returns false if an earlier read of `sleeping` is pending. */
static bool ask_sleeping(struct bcl_card *card, struct nic_port *port)
{
	if (port->sleeping_due)
		return false;
	switch (read_index(card, port,
			   offsetof(struct bcl_port_indices, sleeping),
			   WORD_SLEEPING, NIC_JOB_SLEEPING)) {
	case BCL_DMA_DONE:
		bcl_nic_port_slept(card, port);
		break;
	case BCL_DMA_PENDING:
		port->sleeping_due = 1;
		break;
	case BCL_DMA_FAULT: /* unknown: wake */
		card->hal.wake(card->host, port->number);
		break;
	}
	return true;
}

/*
 * Called once after the events of an input, so that `sleeping` is read once for
 * all of them.
 */
void bcl_nic_port_wake(struct bcl_card *card)
{
	struct nic_link *link, *next;
	struct nic_port *port;

	for (link = card->news.next; link != &card->news; link = next) {
		next = link->next;
		port = bcl_container_of(link, struct nic_port, news);
		if (!card->gather) {
			if (ask_sleeping(card, port))
				nic_list_remove(link);
			continue;
		}
		nic_list_remove(link);
		if (nic_load_first(&port->at.indices->sleeping))
			card->hal.wake(card->host, port->number);
	}
}
