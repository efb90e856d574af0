/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Connections: one with each incarnation of a node. */
#ifndef NICFW_CONN_H
#define NICFW_CONN_H

#include <nicfw/deadline.h>
#include <nicfw/window.h>

enum nic_conn_state {
	NIC_CONN_CALLING,
	NIC_CONN_ANSWERED,
	NIC_CONN_UP,
	NIC_CONN_PARKING, /* idle; PARK sent, no new message is started */
	NIC_CONN_PARKED,  /* UP; the peer wants to end an idle connection */
	/*
	 * The peer has ended. This card sends nothing more, and takes frames
	 * that are still queued in the rails.
	 */
	NIC_CONN_ENDING,
};

/* Reasons for a connection to be in card->working. */
enum nic_conn_work {
	NIC_WORK_ACK = 1,     /* << rail */
	NIC_WORK_RESEND = 16, /* conn->resend, conn->parts */
	NIC_WORK_LOST = 32,   /* window->lost */
};

struct nic_conn {
	struct nic_link work;	  /* card->working */
	struct nic_link drain;	  /* card->drain: a long message completed */
	struct nic_link numbered; /* messages without a verdict, by number */
	struct nic_link awaiting, resend; /* messages */
	struct nic_link parts; /* flights of dead rails, to be sent by others */
	struct nic_link inbounds;
	struct nic_link stalled; /* flows */
	struct nic_node *node;
	uint64_t incarnation; /* of the peer */
	uint64_t due;	      /* key in the heap of deadlines */
	uint64_t heard;
	uint64_t used; /* time when a message was last sent or received */
	/*
	 * Time when a connection that is not UP is given up, and when ENDING is
	 * over.
	 */
	uint64_t expires;
	/*
	 * Until then a HELLO of another incarnation is not answered. Meaningful
	 * below UP.
	 */
	uint64_t settled;
	uint64_t ack_at, ping_at, retry_at, hello_at;
	uint64_t look_at; /* for stuck inbounds; NIC_NEVER: none */
	uint64_t waiting_since;
	uint32_t ping_wait, hello_wait; /* ns */
	uint32_t waiting;		/* number that resend_oldest() saw */
	uint32_t heap;			/* index in card->heap */
	uint32_t index;			/* index in card->conns */
	uint32_t id;	    /* in frames to us, but for the rail bits */
	uint32_t peer;	    /* in frames to the peer, but for the rail bits */
	uint32_t seal;	    /* of frames to us */
	uint32_t peer_seal; /* of frames to the peer */
	uint32_t first;	    /* message number that we used first */
	uint32_t next;	    /* message number that we use next */
	uint32_t base;	    /* the peer's oldest message without a verdict */
	uint32_t done;	    /* all messages of the peer before: as in wire.h */
	uint32_t top;	/* 1 + highest message of the peer that has a verdict */
	uint32_t early; /* inbounds that wait for their predecessor */
	uint32_t ninbound;
	uint8_t state;
	uint8_t known; /* `incarnation` and `peer` are valid */
	/*
	 * enum bcl_status. ENDING: the reason; OK after a BYE. Below UP: the
	 * reason that an unproved REFUSE gave.
	 */
	uint8_t why;
	uint8_t working;   /* enum nic_conn_work */
	uint8_t told;	   /* all verdicts behind `done` were sent */
	uint8_t done_due;  /* `done` moved since a frame last carried it */
	uint8_t overdue;   /* bit r: rail r was busy when an ACK was due */
	uint8_t confirmed; /* the peer knows that this side is UP */
	uint8_t pcrc;
	uint8_t small_rail, bulk_rail; /* BCL_RAILS_MAX: none */
	uint8_t stripes;     /* bit r: rail r carries stripes; 0: no striping */
	uint8_t rooms_ready; /* bit i: rooms[i] is to be sent as ROOM */
	uint16_t rooms[NIC_ROOMS]; /* ports that refused; 0: none */
	uint64_t frames_sent, frames_received, retransmitted;
	struct nic_window window[BCL_RAILS_MAX];
	struct nic_arrived *arrived; /* NULL: all frames came in order */
	uint32_t verdicts[BCL_MSG_MEMORY / 8]; /* four bits for each number */
};

_Static_assert(offsetof(struct nic_conn, verdicts) <= 1024,
	       "card memory per peer, without bitmaps");

static inline struct nic_conn *nic_conn_find(const struct bcl_card *card,
					     uint32_t id)
{
	struct nic_conn *conn = card->conns[id >> 2 & card->conn_mask];

	return conn && conn->id == (id & ~3u) ? conn : NULL;
}

/* A rail for frames that may go by any. */
static inline unsigned nic_conn_any_rail(const struct nic_conn *conn)
{
	return conn->small_rail < BCL_RAILS_MAX ? conn->small_rail : 0;
}

/*
 * Iterate over all connections. *index is 0 at first. Returns NULL at the end.
 */
static inline struct nic_conn *nic_conn_next(const struct bcl_card *card,
					     uint32_t *index)
{
	struct nic_conn *conn = NULL;

	while (!conn && *index < card->conns_end)
		conn = card->conns[(*index)++];
	return conn;
}

/* A timer of the connection is due at `at`. */
static inline void nic_conn_due(struct bcl_card *card, struct nic_conn *conn,
				uint64_t at)
{
	if (at < conn->due) {
		conn->due = at;
		bcl_nic_deadline_move(card, conn);
	}
}

struct nic_conn *bcl_nic_conn_make(struct bcl_card *card,
				   struct nic_node *node);
void bcl_nic_conn_rename(struct bcl_card *card, struct nic_conn *conn);
/* The node's candidate, if any, becomes the node's connection. */
void bcl_nic_conn_free(struct bcl_card *card, struct nic_conn *conn);
void bcl_nic_conn_up(struct bcl_card *card, struct nic_conn *conn);
/* True if the peer may have seen requests that are not finished. */
bool bcl_nic_conn_owed(const struct nic_conn *conn);
/* True if neither side has a message or frame in progress. */
bool bcl_nic_conn_idle(const struct nic_conn *conn);
/* Ask the connection that was idle for the longest time to end. */
void bcl_nic_conn_evict(struct bcl_card *card);
void bcl_nic_conn_ack(struct bcl_card *card, struct nic_conn *conn,
		      unsigned rail);

/*
 * Put a connection into card->working, for reasons of enum nic_conn_work.
 */
static inline void nic_conn_work(struct bcl_card *card, struct nic_conn *conn,
				 unsigned what)
{
	conn->working |= (uint8_t)what;
	if (nic_list_empty(&conn->work))
		nic_list_append(&card->working, &conn->work);
}

static inline void nic_conn_ack_soon(struct bcl_card *card,
				     struct nic_conn *conn)
{
	if (conn->ack_at != NIC_NEVER)
		return;
	conn->ack_at = card->now + card->config.ack_delay;
	nic_conn_due(card, conn, conn->ack_at);
}

/* Frames were acknowledged: continue the work that waited for the window. */
void bcl_nic_conn_resume(struct bcl_card *card, struct nic_conn *conn);
/* All frames are acknowledged: set a timer to PING if verdicts are missing. */
void bcl_nic_conn_await(struct bcl_card *card, struct nic_conn *conn);

#endif
