/* SPDX-License-Identifier: MIT */
/* Posted channels of a port, for all paths. */
#ifndef BCL_CHANNEL_H
#define BCL_CHANNEL_H

#include <stdint.h>

#include <bcl/bcl.h>

/*
 * A posted channel. FREE; POSTED by bcl_post(); CLAIMED while a path fills the
 * buffer. A path that has a message for a channel that is not posted waits.
 */
enum bcl_channel_state {
	BCL_CHANNEL_FREE,
	BCL_CHANNEL_POSTED,
	BCL_CHANNEL_CLAIMED,
};

/* Member of a path's record of a message that waits for its channel. */
struct bcl_channel_waiter {
	struct bcl_channel_waiter *next;
	struct bcl_port *port;
	unsigned channel;
	/* The channel has been posted, so the path may claim it. The waiter
	 * is off the list before the call, and may be freed in the call. The
	 * port's owner calls, inside bcl_post(). */
	void (*posted)(struct bcl_channel_waiter *waiter);
};

struct bcl_channel {
	void *buffer;
	uint64_t length;
	uint64_t cookie;
	enum bcl_channel_state state;
	struct bcl_channel_waiter *first, **last;
};

/* ---- for the paths: only the port's owner calls ---- */

/*
 * A message for a channel has arrived. OK: the channel belongs to the caller
 * until bcl_channel_done(). AGAIN: the channel is not posted; waiter->posted()
 * is called when it is. NOPORT: there is no such channel.
 */
enum bcl_status bcl_channel_claim(struct bcl_port *port, unsigned channel,
				  struct bcl_channel_waiter *waiter,
				  struct bcl_channel **claimed);
/* The path gives up waiting. */
void bcl_channel_forget(struct bcl_channel_waiter *waiter);
/*
 * A channel that a path has claimed, or that the card has filled, has its
 * message of `length` bytes, or failed: queues BCL_EVENT_CHANNEL and frees the
 * channel.
 */
void bcl_channel_done(struct bcl_port *port, unsigned channel,
		      struct bcl_peer *peer, uint64_t length,
		      enum bcl_status status);

/* ---- for the transport itself ---- */

enum bcl_status bcl_channels_open(struct bcl_port *port);
void bcl_channels_close(struct bcl_port *port);
/* The card has filled a channel: frees it. `immediate` of the event is the
 * channel's number, and becomes 0. */
void bcl_channel_filled(struct bcl_port *port, struct bcl_event *event);

#endif
