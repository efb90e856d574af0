/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Rails: configuration, the choice for each message, and the end of a rail. */
#ifndef NICFW_RAILS_H
#define NICFW_RAILS_H

#include <nicfw/conn.h>

enum bcl_status bcl_nic_rails_set(struct bcl_card *card,
				  const struct bcl_control *control);

enum {
	/* Frames of the longest message that takes the rail for short ones. */
	NIC_SMALL_FRAMES = 2,
};

/* The dispatch rule: the rail for a message of `bytes`; BCL_RAILS_MAX: none. */
static inline unsigned nic_rails_pick(const struct nic_conn *conn,
				      uint32_t bytes)
{
	unsigned rail = conn->small_rail;

	if (rail < BCL_RAILS_MAX &&
	    bytes > NIC_SMALL_FRAMES * conn->window[rail].payload)
		rail = conn->bulk_rail;
	return rail;
}

/* True if a message of `bytes` is striped. */
static inline bool nic_rails_striped(const struct nic_conn *conn,
				     uint32_t bytes)
{
	return conn->stripes && bytes > conn->window[conn->small_rail].payload;
}

/* True if no frame of the connection may leave on the rail now. */
static inline bool nic_rails_blocked(const struct bcl_card *card,
				     const struct nic_conn *conn, unsigned rail)
{
	return rail >= BCL_RAILS_MAX || card->rail[rail].busy ||
	       conn->window[rail].state != NIC_RAIL_PROVED ||
	       conn->state == NIC_CONN_ENDING;
}

/* Apply the dispatch rule to the rails that are proved. */
void bcl_nic_rails_choose(struct bcl_card *card, struct nic_conn *conn);
/* Give up a rail of the connection: frames go by other rails. */
void bcl_nic_rails_down(struct bcl_card *card, struct nic_conn *conn,
			unsigned rail);
/*
 * The wire reports that nobody listens at the peer's address on this rail: this
 * is evidence against the rail, and against the peer if no other rail vouches
 * for it. Returns true if the connection is to end.
 */
bool bcl_nic_rails_refused(struct bcl_card *card, struct nic_conn *conn,
			   unsigned rail);
/*
 * The peer has not reported yet which frames came by a dead rail: send
 * RAIL_DOWN once more, or give up.
 */
void bcl_nic_rails_send_down(struct bcl_card *card, struct nic_conn *conn,
			     unsigned rail);
/*
 * RAIL_DOWN came by the rail `by`. Returns false if the segment makes no sense.
 */
bool bcl_nic_rails_down_received(struct bcl_card *card, struct nic_conn *conn,
				 unsigned by,
				 const struct bcl_segment_header *segment,
				 const uint8_t *bits);

#endif
