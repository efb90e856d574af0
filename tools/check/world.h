/* SPDX-License-Identifier: MIT */
/*
 * What a trace has told so far of each card: its lives, ports and requests,
 * its connections and what came and went by them. Rules look at it before an
 * event changes it. Memory is bounded as a card's own is: by ports, requests,
 * connections and windows of numbers, not by the length of the trace.
 *
 *  life     of a card, from its opening to its end
 *  node     another card, as the host of a life knows it
 *  port     with its requests that have not completed
 *  link     a connection, by the id that its life gave out
 *  lane     one rail of a link: which frames went and came
 *  arrival  a message of the peer
 *  number   a message of ours that has a number
 *  flow     messages from port to port, end to end (flow.h)
 */
#ifndef CHECK_WORLD_H
#define CHECK_WORLD_H

#include <bcl/card_abi.h>
#include <bcl/status.h>

#include "tools/check/frame.h"
#include "tools/check/packet.h"
#include "tools/check/seal.h"
#include "transport/wire/record.h"

enum {
	CHECK_OFFERS = 4,
	CHECK_MEMORY = BCL_MSG_MEMORY, /* messages remembered of a link */
};

/* Where something was said. */
struct check_place {
	const char *file;
	unsigned number;
};

enum check_progress {
	CHECK_WAITING,	/* has no number */
	CHECK_NUMBERED, /* a frame of it has left */
	CHECK_REFUSED,	/* waits to be sent again */
	CHECK_JUDGED,	/* delivered, or failed for good */
};

struct check_request {
	bool used;
	bool delayed;  /* refused at least once */
	bool answered; /* its reply has come */
	enum check_progress progress;
	enum bcl_verdict verdict;
	struct bcl_record asked;
	uint64_t order; /* of its submission, among all of the card */
	uint64_t time;
	uint32_t token; /* names it in a reply */
	struct check_place place;
	/* New frames on each rail when it was submitted; see fair.c. */
	bool alone;
	uint64_t fresh[BCL_RAILS_MAX];
	struct check_link *link; /* by which `fresh` was counted */
};

/* Blocks of one size. */
struct check_ring {
	uint32_t n;
	uint32_t taken;	  /* since the port was opened */
	uint32_t freed;	  /* of these, as told last */
	uint32_t refused; /* messages, any of which may have held one */
};

struct check_port {
	struct check_port *next;
	uint16_t number;
	uint32_t nrequests;
	struct check_request *requests;
	uint32_t outstanding;
	struct check_ring blocks, longs;
	bool gap; /* events may be missing */
};

/* Where a message of this length finds its block, if it is one for the system
 * channel, or a notification. */
static inline struct check_ring *check_ring(struct check_port *port,
					    bool system, uint32_t length)
{
	return system && length > BCL_BLOCK_SIZE ? &port->longs : &port->blocks;
}

struct check_arrival {
	uint32_t msg; /* 0: none */
	uint8_t op, type;
	bool whole, delivered, withdrawn, has_digest;
	bool passed;  /* one behind it was delivered, so this one has failed */
	uint8_t told; /* enum bcl_verdict that we gave */
	uint16_t src_port, dst_port;
	uint32_t prev, total, target, received, digest;
	uint64_t targ64;
	uint32_t freed;	  /* of its ring when it began, */
	uint32_t refused; /* likewise */
	/* By rail: the last of its frames, and whether we have not yet
	 * acknowledged it. */
	uint32_t last[BCL_RAILS_MAX];
	bool untold[BCL_RAILS_MAX];
	uint64_t time; /* when the last of them came */
	struct check_place place;
};

struct check_number {
	uint32_t msg; /* 0: none */
	uint8_t op, type;
	bool withdrawn;
	uint8_t verdict; /* enum bcl_verdict that we were told */
	bool unheard;	 /* by a rail that perhaps was deaf */
	uint8_t rail;	 /* told by this one, */
	uint64_t said;	 /* which had said so much, */
	uint64_t told;	 /* when */
	uint16_t src_port, dst_port;
	uint32_t prev, total, target;
	uint64_t targ64;
	struct check_port *port; /* of its request, */
	uint32_t request;
	uint64_t order; /* and which one that was; 0: none */
	struct check_place place;
};

struct check_sent {
	uint32_t seq;
	uint32_t times; /* since the peer was heard, which was */
	uint64_t heard;
	uint64_t acked; /* when it was acknowledged; 0: not yet */
	bool again;	/* after that */
};

struct check_lane {
	bool came_known, went_known, told_known;
	/* the peer's frames */
	uint32_t expected;
	uint32_t arrived[BCL_SACK_BITS / 32]; /* by seq, from expected on */
	uint32_t told;			      /* the last ack that we sent */
	uint32_t skipped; /* by a handshake: those before it, come or not */
	uint32_t to;	  /* the peer's id in our frames */
	bool down;	  /* we said so: the peer's frames are not taken */
	bool deaf;	  /* perhaps: it shook hands, or the peer gave it up,
			   * and we sent no DATA by it since */
	/* ours */
	uint32_t next, acked;
	uint64_t fresh;		 /* new DATA frames */
	uint64_t said;		 /* frames but handshakes */
	struct check_sent *sent; /* by seq % BCL_SACK_BITS */
};

/* The last number of messages from port to port. */
struct check_chain {
	struct check_chain *next;
	uint16_t src_port, dst_port;
	uint32_t last;
};

/* A connection that HELLO_ACKs offered. The card takes the first one of a
 * peer's lives, and may say nothing by it until another life has offered one.
 */
struct check_offer {
	uint32_t conn; /* the peer's, without the rail; 0: none */
	uint32_t first_msg;
	uint64_t life;
	bool by[BCL_RAILS_MAX]; /* these rails; then, by rail: */
	uint32_t first_seq[BCL_RAILS_MAX];
};

struct check_link {
	struct check_link *next; /* younger first */
	struct check_life *life;
	uint64_t card; /* of the peer */
	uint32_t id;   /* ours, without the rail */
	uint32_t peer; /* the peer's; 0: not known yet */
	uint64_t peer_incarnation;
	bool live; /* more than handshakes was sent */
	struct check_offer offers[CHECK_OFFERS]; /* the youngest first */
	uint64_t heard; /* when an intact frame came last */
	struct check_lane lanes[BCL_RAILS_MAX];
	/* the peer's messages */
	uint32_t first_in, low, top, peer_base, told_done;
	struct check_arrival *in; /* [CHECK_MEMORY] by number */
	/* ours */
	uint32_t first_out, next_out, out_base, peer_done;
	/* Numbers before next_out that were not seen: their messages are still
	 * being fetched, and others have overtaken them. */
	uint32_t gaps;
	struct check_number *out; /* [CHECK_MEMORY] by number */
	struct check_chain *chains;
	uint64_t next_look; /* for messages that are held up */
};

struct check_node {
	struct check_node *next;
	uint64_t card;
	enum bcl_status lost; /* why it was lost last; OK: never */
	/* A request that ended with a loss that was not told yet. */
	struct check_place owed;
	uint64_t owed_time;
};

/* A HELLO that came. */
struct check_call {
	struct check_call *next;
	uint64_t card, life;
	uint32_t conn, first_msg;
	uint32_t first_seq[BCL_RAILS_MAX]; /* by our rail */
};

struct check_life {
	struct check_life *next;   /* of the table's bucket */
	struct check_life *former; /* of the same card, over */
	uint64_t card;
	uint64_t incarnation; /* 0: not known yet */
	bool over;
	bool records; /* its host's events are in the trace */
	uint64_t timeout;
	uint32_t memory;
	uint64_t orders; /* requests submitted */
	uint64_t last;	 /* time of its last packet */
	struct check_port *ports;
	struct check_node *nodes;
	struct check_link *links;
	struct check_call *calls;
};

enum check_match {
	CHECK_MATCHED,
	CHECK_OTHER,  /* it arrived with other contents */
	CHECK_AGAIN,  /* it was delivered before */
	CHECK_EARLY,  /* the one before it was not */
	CHECK_PASSED, /* one behind it was delivered before */
	CHECK_PART,   /* not all of it has arrived */
	CHECK_FORMER, /* it came from, or for, a former life */
	CHECK_NONE,   /* nothing like it has arrived */
};

/* A packet and whatever it is about. */
struct check_event {
	struct check_world *world;
	const struct check_packet *packet;
	struct check_life *life;
	bool host; /* `record`, else `frame` */
	struct bcl_record record;
	struct check_port *port;       /* of the record; may be NULL */
	struct check_request *request; /* COMPLETED: it; may be NULL */
	enum check_match match;	       /* DELIVERED: */
	struct check_arrival *arrival; /* what was, or could have been */
	struct check_link *carrier;    /* the arrival's */
	struct check_frame *frame;
	const char *bad;	 /* why a card would not take the frame */
	struct check_link *link; /* NULL: of none that is known */
	struct check_lane *lane;
	bool new_frame; /* DATA: not a repetition, by its number */
	/* while its segments are looked at in turn */
	const struct check_segment *segment;
	struct check_number *numbered; /* outbound: it has a number already */
	struct check_request *source;  /* outbound, else: what asked for it */
};

struct check_rule;
struct check_flows;

enum {
	CHECK_LIVES = 1024, /* buckets */
	CHECK_RULES = 32,   /* at most */
	CHECK_SAID = 20,    /* complaints of one rule that are told */
};

struct check_world {
	uint64_t patience; /* ns */
	struct check_life *lives[CHECK_LIVES];
	struct check_flows *flows;
	struct check_seals *seals;
	struct check_frame frame;
	const struct check_rule *rule; /* that is being asked */
	unsigned complaints, said[CHECK_RULES];
	uint64_t packets, frames, records, damaged;
};

/* ---- world.c ---- */
void check_world_open(struct check_world *world);
void check_world_close(struct check_world *world);
/* What the packet is about; everything else of *event is cleared. */
void check_world_find(struct check_world *world,
		      const struct check_packet *packet,
		      struct check_event *event);
/* A record changes what is known. */
void check_world_record(struct check_event *event);
void check_life_over(struct check_life *life);
struct check_life *check_life_find(const struct check_world *world,
				   uint64_t card);
struct check_port *check_port_find(const struct check_life *life,
				   unsigned number);
/* Made if it is not there. */
struct check_node *check_node(struct check_life *life, uint64_t card);

/* ---- link.c ---- */
/* The link of a frame, and its lane. */
void check_link_find(struct check_event *event);
/* A frame changes what is known of handshakes. */
void check_link_frame(struct check_event *event);
void check_links_free(struct check_life *life);
/* The youngest link to a card that is paired. */
struct check_link *check_link_to(const struct check_life *life, uint64_t card);

/* ---- inbound.c ---- */
void check_inbound_start(struct check_link *link, uint32_t first_msg);
void check_inbound_skip(struct check_lane *lane, uint32_t seq);
/* An intact frame of the peer; each of its segments. */
void check_inbound_frame(struct check_event *event);
void check_inbound_segment(struct check_event *event);
/* A frame of ours tells verdicts. */
void check_inbound_told(struct check_event *event);
/* NULL: not remembered. */
struct check_arrival *check_arrival(const struct check_link *link,
				    uint32_t msg);
/* Has its predecessor been delivered, or failed? */
bool check_arrival_due(const struct check_link *link,
		       const struct check_arrival *arrival);
/* It is delivered: those before it that were not have failed. */
void check_arrival_pass(const struct check_link *link,
			const struct check_arrival *arrival);
bool check_lane_arrived(const struct check_lane *lane, uint32_t seq);
/* Which message a DELIVERED is about: event->match and ->arrival. */
void check_inbound_match(struct check_event *event);

/* ---- outbound.c ---- */
struct check_number *check_number(const struct check_link *link, uint32_t msg);
/* Which message an outbound segment is of: event->numbered, ->source. */
void check_outbound_find(struct check_event *event);
/* Is the segment of what was asked? */
bool check_as_asked(const struct bcl_record *asked,
		    const struct check_segment *segment);
void check_outbound_frame(struct check_event *event);
void check_outbound_segment(struct check_event *event);
/* What a frame of the peer says of our messages and frames. */
void check_outbound_answers(struct check_event *event);
/* What a rail was told since it said something may have been lost on it. */
void check_outbound_deaf(struct check_link *link, unsigned rail);
struct check_chain *check_chain(struct check_link *link, unsigned src_port,
				unsigned dst_port);
/* The number that follows. */
static inline uint32_t check_after(uint32_t number)
{
	return number + 1 ? number + 1 : 1;
}

#endif
