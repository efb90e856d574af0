/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Channels of ports: a buffer for one message, or data for peers to read. */
#ifndef NICFW_CHANNEL_H
#define NICFW_CHANNEL_H

#include <nicfw/card.h>

struct nic_channel {
	uint64_t cookie, offset, length;
	uint64_t card; /* card id that may read; 0: any */
	uint32_t handle;
	uint16_t card_port;
	uint16_t generation;
	uint16_t reads;	 /* replies in progress that read the channel */
	uint32_t posted; /* of postings[], as far as the card has taken it */
	uint8_t armed, reading, filling;
	/* The library may post the channel by the word next: since the last
	 * POST no message was refused. */
	uint8_t again;
	uint8_t lapsed; /* wrote BCL_CQ_REPOST since the last message */
	uint8_t last;	/* the last read was taken; there are no further ones */
	uint8_t done;	/* the last read was answered */
};

/* The outcome of a search for memory of ours, or of a request of a peer. */
enum nic_outcome {
	NIC_OUTCOME_OK,	     /* found; executed */
	NIC_OUTCOME_REFUSED, /* not now: the peer is to try again later */
	NIC_OUTCOME_NOPORT,  /* no such port, channel or request, for good */
	NIC_OUTCOME_MEMORY,  /* the peer may not access the memory */
	NIC_OUTCOME_TRUNCATED,
	NIC_OUTCOME_MALFORMED, /* the message deserves no verdict */
};

enum bcl_status bcl_nic_channel_post(struct bcl_card *card,
				     const struct bcl_control *control);
enum bcl_status bcl_nic_channel_unpost(struct bcl_card *card,
				       const struct bcl_control *control);
/*
 * Find the channel of a message. Returns OK if it is posted, REFUSED if not
 * yet, NOPORT if no longer or if there is none.
 */
enum nic_outcome bcl_nic_channel_find(struct nic_port *port, uint32_t target,
				      bool reading,
				      struct nic_channel **channel);
/*
 * A message was refused at the channel `target`. True if the library has posted
 * the channel by the word: then it is posted. Otherwise the next posting is a
 * POST.
 */
bool bcl_nic_channel_repost(struct bcl_card *card, struct nic_port *port,
			    uint32_t target);
/* The channel has its message, or is taken back. */
void bcl_nic_channel_disarm(struct nic_port *port, uint32_t number);
/* A reply was delivered. If it is the last read of an offer, the offer ends
 * when no other reply reads it any more. */
void bcl_nic_channel_read(const struct nic_message *reply);
/* A reply that was counted in `reads` is being freed. */
void bcl_nic_channel_release(struct bcl_card *card,
			     const struct nic_message *reply);

#endif
