/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Ports. Lookup, completions and blocks are inline for each short message.
 */
#ifndef NICFW_PORT_H
#define NICFW_PORT_H

#include <nicfw/objects.h>

uint32_t bcl_nic_port_size(uint32_t nblocks, uint32_t nlongs,
			   uint32_t nchannels);
enum bcl_status bcl_nic_port_open(struct bcl_card *card,
				  const struct bcl_control *control);
/* Remove a closed port, whose messages and flows are gone. */
void bcl_nic_port_remove(struct bcl_card *card, struct nic_port *port);
void bcl_nic_port_init(struct nic_port *port);
/* A dma for the port has ended. Frees a closed port with its last dma. */
void bcl_nic_port_job_done(struct bcl_card *card, struct nic_port *port);
/*
 * The slow paths of nic_port_block_left() and nic_port_block_take(), for a ring
 * with spare blocks, or one that may be full.
 */
bool bcl_nic_port_block_look(struct bcl_card *card, struct nic_port *port,
			     struct nic_ring *ring);
bool bcl_nic_port_block_find(struct bcl_card *card, struct nic_port *port,
			     struct nic_ring *ring, uint32_t *block);
void bcl_nic_port_block_spare(struct nic_ring *ring, uint32_t block);
/* The count of freed blocks of a ring has been read to port->word[]. */
void bcl_nic_port_freed(struct bcl_card *card, struct nic_port *port,
			enum nic_rings which);
/* Send ROOM to all peers that the port refused. */
void bcl_nic_port_tell_room(struct bcl_card *card, struct nic_port *port);
/* Look whether starving ports have a free block again. */
void bcl_nic_port_feed(struct bcl_card *card);
void bcl_nic_port_wake(struct bcl_card *card);
void bcl_nic_port_slept(struct bcl_card *card, struct nic_port *port);

static inline struct nic_port *nic_port_find(const struct bcl_card *card,
					     uint16_t number)
{
	struct nic_port *port = card->ports[number % NIC_PORT_BUCKETS];

	while (port && port->number != number)
		port = port->hashed;
	return port;
}

/*
 * Write the next entry of a queue: in place, or through the host. The lap is
 * stored last.
 */
static inline void nic_port_event(struct bcl_card *card, struct nic_port *port,
				  enum bcl_queue queue,
				  const struct bcl_completion *what)
{
	struct bcl_completion *entry = &card->event;
	uint32_t slot, lap;

	if (queue == BCL_QUEUE_SENDS) {
		slot = port->sent & (port->nrequests - 1);
		lap = 1 + (port->sent++ >> port->sends_shift);
		if (card->gather)
			entry = &port->at.sends[slot];
	} else {
		slot = port->received & (port->nreceives - 1);
		lap = 1 + (port->received++ >> port->receives_shift);
		if (card->gather)
			entry = &port->at.receives[slot];
	}
	entry->cookie = nic_host64(what->cookie);
	entry->targ64 = nic_host64(what->targ64);
	entry->card = nic_host64(what->card);
	entry->length = nic_host32(what->length);
	entry->index = nic_host32(what->index);
	entry->node = nic_host32(what->node);
	entry->arg32 = nic_host32(what->arg32);
	entry->src_port = nic_host16(what->src_port);
	entry->status = nic_host16(what->status);
	entry->type = what->type;
	entry->kind = what->kind;
	nic_store_last(&entry->lap, nic_host32(lap));
	if (!card->gather)
		card->hal.event(card->host, port->number, queue, slot, entry);
	if (nic_list_empty(&port->news))
		nic_list_append(&card->news, &port->news);
}

static inline uint32_t nic_ring_used(const struct nic_ring *ring)
{
	return ring->next - ring->freed;
}

/* True if the next block of the ring is free, without reading the indices. */
static inline bool nic_ring_next(const struct bcl_card *card,
				 const struct nic_ring *ring)
{
	/*
	 * From half full on the indices are read ahead, so that a slow dma has
	 * the answer in time.
	 */
	uint32_t room = card->gather ? ring->n : ring->n / 2;

	return !ring->nspare && nic_ring_used(ring) < room;
}

/*
 * Take a block of one of the port's rings. Returns false if the ring is full;
 * ROOM follows when it is not.
 */
static inline bool nic_port_block_take(struct bcl_card *card,
				       struct nic_port *port,
				       struct nic_ring *ring, uint32_t *block)
{
	if (!nic_ring_next(card, ring))
		return bcl_nic_port_block_find(card, port, ring, block);
	*block = ring->next++ & (ring->n - 1);
	return true;
}

/* True if a block could be taken. */
static inline bool nic_port_block_left(struct bcl_card *card,
				       struct nic_port *port,
				       struct nic_ring *ring)
{
	return nic_ring_next(card, ring) ||
	       bcl_nic_port_block_look(card, port, ring);
}

#endif
