/* SPDX-License-Identifier: MIT */
/* Unexpected messages: they wait for a receive. unexpected.c explains the flow
 * control that bounds their memory. */
#ifndef BCL_ADI_UNEXPECTED_H
#define BCL_ADI_UNEXPECTED_H

#include "adi/job.h"
#include "adi/match.h"

struct bcl_adi_message {
	struct bcl_match_message match; /* first member */
	struct bcl_adi_peer *peer;
	size_t length;	  /* of the message as sent */
	uint64_t sync;	  /* the sender's request; 0: not synchronous */
	uint32_t size;	  /* of this block, as passed to bcl_pool_get() */
	uint32_t charged; /* bytes that count against the peer's budget, or 0 */
	bool announced;	  /* data is the ticket */
	_Alignas(8) uint8_t data[];
};

/* An unexpected message with a copy of the data or ticket. The caller fills in
 * the rest. NULL: no memory. */
struct bcl_adi_message *bcl_adi_message_new(struct bcl_adi *adi,
					    struct bcl_adi_peer *peer,
					    const void *data, size_t size);
/* Charges the message to the budget of its sender. */
void bcl_adi_message_count(struct bcl_adi *adi,
			   struct bcl_adi_message *message);
void bcl_adi_message_free(struct bcl_adi *adi, struct bcl_adi_message *message);
/* Frees all unexpected messages, at the end of the job. */
void bcl_adi_drop_unexpected(struct bcl_adi *adi);
/* Called when a receive or probe finds no message: says MORE to senders that
 * said HOLD. */
void bcl_adi_want(struct bcl_adi *adi, uint64_t key,
		  enum bcl_match_class class);
/* Handles HOLD. */
void bcl_adi_hold_received(struct bcl_adi *adi, struct bcl_adi_peer *peer);

#endif
