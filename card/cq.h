/* SPDX-License-Identifier: MIT */
/*
 * A completion queue between the card and its host (bcl/card_abi.h), as its
 * reader sees it: the owner of the port, or a journal that reads beside the
 * owner.
 */
#ifndef BCL_CQ_H
#define BCL_CQ_H

#include <stdatomic.h>
#include <stddef.h>

#include <bcl/card_abi.h>

struct bcl_host_cq {
	struct bcl_completion *next; /* the entry to be read next */
	uint32_t lap; /* of that entry once the card has written it */
	struct bcl_completion *entries, *end;
};

static inline struct bcl_host_cq
bcl_host_cq_open(struct bcl_completion *entries, uint32_t n)
{
	return (struct bcl_host_cq){ entries, 1, entries, entries + n };
}

/*
 * The next entry, or NULL. The acquire pairs with the release in
 * nic_port_event(): an entry with the right lap is complete.
 */
static inline const struct bcl_completion *
bcl_host_cq_peek(const struct bcl_host_cq *queue)
{
	uint32_t lap = atomic_load_explicit(
		(_Atomic uint32_t *)&queue->next->lap, memory_order_acquire);

	return lap == queue->lap ? queue->next : NULL;
}

static inline void bcl_host_cq_take(struct bcl_host_cq *queue)
{
	if (++queue->next == queue->end) {
		queue->next = queue->entries;
		queue->lap++;
	}
}

#endif
