/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Ports. Lookup, completions and blocks are inline for each short message.
 */
#ifndef NICFW_PORT_H
#define NICFW_PORT_H

#include <nicfw/card.h>

enum nic_intake {
	NIC_INTAKE_IDLE,
	NIC_INTAKE_SUBMIT, /* reading an entry of submits[] */
	NIC_INTAKE_REQUEST,
};

/*
 * The areas of a port in host memory. The card reaches them directly, with
 * BCL_HAL_GATHER only.
 */
struct nic_areas {
	const struct bcl_request *requests;
	struct bcl_completion *sends, *receives;
	uint8_t *blocks;
	const struct bcl_port_indices *indices;
	uint32_t *again;
	const uint32_t *postings;
};

/* Blocks of one size. They are taken and given back in ring order. */
struct nic_ring {
	uint32_t n;    /* a power of two, or 0 */
	uint32_t next; /* blocks taken so far */
	/* blocks given back so far, as last read from the library's indices */
	uint32_t freed;
	uint32_t nspare;
	uint32_t *spare; /* bitmap: blocks taken, but not delivered */
	uint8_t wanted;	 /* a message was refused because no block was free */
};

enum nic_rings {
	NIC_BLOCKS,
	NIC_LONGS,
	NIC_RINGS,
};

struct nic_port {
	struct nic_link intake;	  /* card->intake: submits[] to be read */
	struct nic_link active;	  /* card->active: has ready flows */
	struct nic_link news;	  /* card->news: events since the last wake */
	struct nic_link starving; /* card->starving: no block was free */
	struct nic_link ready;	  /* flows that may send */
	struct nic_link flows;	  /* all flows of the port */
	struct nic_port *hashed;
	/* handles of memory */
	uint32_t requests, sends, receives, blocks, indices;
	uint32_t nrequests, nreceives, nchannels;
	uint8_t sends_shift, receives_shift; /* entries = 1 << shift */
	uint32_t made, taken;	 /* entries of submits[]: written, read */
	uint32_t sent, received; /* completions written to each queue */
	uint32_t messages;	 /* unfinished requests of this port */
	uint32_t jobs;
	uint32_t index; /* request that is being read */
	/*
	 * Targets of dma: the count of freed blocks of each ring, then
	 * `sleeping`.
	 */
	uint32_t word[NIC_RINGS + 1];
	uint16_t number;
	uint8_t step;	   /* enum nic_intake */
	uint8_t reading;   /* a dma of the intake is pending */
	uint8_t freed_due; /* a dma of blocks_freed is pending */
	uint8_t sleeping_due;
	uint8_t refused; /* a channel or block was not free: owes a ROOM */
	uint8_t closed;
	struct nic_areas at;
	/* without BCL_HAL_GATHER: copy of the request that is being read */
	struct bcl_request request;
	struct nic_ring ring[NIC_RINGS];
	struct nic_channel *channel;
};

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
