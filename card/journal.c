/* SPDX-License-Identifier: MIT */
/* The journal of a card: reads the queues of all ports beside their owners and
 * the card, and writes records. See journal.h. */
#include "card/journal.h"

#include <stdlib.h>

#include "env/crc32c.h"
#include "card/cq.h"

struct bcl_journal_port {
	struct bcl_journal_port *next;
	uint16_t number;
	uint32_t request_mask, block_mask, long_mask;
	uint32_t submitted; /* entries of submits[] seen so far */
	uint32_t freed;	    /* blocks freed, as reported last */
	const struct bcl_request *requests;
	const uint32_t *submits;
	const uint8_t *blocks;
	const struct bcl_port_indices *indices;
	struct bcl_host_cq sends, receives; /* read beside their owner */
};

static void put_record(struct bcl_journal *journal, struct bcl_record record)
{
	journal->put(journal->arg, &record);
}

/* ---- the card ---- */

void bcl_journal_open(struct bcl_journal *journal, uint64_t card,
		      uint64_t incarnation, uint32_t memory,
		      uint64_t peer_timeout)
{
	put_record(journal,
		   (struct bcl_record){
			   .kind = BCL_RECORD_OPENED,
			   .card = card,
			   .value = incarnation,
			   .length = memory,
			   .target = (uint32_t)(peer_timeout / 1000000),
		   });
}

void bcl_journal_close(struct bcl_journal *journal, enum bcl_record_kind kind)
{
	struct bcl_journal_port *port;

	while ((port = journal->ports)) {
		if (kind == BCL_RECORD_CRASHED) {
			journal->ports = port->next;
			free(port);
		} else {
			bcl_journal_port_close(journal, port->number);
		}
	}
	put_record(journal, (struct bcl_record){ .kind = (uint8_t)kind });
}

void bcl_journal_node(struct bcl_journal *journal, uint64_t card,
		      enum bcl_node_state state, enum bcl_status status)
{
	put_record(journal, (struct bcl_record){
				    .kind = BCL_RECORD_NODE,
				    .card = card,
				    .number = state,
				    .status = (uint16_t)status,
			    });
}

void bcl_journal_memory(struct bcl_journal *journal, uint32_t used)
{
	put_record(journal, (struct bcl_record){
				    .kind = BCL_RECORD_MEMORY,
				    .length = used,
			    });
}

/* ---- ports ---- */

enum bcl_status
bcl_journal_port_open(struct bcl_journal *journal,
		      const struct bcl_host_area areas[BCL_AREAS],
		      const struct bcl_control *control)
{
	struct bcl_journal_port *port = calloc(1, sizeof(*port));

	if (!port)
		return BCL_ERR_NOMEM;
	port->number = (uint16_t)control->port.number;
	port->request_mask = control->port.nrequests - 1;
	port->block_mask = control->port.nblocks - 1;
	port->long_mask = control->port.nlongs - 1;
	port->requests = (const void *)areas[BCL_AREA_REQUESTS].address;
	port->submits = bcl_submits(port->requests, control->port.nrequests);
	port->blocks = areas[BCL_AREA_BLOCKS].address;
	port->indices = (const void *)areas[BCL_AREA_INDICES].address;
	port->sends = bcl_host_cq_open((void *)areas[BCL_AREA_SENDS].address,
				       control->port.nrequests);
	port->receives =
		bcl_host_cq_open((void *)areas[BCL_AREA_RECEIVES].address,
				 control->port.nreceives);
	port->next = journal->ports;
	journal->ports = port;
	put_record(journal, (struct bcl_record){
				    .kind = BCL_RECORD_PORT_OPENED,
				    .port = port->number,
				    .number = control->port.nrequests,
				    .length = control->port.nblocks,
				    .target = control->port.nchannels,
				    .arg32 = control->port.nlongs,
			    });
	return BCL_OK;
}

void bcl_journal_port_close(struct bcl_journal *journal, uint32_t number)
{
	struct bcl_journal_port **at = &journal->ports, *port;

	bcl_journal_look(journal);
	while (*at && (*at)->number != number)
		at = &(*at)->next;
	port = *at;
	if (!port)
		return;
	*at = port->next;
	free(port);
	put_record(journal, (struct bcl_record){ .kind = BCL_RECORD_PORT_CLOSED,
						 .port = (uint16_t)number });
}

/* ---- looking ---- */

/* The checksum of a message to a system ring, at the sender. */
static uint32_t digest_message(const struct bcl_request *request)
{
	uint32_t crc = bcl_crc32c(0, request->inlined, request->inline_len);
	unsigned i;

	for (i = 0; i < request->nref; i++)
		crc = bcl_crc32c(
			crc, (const void *)(uintptr_t)request->refs[i].offset,
			request->refs[i].length);
	return crc;
}

/* True for a message to a system ring if all pieces are in this process. */
static bool is_readable(const struct bcl_request *request)
{
	unsigned i;

	if (request->op != BCL_REQ_SYSTEM ||
	    request->inline_len > BCL_REQUEST_INLINE ||
	    request->nref > BCL_REQUEST_REFS)
		return false;
	for (i = 0; i < request->nref; i++)
		if (request->refs[i].handle != BCL_HANDLE_SELF ||
		    request->refs[i].length > BCL_SYSTEM_MAX)
			return false;
	return true;
}

static void look_requests(struct bcl_journal *journal,
			  struct bcl_journal_port *port, uint8_t flags)
{
	/* Acquire: pairs with submit_silently() in path.c. */
	uint32_t made = atomic_load_explicit(
		(const _Atomic uint32_t *)&port->indices->requests_made,
		memory_order_acquire);

	for (; port->submitted != made; port->submitted++) {
		uint32_t number =
			port->submits[port->submitted & port->request_mask] &
			port->request_mask;
		const struct bcl_request *request = &port->requests[number];
		bool whole = is_readable(request);

		put_record(
			journal,
			(struct bcl_record){
				.kind = BCL_RECORD_REQUEST,
				.op = request->op,
				.type = request->type,
				.flags =
					flags | (whole ? BCL_RECORD_DIGEST : 0),
				.port = port->number,
				.peer_port = request->dst_port,
				.number = number,
				.length = request->length,
				.target = request->target,
				.arg32 = request->arg32,
				.digest = whole ? digest_message(request) : 0,
				.card = journal->card_of(journal->arg,
							 request->node),
				.value = request->targ64,
			});
	}
}

/*
 * The next entry of a queue, or NULL. Laps only grow. With a lap that is too
 * high the entry was overwritten before the journal looked.
 */
static const struct bcl_completion *next_entry(struct bcl_journal *journal,
					       struct bcl_journal_port *port,
					       struct bcl_host_cq *cq)
{
	uint32_t lap = atomic_load_explicit(
		(const _Atomic uint32_t *)&cq->next->lap, memory_order_acquire);

	if ((int32_t)(lap - cq->lap) > 0) {
		put_record(journal,
			   (struct bcl_record){ .kind = BCL_RECORD_UNSEEN,
						.port = port->number });
		cq->lap = lap;
	}
	return lap == cq->lap ? cq->next : NULL;
}

static void record_completion(struct bcl_journal *journal,
			      const struct bcl_journal_port *port,
			      const struct bcl_completion *c)
{
	put_record(journal, (struct bcl_record){
				    .kind = BCL_RECORD_COMPLETED,
				    .port = port->number,
				    .number = c->index,
				    .length = c->length,
				    .status = c->status,
			    });
}

/* Acquire: pairs with free_block() in queues.c. */
static uint32_t freed_of(const uint32_t *index)
{
	return atomic_load_explicit((const _Atomic uint32_t *)index,
				    memory_order_acquire);
}

static void record_delivery(struct bcl_journal *journal,
			    struct bcl_journal_port *port,
			    const struct bcl_completion *c)
{
	bool is_long = c->kind == BCL_CQ_SYSTEM && c->length > BCL_BLOCK_SIZE;
	uint32_t mask = is_long ? port->long_mask : port->block_mask;
	const uint8_t *block =
		port->blocks +
		bcl_block_at(port->block_mask + 1, c->index & mask, c->length);
	struct bcl_record record = {
		.kind = BCL_RECORD_DELIVERED,
		.op = c->kind,
		.type = c->type,
		.port = port->number,
		.peer_port = c->src_port,
		.number = c->index,
		.length = c->length,
		.arg32 = c->arg32,
		.freed = freed_of(is_long ? &port->indices->longs_freed
					  : &port->indices->blocks_freed),
		.status = c->status,
		.card = c->card,
		.value = c->targ64,
	};

	if (c->kind == BCL_CQ_SYSTEM) {
		record.flags = BCL_RECORD_DIGEST;
		record.digest = bcl_crc32c(0, block, c->length);
	}
	if (!is_long)
		port->freed = record.freed;
	put_record(journal, record);
}

static void look_events(struct bcl_journal *journal,
			struct bcl_journal_port *port)
{
	const struct bcl_completion *c;

	while ((c = next_entry(journal, port, &port->sends))) {
		record_completion(journal, port, c);
		bcl_host_cq_take(&port->sends);
	}
	while ((c = next_entry(journal, port, &port->receives))) {
		record_delivery(journal, port, c);
		bcl_host_cq_take(&port->receives);
	}
}

void bcl_journal_event(struct bcl_journal *journal, uint32_t number,
		       enum bcl_queue queue, const struct bcl_completion *entry)
{
	struct bcl_journal_port *port = journal->ports;

	while (port && port->number != number)
		port = port->next;
	if (!port)
		return;
	if (queue == BCL_QUEUE_SENDS)
		record_completion(journal, port, entry);
	else
		record_delivery(journal, port, entry);
}

static void look_at_port(struct bcl_journal *journal,
			 struct bcl_journal_port *port, uint8_t flags)
{
	uint32_t freed = freed_of(&port->indices->blocks_freed);

	/* Freed blocks are reported together, an eighth of the ring at a
	 * time. */
	if (freed - port->freed > port->block_mask / 8) {
		put_record(journal,
			   (struct bcl_record){ .kind = BCL_RECORD_RING,
						.port = port->number,
						.freed = freed });
		port->freed = freed;
	}
	/* A request is used again only after its completion was seen, so
	 * completions are recorded first. */
	if (!journal->told)
		look_events(journal, port);
	look_requests(journal, port, flags);
}

void bcl_journal_doorbell(struct bcl_journal *journal, uint32_t number)
{
	struct bcl_journal_port *port;

	for (port = journal->ports; port; port = port->next)
		look_at_port(journal, port,
			     port->number == number ? 0 : BCL_RECORD_EARLY);
}

void bcl_journal_look(struct bcl_journal *journal)
{
	bcl_journal_doorbell(journal, 0); /* of no port: all are early */
}
