/* SPDX-License-Identifier: MIT */
/*
 * The state of each card as far as a trace has shown it: lives, ports,
 * requests, connections, and the frames sent and received. Rules look at the
 * state before an event changes it. Memory is bounded like a card's own, by the
 * number of ports, requests and connections and by the windows of numbers, not
 * by the length of the trace.
 *
 * "Our" and "we" mean the card of the life, "the peer" the card at the other
 * end of a link.
 *
 *  life     an incarnation of a card, from opening to end
 *  node     another card, as the host of a life knows it
 *  port     with its requests that have not completed
 *  link     a connection, by the id that its life gave out
 *  lane     one rail of a link, with the frames sent and received
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
#include "wire/record.h"

enum {
	CHECK_OFFERS = 4,
	CHECK_MEMORY = BCL_MSG_MEMORY, /* messages remembered per link */
};

/* A packet of a trace, for messages to the user. */
struct check_place {
	const char *file;
	unsigned number;
};

enum check_progress {
	CHECK_WAITING,	/* has no number yet */
	CHECK_NUMBERED, /* at least one frame was sent */
	CHECK_REFUSED,	/* waits to be retransmitted */
	CHECK_JUDGED,	/* delivered, or failed for good */
};

struct check_request {
	bool used;
	bool delayed;  /* refused at least once */
	bool answered; /* the reply has arrived */
	enum check_progress progress;
	enum bcl_verdict verdict;
	struct bcl_record asked;
	uint64_t order; /* position in the submissions of the whole card */
	uint64_t time;
	uint32_t token; /* names the request in a reply */
	struct check_place place;
	/* New frames sent on each rail before the request was submitted; see
	 * check_rule_fair(). */
	bool alone;
	uint64_t fresh[BCL_RAILS_MAX];
	struct check_link *link; /* link by which `fresh` was counted */
};

/* The blocks of one size of a system ring. */
struct check_ring {
	uint32_t n;
	uint32_t taken;	  /* since the port was opened */
	uint32_t freed;	  /* of these, as the last record said */
	uint32_t refused; /* refused messages; each may have held a block for a
			   * time */
};

struct check_port {
	struct check_port *next;
	uint16_t number;
	uint32_t nrequests;
	struct check_request *requests;
	uint32_t outstanding;
	struct check_ring blocks, longs;
	bool gap; /* UNSEEN: records of the port may be missing */
};

/* The ring that holds a message of this length. `system` is true for a message
 * to the system channel, false for a notification. */
static inline struct check_ring *check_ring(struct check_port *port,
					    bool system, uint32_t length)
{
	return system && length > BCL_BLOCK_SIZE ? &port->longs : &port->blocks;
}

struct check_arrival {
	uint32_t msg; /* 0: entry is unused */
	uint8_t op, type;
	bool whole, delivered, withdrawn, has_digest;
	bool passed;  /* a later message of the flow was delivered: this message
		       * has failed */
	uint8_t told; /* enum bcl_verdict that we sent */
	uint16_t src_port, dst_port;
	uint32_t prev, total, target, received, digest;
	uint64_t targ64;
	uint32_t freed;	  /* the ring's `freed` when the first frame arrived */
	uint32_t refused; /* the ring's `refused` at that time */
	/* By rail: the last frame of the message; true: we have yet to
	 * acknowledge the frame. */
	uint32_t last[BCL_RAILS_MAX];
	bool untold[BCL_RAILS_MAX];
	uint64_t time; /* when the last frame arrived */
	struct check_place place;
};

struct check_number {
	uint32_t msg; /* 0: entry is unused */
	uint8_t op, type;
	bool withdrawn;
	uint8_t verdict; /* enum bcl_verdict that we received */
	bool unheard;	 /* came by a rail that was perhaps deaf */
	uint8_t rail;	 /* by which the verdict came */
	uint64_t said;	 /* frames sent by that rail until then */
	uint64_t told;	 /* when the verdict came */
	uint16_t src_port, dst_port;
	uint32_t prev, total, target;
	uint64_t targ64;
	struct check_port *port; /* of the request, or NULL */
	uint32_t request;
	uint64_t order; /* of the request in port->requests[request]; 0: none */
	struct check_place place;
};

struct check_sent {
	uint32_t seq;
	uint32_t times; /* sent since the peer was last heard */
	uint64_t heard;
	uint64_t acked; /* when an acknowledgement arrived; 0: not yet */
	bool again;	/* retransmitted after that */
};

struct check_lane {
	bool came_known, went_known, told_known;
	/* frames of the peer */
	uint32_t expected;
	uint32_t arrived[BCL_SACK_BITS / 32]; /* by seq, from expected on */
	uint32_t told;			      /* last ack that we sent */
	uint32_t skipped; /* a handshake skipped all frames before `skipped`,
			   * arrived or not */
	uint32_t to;	  /* peer's connection id in our frames */
	bool down;	  /* we sent RAIL_DOWN and take no frames of the peer by
			   * this rail */
	bool deaf;	  /* our card may ignore frames by the rail: after a
			   * handshake, or after the peer gave the rail up,
			   * until we send DATA by it */
	/* our frames */
	uint32_t next, acked;
	uint64_t fresh;		 /* new DATA frames sent */
	uint64_t said;		 /* all frames sent, without handshakes */
	struct check_sent *sent; /* by seq % BCL_SACK_BITS */
};

/* The last number given to a message from port to port. */
struct check_chain {
	struct check_chain *next;
	uint16_t src_port, dst_port;
	uint32_t last;
};

/*
 * A connection offered by HELLO_ACKs of the peer. The card takes the first
 * offer of each life of the peer. It may stay silent on that connection until
 * another life of the peer has made an offer.
 */
struct check_offer {
	uint32_t conn; /* peer's id without the rail; 0: none */
	uint32_t first_msg;
	uint64_t life;
	bool by[BCL_RAILS_MAX]; /* offered by these rails; first_seq is by
				 * rail */
	uint32_t first_seq[BCL_RAILS_MAX];
};

struct check_link {
	struct check_link *next; /* next older link */
	struct check_life *life;
	uint64_t card; /* of the peer */
	uint32_t id;   /* our id, without the rail */
	uint32_t peer; /* peer's id; 0: not known yet */
	uint64_t peer_incarnation;
	bool live; /* we have sent more than handshakes */
	struct check_offer offers[CHECK_OFFERS]; /* youngest first */
	uint64_t heard; /* when the last intact frame arrived */
	struct check_lane lanes[BCL_RAILS_MAX];
	/* messages of the peer */
	uint32_t first_in, low, top, peer_base, told_done;
	struct check_arrival *in; /* [CHECK_MEMORY] by number */
	/* our messages */
	uint32_t first_out, next_out, out_base, peer_done;
	/*
	 * Numbers before next_out that no frame has shown yet. The card is
	 * still fetching these messages, and later messages have overtaken
	 * them.
	 */
	uint32_t gaps;
	struct check_number *out; /* [CHECK_MEMORY] by number */
	struct check_chain *chains;
	uint64_t next_look; /* when to look for messages that are held up */
};

struct check_node {
	struct check_node *next;
	uint64_t card;
	enum bcl_status lost; /* reason of the last loss; OK: never lost */
	/* A request that failed by the loss of this card before any record told
	 * of the loss; number 0: none. */
	struct check_place owed;
	uint64_t owed_time;
};

/* A HELLO that arrived. */
struct check_call {
	struct check_call *next;
	uint64_t card, life;
	uint32_t conn, first_msg;
	uint32_t first_seq[BCL_RAILS_MAX]; /* by our rail */
};

struct check_life {
	struct check_life *next;   /* in the bucket of the table */
	struct check_life *former; /* previous life of the card; over */
	uint64_t card;
	uint64_t incarnation; /* 0: not known yet */
	bool over;
	bool records; /* the trace contains records of the host */
	uint64_t timeout;
	uint32_t memory;
	uint64_t orders; /* requests submitted */
	uint64_t last;	 /* time of the last packet */
	struct check_port *ports;
	struct check_node *nodes;
	struct check_link *links;
	struct check_call *calls;
};

enum check_match {
	CHECK_MATCHED,
	CHECK_OTHER,  /* arrived with different contents */
	CHECK_AGAIN,  /* was delivered before */
	CHECK_EARLY,  /* the message before it was not delivered */
	CHECK_PASSED, /* a later message of the flow was delivered before */
	CHECK_PART,   /* has arrived in part only */
	CHECK_FORMER, /* came from a former life, or was for one */
	CHECK_NONE,   /* no such message has arrived */
};

/* A packet with the objects that it concerns. */
struct check_event {
	struct check_world *world;
	const struct check_packet *packet;
	struct check_life *life;
	bool host; /* `record` is valid, else `frame` */
	struct bcl_record record;
	struct check_port *port;       /* of the record; may be NULL */
	struct check_request *request; /* COMPLETED only; may be NULL */
	enum check_match match;	       /* DELIVERED only */
	struct check_arrival *arrival; /* the message delivered, or the nearest
					* candidate */
	struct check_link *carrier;    /* link of `arrival` */
	struct check_frame *frame;
	const char *bad;	 /* why a card would reject the frame; NULL: it
				  * would not */
	struct check_link *link; /* NULL: no known link */
	struct check_lane *lane;
	bool new_frame; /* DATA: the number shows that this is no repetition */
	/* valid for one segment after another */
	const struct check_segment *segment;
	struct check_number *numbered; /* outbound: the message, if it has a
					* number already */
	struct check_request *source;  /* outbound, not numbered: the request
					* that submitted the message */
};

struct check_rule;
struct check_flows;

enum {
	CHECK_LIVES = 1024, /* buckets */
	CHECK_RULES = 32,   /* at most */
	CHECK_SAID = 20,    /* complaints printed per rule */
};

struct check_world {
	uint64_t patience; /* ns */
	struct check_life *lives[CHECK_LIVES];
	struct check_flows *flows;
	struct check_seals *seals;
	struct check_frame frame;
	const struct check_rule *rule; /* the rule that is being applied */
	unsigned complaints, said[CHECK_RULES];
	uint64_t packets, frames, records, damaged;
};

/* ---- world.c ---- */
void check_world_open(struct check_world *world);
void check_world_close(struct check_world *world);
/* Fills *event with the objects that the packet concerns; clears all other
 * members. */
void check_world_find(struct check_world *world,
		      const struct check_packet *packet,
		      struct check_event *event);
/* Applies a record to the state. */
void check_world_record(struct check_event *event);
void check_life_over(struct check_life *life);
struct check_life *check_life_find(const struct check_world *world,
				   uint64_t card);
struct check_port *check_port_find(const struct check_life *life,
				   unsigned number);
/* Creates the node if the life does not know the card. */
struct check_node *check_node(struct check_life *life, uint64_t card);

/* ---- link.c ---- */
/* Finds the link and the lane of a frame. */
void check_link_find(struct check_event *event);
/* Applies a frame, as far as it is part of a handshake or names a rail. */
void check_link_frame(struct check_event *event);
void check_links_free(struct check_life *life);
/* The youngest paired link to a card. */
struct check_link *check_link_to(const struct check_life *life, uint64_t card);

/* ---- inbound.c ---- */
void check_inbound_start(struct check_link *link, uint32_t first_msg);
void check_inbound_skip(struct check_lane *lane, uint32_t seq);
/* Apply an intact frame of the peer, and each of its segments. */
void check_inbound_frame(struct check_event *event);
void check_inbound_segment(struct check_event *event);
/* Applies the verdicts that a frame of ours carries. */
void check_inbound_told(struct check_event *event);
/* Returns NULL if the message is not remembered. */
struct check_arrival *check_arrival(const struct check_link *link,
				    uint32_t msg);
/* True if the predecessor was delivered or has failed. */
bool check_arrival_due(const struct check_link *link,
		       const struct check_arrival *arrival);
/* The message is delivered: marks all earlier messages of the flow that were
 * not delivered as failed. */
void check_arrival_pass(const struct check_link *link,
			const struct check_arrival *arrival);
bool check_lane_arrived(const struct check_lane *lane, uint32_t seq);
/* Finds the message that a DELIVERED record means: sets event->match, ->arrival
 * and ->carrier. */
void check_inbound_match(struct check_event *event);

/* ---- outbound.c ---- */
struct check_number *check_number(const struct check_link *link, uint32_t msg);
/* Finds the message of an outbound segment: sets event->numbered
 * and ->source. */
void check_outbound_find(struct check_event *event);
/* True if the segment agrees with the request. */
bool check_as_asked(const struct bcl_record *asked,
		    const struct check_segment *segment);
void check_outbound_frame(struct check_event *event);
void check_outbound_segment(struct check_event *event);
/* Applies what a frame of the peer says about our messages and frames. */
void check_outbound_answers(struct check_event *event);
/* Marks verdicts as `unheard`: our card may have discarded all verdicts that
 * came by the rail since the card last sent a frame by the rail. */
void check_outbound_deaf(struct check_link *link, unsigned rail);
struct check_chain *check_chain(struct check_link *link, unsigned src_port,
				unsigned dst_port);
/* The next message number; 0 is skipped. */
static inline uint32_t check_after(uint32_t number)
{
	return number + 1 ? number + 1 : 1;
}

#endif
