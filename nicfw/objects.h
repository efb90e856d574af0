/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The objects of a card. Who owns what:
 *
 *  card     clock, pools, tables of ports, nodes and connections
 *  port     a user's queues, blocks and channels, and the flows from there
 *  node     a peer by its card id, as long as the host knows it, and the
 *           flows that lead there
 *  flow     messages of one port to one node (and port) that wait to be sent
 *           or, refused, to be sent again
 *  message  something to send: a request, or a reply to a peer's GET or
 *           atomic. It gets its number with its first frame
 *  conn     a connection with one life of a node: numbered messages that
 *           have no verdict, verdicts given, messages that come in
 *  window   one rail of a connection: frames in flight, frames arrived
 *  flight   a frame in flight, or a run of them: enough to build it again;
 *           or what has to go by another rail than that on which it was
 *  inbound  a message that comes in: in pieces, early, or by a slow dma
 *  buffer   card memory for one frame (without BCL_HAL_GATHER)
 */
#ifndef NICFW_OBJECTS_H
#define NICFW_OBJECTS_H

#include <nicfw/hal.h>
#include <nicfw/list.h>
#include <nicfw/memory.h>
#include <nicfw/order.h>

#define NIC_NEVER UINT64_MAX

enum {
	NIC_COPY_MAX = 256,	/* longer payloads are gathered, not copied */
	NIC_SMALL_MAX = 1024,	/* longer messages do not delay shorter ones */
	NIC_INBOUND_MAX = 64,	/* per node: messages in pieces or held */
	NIC_EARLY_MAX = 48,	/* of these, held for their predecessor */
	NIC_ROOMS = 4,		/* per node: ports whose ROOM it waits for */
	NIC_ACK_BYTES = 262144, /* unacknowledged at most */
	NIC_MTU_MIN = 576,	/* bytes a rail must carry */
	NIC_REORDER = 3,	/* a frame is lost if so many later ones came */
	NIC_RAIL_TIMEOUTS = 4,	/* until another rail is tried */
	NIC_RAIL_DOWN_TRIES = 5, /* what came by a dead rail, until given up */
	NIC_PATIENCE = 8,	 /* peer_timeout, with what does not go on */
	NIC_PORT_BUCKETS = 64,
};

struct nic_buffer;

struct nic_channel {
	uint64_t cookie, offset, length;
	uint64_t card; /* the only one that may read from it, 0: each may */
	uint32_t handle;
	uint16_t card_port;
	uint16_t generation;
	uint16_t reads; /* replies that read from it */
	uint8_t armed, reading, filling;
};

enum nic_intake {
	NIC_INTAKE_IDLE,
	NIC_INTAKE_SUBMIT, /* reading an entry of submits[] */
	NIC_INTAKE_REQUEST,
};

/* The areas of a port, where the card reaches them: with BCL_HAL_GATHER. */
struct nic_areas {
	const struct bcl_request *requests;
	struct bcl_completion *sends, *receives;
	uint8_t *blocks;
	const struct bcl_port_indices *indices;
};

/* Blocks of one size: taken in order, and given back in order. */
struct nic_ring {
	uint32_t n;	/* a power of two, or 0 */
	uint32_t next;	/* taken so far */
	uint32_t freed; /* given back so far, as the library last said */
	uint32_t nspare;
	uint32_t *spare; /* bitmap: taken, and given up */
	uint8_t wanted;	 /* a message was refused for lack of one */
};

enum nic_rings {
	NIC_BLOCKS,
	NIC_LONGS,
	NIC_RINGS,
};

struct nic_port {
	struct nic_link intake;	  /* card->intake: submits to be read */
	struct nic_link active;	  /* card->active: has ready flows */
	struct nic_link news;	  /* card->news: events since the last wake */
	struct nic_link starving; /* card->starving: refused, no block free */
	struct nic_link ready;	  /* flows with something to send */
	struct nic_link flows;	  /* all of them */
	struct nic_port *hashed;
	uint32_t requests, sends, receives, blocks, indices; /* handles */
	uint32_t nrequests, nreceives, nchannels;
	uint8_t sends_shift, receives_shift; /* entries = 1 << shift */
	uint32_t made, taken;		     /* entries of submits[] */
	uint32_t sent, received;	     /* entries written to the queues */
	uint32_t messages; /* requests of this port, not finished */
	uint32_t jobs;
	uint32_t index; /* request being read */
	/* dma lands here: what was freed of each ring, sleeping */
	uint32_t word[NIC_RINGS + 1];
	uint16_t number;
	uint8_t step;	   /* enum nic_intake */
	uint8_t reading;   /* a read of the intake is on its way */
	uint8_t freed_due; /* blocks_freed is being read */
	uint8_t sleeping_due;
	uint8_t refused; /* a channel or block was refused: owes ROOM */
	uint8_t closed;
	struct nic_areas at;
	struct bcl_request request; /* without BCL_HAL_GATHER: being read */
	struct nic_ring ring[NIC_RINGS];
	struct nic_channel *channel;
};

/* The states of a node are in node.c. */
struct nic_node {
	struct nic_link wanting; /* card->wanting: no memory for a conn */
	struct nic_link past;	 /* card->past: others may have its place */
	struct nic_link flows;
	uint64_t expires;	    /* of wanting */
	struct nic_conn *conn;	    /* in use or being made, or NULL */
	struct nic_conn *candidate; /* answered, replaces conn when proved */
	uint64_t card;
	uint8_t key[BCL_KEY_SIZE]; /* it is called with, and believed by */
	/* 1 + the next with the same hash; of a free one, how many places
	 * behind the next place the next free one is */
	uint32_t hashed;
	uint32_t messages;   /* not finished */
	uint32_t replies;    /* of these, to it */
	uint32_t generation; /* raised by each loss; of the index, not the node
			      */
	uint8_t used;
	uint8_t state;	/* enum bcl_node_state */
	uint8_t status; /* enum bcl_status: why lost; gates requests */
	uint8_t lost;	/* enum bcl_status: answers those of former lives */
	uint8_t rails;	/* bit r: the host knows an address */
	uint8_t losing; /* bcl_nic_message_lose() is at work */
	uint8_t stays;	/* it did not say BYE when it parted */
};

enum nic_flow_class {
	NIC_FLOW_ORDERED, /* SYSTEM, PUT_NOTIFY to one port */
	NIC_FLOW_SMALL,
	NIC_FLOW_BULK,
	NIC_FLOW_REPLY, /* of up to NIC_SMALL_MAX bytes */
	NIC_FLOW_REPLY_BULK,
	NIC_FLOW_GATE, /* a FENCE, and what came after it */
};

enum nic_flow_place {
	NIC_FLOW_IDLE,
	NIC_FLOW_READY,	  /* in port->ready */
	NIC_FLOW_STALLED, /* in conn->stalled, rail->flows or card->waiting */
};

struct nic_flow {
	struct nic_link link; /* by place; free */
	struct nic_link in_port, in_node;
	struct nic_link queue;	/* messages to be sent */
	struct nic_link parked; /* refused, in the order of their old numbers */
	struct nic_flow *hashed;
	struct nic_port *port;
	struct nic_node *node;
	uint64_t retry_at; /* NIC_NEVER: not waiting */
	uint32_t last;	   /* newest number without verdict, or 0 */
	uint32_t pending;  /* numbered without verdict; GATE: unfinished */
	uint16_t dst_port;
	uint8_t class;
	uint8_t place;
	uint8_t backoff;
	uint8_t refused; /* ORDERED: nothing new until pending is 0 */
	uint8_t room;	 /* refused, and told of room since */
};

enum nic_message_state {
	NIC_MESSAGE_FREE,
	NIC_MESSAGE_QUEUED,    /* in flow->queue, no number */
	NIC_MESSAGE_SENDING,   /* first of flow->queue, numbered */
	NIC_MESSAGE_SENT,      /* all of it was transmitted */
	NIC_MESSAGE_WITHDRAWN, /* will be refused (or was delivered) */
	NIC_MESSAGE_AWAITING,  /* delivered, its reply has not come */
	NIC_MESSAGE_PARKED,    /* in flow->parked, no number */
};

struct nic_message {
	struct nic_link
		link; /* flow->queue, flow->parked, conn->resend; free */
	struct nic_link numbered; /* conn->numbered, conn->awaiting */
	struct nic_port *port; /* whose completion and memory; NULL: nobody's */
	struct nic_node *node;
	/* from here to `refs`: 0 when it is taken */
	struct nic_flow *flow; /* NULL: its port was closed */
	struct nic_flow *gate; /* NULL: a reply */
	uint64_t cookie, targ64;
	uint32_t number; /* 0: none */
	uint32_t prev;	 /* 0: none */
	uint32_t moved;	 /* bytes transmitted */
	uint32_t length;
	uint32_t target, arg32;
	uint32_t index; /* of the request */
	uint16_t generation;
	uint16_t src_port, dst_port;
	uint16_t inline_len;
	uint8_t nref;
	uint8_t op, type;
	uint8_t state;
	uint8_t fragmented; /* more than one frame */
	uint8_t status;	    /* once refused, finish with this instead */
	uint8_t remote;	    /* refs are read for the peer */
	uint8_t reads;	    /* counted in port->channel[index].reads */
	uint8_t words;	    /* bytes of `word` that are its payload */
	uint8_t answering;  /* its reply is coming in */
	uint8_t reply;	    /* to the peer: counted in node->replies */
	union {
		struct bcl_memref refs[BCL_REQUEST_REFS];
		struct {
			struct bcl_memref result;
			struct bcl_le64 word[2]; /* of atomics */
		};
	};
};

enum nic_flight_state {
	NIC_FLIGHT_BUILT, /* its payload is being fetched */
	NIC_FLIGHT_SENT,
	NIC_FLIGHT_UNSENT, /* the rail did not take it */
	NIC_FLIGHT_LOST,
	NIC_FLIGHT_SACKED,
};

/*
 * One segment of a frame in flight; the first stands for the frame. Or a run:
 * frames of a long message that follow one another. What happens to some of
 * them only parts it (bcl_nic_window_part).
 */
struct nic_flight {
	struct nic_link link;	 /* window->flights in order of seq; free */
	struct nic_flight *more; /* further segments of this frame */
	struct nic_message *message;
	struct nic_buffer *buffer; /* BUILT: where */
	struct nic_window *window;
	uint64_t sent;	 /* when */
	uint32_t number; /* of message then: differs if it is gone */
	uint32_t offset, seq;
	uint32_t length;  /* of the payload */
	uint32_t bytes;	  /* with headers */
	uint16_t frames;  /* 1; a run: more */
	uint16_t payload; /* a run: of each frame but the last */
	uint8_t state;
	uint8_t retransmitted; /* transmitted more than once */
	uint8_t withdraw;      /* a WITHDRAW segment, no payload */
};

enum nic_window_state {
	NIC_RAIL_OFF,
	NIC_RAIL_CALLING, /* HELLO sent */
	NIC_RAIL_PROVED,
};

struct nic_window {
	/* both */
	uint32_t peer; /* conn id for frames to this rail of the peer */
	uint8_t state;
	uint8_t turn, peer_turn; /* of HELLO */
	uint8_t timeouts;	 /* time-outs in a row */
	uint8_t rto_shift;	 /* since the round trip was measured last */
	uint8_t ack_due;
	uint8_t lost;	  /* some flights are LOST or UNSENT */
	uint8_t tlp_sent; /* the last frame was sent again to have an answer */
	uint8_t down_tries; /* left: which frames came by it before it died? */
	uint8_t probing;
	uint8_t declined; /* HELLOs of others than `answered`, since then */
	uint16_t payload; /* bytes that a frame with one segment carries */
	uint16_t nflights;
	uint32_t answered; /* the peer's id in our last HELLO_ACK; 0: none */
	uint64_t nonce;	   /* of our last HELLO; 0: none */
	uint64_t theirs;   /* of its answer; 0: none came yet */
	uint64_t answer;   /* of our HELLO_ACKs, until a PING proves that it was
			    * seen; 0: none */
	/* out */
	struct nic_link flights;
	uint32_t next;		       /* seq of the next new frame */
	uint32_t bytes;		       /* in flight */
	uint32_t cwnd, ssthresh, rwnd; /* bytes */
	uint32_t recover;      /* seq: losses before it belong to one event */
	uint32_t probe;	       /* seq to begin with while `probing` */
	uint32_t srtt, rttvar; /* ns; 0: unknown */
	uint32_t min_rtt;      /* ns, round trip; 0: none without delayed ACK */
	uint64_t rto_at;
	uint64_t timeout_first; /* of those in a row */
	uint64_t span_from;	/* when the pace was looked at last */
	uint32_t span_bytes;	/* acknowledged since, never idle */
	uint32_t pace;		/* ns for 1 KB; 0: unknown */
	/* in */
	uint64_t heard;
	uint64_t owed;	   /* ack_due, or a verdict is: since then */
	uint32_t expected; /* every seq before it has arrived */
	uint32_t highest;  /* 1 + the highest that arrived */
	uint32_t unacked;  /* bytes */
	uint32_t refused;  /* nic_coarse(); 0: not, since it was heard by it */
};

enum nic_conn_state {
	NIC_CONN_CALLING,
	NIC_CONN_ANSWERED,
	NIC_CONN_UP,
	NIC_CONN_PARKING, /* idle; PARK sent, nothing new is started */
	NIC_CONN_PARKED,  /* UP, but the peer wants to part */
	NIC_CONN_ENDING,  /* the peer has ended: nothing more is sent, what
			   * still lies in the rails is taken */
};

/* Bitmaps of frames that came before their turn. */
struct nic_arrived {
	uint32_t bits[BCL_RAILS_MAX][BCL_SACK_BITS / 32];
};

/* Why a connection is in card->working. */
enum bcl_nic_conn_work {
	NIC_WORK_ACK = 1,     /* << rail */
	NIC_WORK_RESEND = 16, /* conn->resend, conn->parts */
	NIC_WORK_LOST = 32,   /* frames to retransmit */
};

struct nic_conn {
	struct nic_link work;	  /* card->working */
	struct nic_link drain;	  /* card->drain: bulk completed */
	struct nic_link numbered; /* messages without verdict, by number */
	struct nic_link awaiting, resend; /* messages */
	struct nic_link parts;		  /* flights that did not come */
	struct nic_link inbounds;
	struct nic_link stalled; /* flows */
	struct nic_node *node;
	uint64_t incarnation; /* the peer's */
	uint64_t due;	      /* its key in the heap of deadlines */
	uint64_t heard;
	uint64_t used;	  /* when a message was last sent or received */
	uint64_t expires; /* not UP by then: given up; ENDING: over then */
	uint64_t settled; /* not UP by then: another life may be answered */
	uint64_t ack_at, ping_at, retry_at, hello_at;
	uint64_t look_at; /* NIC_NEVER: no inbounds */
	uint64_t waiting_since;
	uint32_t ping_wait, hello_wait; /* ns */
	uint32_t waiting;   /* the message whose verdict was asked for last */
	uint32_t heap;	    /* its place there */
	uint32_t index;	    /* in card->conns */
	uint32_t id;	    /* in frames to us, without the rail */
	uint32_t peer;	    /* in frames to the peer, without its rail */
	uint32_t seal;	    /* of frames to us */
	uint32_t peer_seal; /* of frames to the peer */
	uint32_t first;	    /* the first number that we gave */
	uint32_t next;	    /* the next */
	uint32_t base;	    /* the peer's: its oldest without verdict */
	uint32_t done;	    /* every number before it: see wire.h */
	uint32_t top;	    /* 1 + the highest with a verdict */
	uint32_t early;	    /* inbounds that wait for their predecessor */
	uint32_t ninbound;
	uint8_t state;
	uint8_t known;	   /* life and peer are */
	uint8_t why;	   /* enum bcl_status; ENDING: OK: it said BYE; not UP:
			    * what somebody said, who did not prove it */
	uint8_t working;   /* enum bcl_nic_conn_work */
	uint8_t told;	   /* verdicts beyond `done` are told */
	uint8_t done_due;  /* `done` moved since it was told */
	uint8_t overdue;   /* rails by bit: too busy for an acknowledgement */
	uint8_t confirmed; /* the peer knows that we are UP */
	uint8_t pcrc;
	uint8_t small_rail, bulk_rail; /* BCL_RAILS_MAX: none */
	uint8_t stripes; /* bit r: long messages share rail r; 0: one rail */
	uint8_t rooms_ready;	   /* bit i: tell of rooms[i] */
	uint16_t rooms[NIC_ROOMS]; /* ports that refused; 0: none */
	uint64_t frames_sent, frames_received, retransmitted;
	struct nic_window window[BCL_RAILS_MAX];
	struct nic_arrived *arrived; /* NULL: all frames came in order */
	uint32_t verdicts[BCL_MSG_MEMORY / 8]; /* a bitmap */
};

_Static_assert(offsetof(struct nic_conn, verdicts) <= 1024,
	       "card memory per peer, without bitmaps");

enum nic_inbound_state {
	NIC_INBOUND_PIECES, /* parts are missing */
	NIC_INBOUND_MOVING, /* all parts came, some are on their way */
	NIC_INBOUND_EARLY,  /* whole, its predecessor is missing */
};

struct nic_inbound {
	struct nic_link link;  /* conn->inbounds; free */
	struct nic_conn *conn; /* NULL: gone while a dma was on its way */
	struct nic_port *port;
	struct nic_message *request; /* GET_REPLY, ATOMIC_REPLY: for this */
	struct bcl_memref where;     /* of the whole message */
	uint64_t targ64;
	uint32_t msg, prev;
	uint32_t total, received;
	uint32_t seen; /* of these, when it was looked at last */
	uint32_t target, arg32;
	uint32_t slot; /* block or channel */
	uint32_t jobs;
	uint16_t src_port, dst_port;
	uint16_t area_port; /* on whose behalf `where` is written */
	uint8_t op, type;
	uint8_t state;
	uint8_t early; /* counted in conn->early */
	uint8_t has_block;
	uint8_t remote;
	uint8_t status;	   /* of the event or completion */
	uint8_t failed;	   /* verdict by its status: NOPORT or MEMORY */
	uint8_t withdrawn; /* verdict REFUSED */
	uint8_t awaited;   /* a long message or a put, and all has come */
	uint8_t rail;	   /* by which its last frame came */
	uint8_t looks;	   /* without anything new */
	uint64_t word;	   /* ATOMIC_REPLY: in host order, on its way */
};

enum nic_job_kind {
	NIC_JOB_INTAKE,	  /* object: port */
	NIC_JOB_FREED,	  /* object: port */
	NIC_JOB_SLEEPING, /* object: port */
	NIC_JOB_FETCH,	  /* object: buffer to be sent */
	NIC_JOB_STORE,	  /* object: inbound; buffer: the frame */
};

struct nic_job {
	struct nic_link link; /* free */
	void *object;
	struct nic_buffer *buffer;
	uint8_t kind;
	uint8_t used;
};

/*
 * A frame in card memory. Out: `jobs` counts the fetches on their way. In:
 * `jobs` counts the segments that are not stored yet.
 */
struct nic_buffer {
	struct nic_link link;	   /* rail->fetched; free */
	struct nic_conn *conn;	   /* out: NULL: the connection is gone */
	struct nic_flight *flight; /* out: NULL: acknowledged meanwhile */
	uint32_t jobs;
	uint16_t length;
	uint8_t rail;
	uint8_t fault;
	uint8_t *bytes;
};

struct nic_rail {
	struct nic_link flows;	      /* wait until it takes frames again */
	struct nic_link fetched;      /* buffers to be sent, in order */
	struct nic_inbound *arriving; /* last bulk fragment was of this */
	uint32_t mtu, burst, window;
	uint8_t up, busy, small, bulk;
};

struct bcl_card {
	struct bcl_hal hal;
	void *host;
	uint64_t now;
	struct bcl_card_config config;
	uint32_t gather; /* BCL_HAL_GATHER */
	uint64_t counters[BCL_CARD_NCOUNTERS];

	struct nic_link intake, active, news, starving; /* ports */
	struct nic_link working, drain;			/* connections */
	struct nic_link waiting; /* flows that wait for card memory */
	struct nic_link wanting; /* nodes */
	struct nic_link past;	 /* nodes, the one that left first in front */
	struct nic_link free;	 /* arena.c */

	struct nic_pool messages, flows, flights, inbounds, jobs;
	struct nic_pool out, in;     /* buffers */
	struct nic_message *message; /* the array */
	struct nic_flow *flow;	     /* the array */
	struct nic_buffer *buffer;   /* the array of `out` */
	struct nic_job *job;
	struct nic_flow **flow_buckets;
	struct nic_node *node;
	uint32_t *node_buckets;
	struct nic_conn **conns; /* by the index in their ids */
	struct nic_conn **heap;
	struct nic_port *ports[NIC_PORT_BUCKETS];
	struct nic_port self; /* replies that need no memory of a port */

	uint32_t reserve; /* messages kept for replies; as many for requests */
	uint32_t replies; /* messages that are */
	uint32_t mask;	  /* of flow_buckets[] */
	uint32_t node_mask, conn_mask;
	uint32_t conn_shift; /* of the random part of a connection id */
	uint32_t free_node, free_conn, nheap;
	uint32_t conns_end; /* 1 + the highest index that was ever used */
	uint32_t arena_used, arena_most; /* bytes of arena.c: now, ever */
	uint32_t flow_hand;		 /* the next flow to be taken back */
	uint32_t answers; /* RESET and REFUSE left until answers_at */
	uint64_t answers_at;
	uint64_t starving_at, starving_wait, wanting_at;
	uint64_t back_at; /* nobody had called for long until then */
	struct {	  /* what the last frame said of ours, put off */
		struct nic_conn *conn; /* NULL: nothing was */
		uint32_t done, ack;
		uint8_t rail;
	} answered;
	struct nic_rail rail[BCL_RAILS_MAX];

	/* scratch of the engines, used within one input only */
	struct bcl_completion event; /* without BCL_HAL_GATHER */
	struct bcl_tx_frame out_frame;
	uint8_t frame[BCL_FRAME_MAX + 8];
};

#endif
