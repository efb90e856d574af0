/* SPDX-License-Identifier: MIT */
/* The bell of a pair, rung and heard; see bell.h. */
#include "transport/shm/bell.h"

#include "transport/shm/message.h"
#include "transport/shm/port.h"

static _Atomic uint32_t *bits_of(struct bcl_connection *c, unsigned side)
{
	return &c->segment.head->bells[side].bits;
}

void bcl_bell_ring(struct bcl_connection *c, enum bcl_bell_bit bit)
{
	/* partner: bcl_bell_take() */
	if (!atomic_fetch_or_explicit(bits_of(c, c->side), bit,
				      memory_order_acq_rel))
		bcl_outbox_post(c, BCL_SHM_BELL, 0, NULL, 0);
}

uint32_t bcl_bell_take(struct bcl_connection *c)
{
	/* partner: bcl_bell_ring() */
	return atomic_exchange_explicit(bits_of(c, !c->side), 0,
					memory_order_acq_rel);
}
