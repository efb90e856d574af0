/* SPDX-License-Identifier: MIT */
/*
 * The library's own messages between two connected ports: types 64..127 of the
 * pair. Integers are native, since both processes run on one machine. If a
 * message is about an offer, its immediate is a bcl_message_slot(). The
 * receiver handles a message in bcl_pair_unusual().
 */
#ifndef BCL_SHM_MESSAGE_H
#define BCL_SHM_MESSAGE_H

#include <stdint.h>

enum bcl_shm_type {
	BCL_SHM_JOIN = 64, /* argument: chunk in pages; struct bcl_join:
			    * copy this to my memory, from the start */
	BCL_SHM_FETCH,	   /* argument: chunk in pages; struct bcl_join: put
			    * this into your bounce area, from the start */
	BCL_SHM_READ,	   /* argument: status; the pull has ended */
	BCL_SHM_CHANNEL,   /* immediate: channel; struct bcl_token */
	BCL_SHM_NOTIFY,	   /* struct bcl_notify (notify.h) */
	BCL_SHM_BELL,	   /* look at the bell (bell.h) */
	BCL_SHM_SKIP,	   /* immediate: slots, with its own (slot.h) */
	BCL_SHM_LEAVE,	   /* immediate: enum bcl_leave_word */
};

struct bcl_join {
	uint64_t target; /* JOIN: address in the sender of this message */
	uint64_t length; /* bytes wanted, from the start of the offer */
};

enum {
	BCL_JOIN_PAGE = 4096, /* bytes; unit of a chunk */
};

static inline uint64_t bcl_message_slot(uint16_t slot, uint16_t generation,
					uint32_t argument)
{
	return slot | (uint32_t)generation << 16 | (uint64_t)argument << 32;
}

#endif
