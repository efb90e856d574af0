/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Messages that come in: in pieces, early, or by a slow dma. */
#ifndef NICFW_INBOUND_H
#define NICFW_INBOUND_H

#include <nicfw/card.h>

enum nic_inbound_state {
	NIC_INBOUND_PIECES, /* some bytes are missing */
	NIC_INBOUND_MOVING, /* all bytes came, some are still being stored */
	NIC_INBOUND_EARLY,  /* complete; the predecessor has no verdict */
};

struct nic_inbound {
	struct nic_link link;  /* conn->inbounds; free */
	struct nic_conn *conn; /* NULL: gone while a dma was pending */
	struct nic_port *port;
	struct nic_message *request; /* GET_REPLY, ATOMIC_REPLY: the request */
	struct bcl_memref where;     /* destination of the whole message */
	uint64_t targ64;
	uint32_t msg, prev;
	uint32_t total, received;
	uint32_t seen; /* `received` at the last look */
	uint32_t target, arg32;
	uint32_t slot; /* number of the block or channel */
	uint32_t jobs;
	uint16_t src_port, dst_port;
	uint16_t area_port; /* port on whose behalf `where` is written */
	uint8_t op, type;
	uint8_t state;
	uint8_t early; /* counted in conn->early */
	uint8_t has_block;
	uint8_t remote;
	uint8_t status;	   /* of the event or completion */
	uint8_t failed;	   /* the verdict is NOPORT or MEMORY, by `status` */
	uint8_t withdrawn; /* the verdict is REFUSED */
	uint8_t awaited;   /* complete, and long or a put: acknowledge soon */
	uint8_t rail;	   /* of the last frame */
	uint8_t looks;	   /* looks in a row that found no progress */
	uint64_t word; /* ATOMIC_REPLY: the result in host order, for a dma */
};

/* The memory of the message cannot be written. */
static inline void nic_inbound_fail(struct nic_inbound *inbound)
{
	inbound->failed = 1;
	inbound->status = BCL_ERR_MEMORY;
}

#endif
