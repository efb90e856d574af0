/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The objects of a card, and what each of them owns:
 *
 *   card     clock, pools, tables of ports, nodes and connections
 *   port     queues, blocks and channels of a user, and the flows from there
 *   node     a peer by its card id, as long as the host knows the peer, and
 *            the flows that lead there
 *   flow     messages of one port to one node (and port) that wait to be sent
 *            or, after a refusal, to be sent under a new number
 *   message  something to send: a request, or a reply to a peer's GET or
 *            atomic. A message gets its number with its first frame
 *   conn     a connection with one incarnation of a node: numbered messages
 *            without a verdict, verdicts given, messages that come in
 *   window   one rail of a connection: frames in flight, frames that arrived
 *   flight   a frame in flight, or a run of frames, with all that is needed
 *            to build them once more; or a part of a message whose rail died
 *            and which waits for another rail
 *   inbound  a message that comes in: in pieces, early, or by a slow dma
 *   buffer   card memory for one frame (without BCL_HAL_GATHER)
 */
#ifndef NICFW_OBJECTS_H
#define NICFW_OBJECTS_H

#include <nicfw/hal.h>
#include <nicfw/list.h>
#include <nicfw/memory.h>
#include <nicfw/order.h>

#define NIC_NEVER UINT64_MAX

enum {
	NIC_COPY_MAX = 256,   /* longer payloads are gathered, not copied */
	NIC_SMALL_MAX = 1024, /* messages of more bytes are bulk */
	NIC_INBOUND_MAX = 64, /* per connection: messages that are arriving */
	/* of these: messages that wait for their predecessor */
	NIC_EARLY_MAX = 48,
	NIC_ROOMS = 4, /* per connection: ports that owe the peer a ROOM */
	NIC_ACK_BYTES = 262144,	 /* received but unacknowledged, at most */
	NIC_MTU_MIN = 576,	 /* bytes a rail must carry */
	NIC_REORDER = 3,	 /* lost once so many later frames came */
	NIC_RAIL_TIMEOUTS = 4,	 /* until a rail is given up for another */
	NIC_RAIL_DOWN_TRIES = 5, /* RAIL_DOWN segments without an answer */
	NIC_PATIENCE = 8,	 /* times peer_timeout without progress */
	NIC_PORT_BUCKETS = 64,
};

struct nic_buffer;

struct nic_channel {
	uint64_t cookie, offset, length;
	uint64_t card; /* card id that may read; 0: any */
	uint32_t handle;
	uint16_t card_port;
	uint16_t generation;
	uint16_t reads; /* replies in progress that read the channel */
	uint8_t armed, reading, filling;
};

enum nic_intake {
	NIC_INTAKE_IDLE,
	NIC_INTAKE_SUBMIT, /* reading an entry of submits[] */
	NIC_INTAKE_REQUEST,
};

/*
 * The areas of a port in host memory. The card reaches them directly, with
 * BCL_HAL_GATHER only.
 */
struct nic_areas {
	const struct bcl_request *requests;
	struct bcl_completion *sends, *receives;
	uint8_t *blocks;
	const struct bcl_port_indices *indices;
};

/* Blocks of one size. They are taken and given back in ring order. */
struct nic_ring {
	uint32_t n;    /* a power of two, or 0 */
	uint32_t next; /* blocks taken so far */
	/* blocks given back so far, as last read from the library's indices */
	uint32_t freed;
	uint32_t nspare;
	uint32_t *spare; /* bitmap: blocks taken, but not delivered */
	uint8_t wanted;	 /* a message was refused because no block was free */
};

enum nic_rings {
	NIC_BLOCKS,
	NIC_LONGS,
	NIC_RINGS,
};

struct nic_port {
	struct nic_link intake;	  /* card->intake: submits[] to be read */
	struct nic_link active;	  /* card->active: has ready flows */
	struct nic_link news;	  /* card->news: events since the last wake */
	struct nic_link starving; /* card->starving: no block was free */
	struct nic_link ready;	  /* flows that may send */
	struct nic_link flows;	  /* all flows of the port */
	struct nic_port *hashed;
	/* handles of memory */
	uint32_t requests, sends, receives, blocks, indices;
	uint32_t nrequests, nreceives, nchannels;
	uint8_t sends_shift, receives_shift; /* entries = 1 << shift */
	uint32_t made, taken;	 /* entries of submits[]: written, read */
	uint32_t sent, received; /* completions written to each queue */
	uint32_t messages;	 /* unfinished requests of this port */
	uint32_t jobs;
	uint32_t index; /* request that is being read */
	/*
	 * Targets of dma: the count of freed blocks of each ring, then
	 * `sleeping`.
	 */
	uint32_t word[NIC_RINGS + 1];
	uint16_t number;
	uint8_t step;	   /* enum nic_intake */
	uint8_t reading;   /* a dma of the intake is pending */
	uint8_t freed_due; /* a dma of blocks_freed is pending */
	uint8_t sleeping_due;
	uint8_t refused; /* a channel or block was not free: owes a ROOM */
	uint8_t closed;
	struct nic_areas at;
	/* without BCL_HAL_GATHER: copy of the request that is being read */
	struct bcl_request request;
	struct nic_ring ring[NIC_RINGS];
	struct nic_channel *channel;
};

/* The states of a node are in node.c. */
struct nic_node {
	struct nic_link wanting; /* card->wanting: no memory for a connection */
	struct nic_link past;	 /* card->past: the index may be reused */
	struct nic_link flows;
	uint64_t expires; /* time when a node in card->wanting is given up */
	struct nic_conn *conn; /* in use or in its handshake, or NULL */
	/*
	 * Answered while `conn` is UP; takes its place when a PING proves it.
	 */
	struct nic_conn *candidate;
	uint64_t card;
	uint8_t key[BCL_KEY_SIZE]; /* of the handshake, in both directions */
	/*
	 * Of a node in use: 1 + index of the next node in the hash bucket; 0:
	 * none. Of a free node: index of the next free node, relative to the
	 * place behind this one, so that zeroed nodes form the list of free
	 * ones.
	 */
	uint32_t hashed;
	uint32_t messages; /* unfinished messages to the node */
	uint32_t replies;  /* of these messages, replies */
	/*
	 * Of the index: raised by each loss, and not reset when another node
	 * gets the index.
	 */
	uint32_t generation;
	uint8_t used;
	uint8_t state;	/* enum bcl_node_state */
	uint8_t status; /* enum bcl_status: not 0: requests are refused */
	/*
	 * enum bcl_status: completes requests that name an earlier generation.
	 */
	uint8_t lost;
	uint8_t rails; /* bit r: the host knows an address on rail r */
	uint8_t stays; /* was UP and did not end by BYE: keeps its index */
};

enum nic_flow_class {
	NIC_FLOW_ORDERED, /* SYSTEM, PUT_NOTIFY to one port */
	NIC_FLOW_SMALL,
	NIC_FLOW_BULK,
	NIC_FLOW_REPLY, /* up to NIC_SMALL_MAX bytes */
	NIC_FLOW_REPLY_BULK,
	NIC_FLOW_GATE, /* always IDLE: a FENCE and the requests behind it */
};

enum nic_flow_place {
	NIC_FLOW_IDLE,
	NIC_FLOW_READY,	  /* in port->ready */
	NIC_FLOW_STALLED, /* in conn->stalled, rail->flows or card->waiting */
};

struct nic_flow {
	struct nic_link link; /* in the list of `place`; card->gates; free */
	struct nic_link in_port, in_node;
	struct nic_link queue;	/* messages to be sent */
	struct nic_link parked; /* refused messages by their old numbers */
	struct nic_flow *hashed;
	struct nic_port *port;
	struct nic_node *node;
	uint64_t retry_at; /* time to retry; NIC_NEVER: no retry is due */
	uint32_t last;	   /* ORDERED: newest number without a verdict, or 0 */
	uint32_t pending;  /* without a verdict; GATE: unfinished */
	uint16_t dst_port;
	uint8_t class;
	uint8_t place;
	uint8_t backoff;
	uint8_t refused; /* ORDERED: start nothing new until pending is 0 */
	uint8_t room;	 /* ROOM came after the refusal */
};

enum nic_message_state {
	NIC_MESSAGE_FREE,
	NIC_MESSAGE_QUEUED,    /* in flow->queue, no number */
	NIC_MESSAGE_SENDING,   /* first of flow->queue, numbered */
	NIC_MESSAGE_SENT,      /* all bytes were transmitted */
	NIC_MESSAGE_WITHDRAWN, /* WITHDRAW is sent until a verdict comes */
	NIC_MESSAGE_AWAITING,  /* delivered; the reply has not come yet */
	NIC_MESSAGE_PARKED,    /* in flow->parked, no number */
};

struct nic_message {
	struct nic_link
		link; /* flow->queue, flow->parked, conn->resend; free */
	struct nic_link numbered; /* conn->numbered, conn->awaiting */
	struct nic_port *port; /* owner of completion and memory; NULL: none */
	struct nic_node *node;
	/*
	 * nic_message_take() clears from here to `refs`, but for `generation`.
	 */
	struct nic_flow *flow; /* NULL: the port was closed */
	struct nic_flow *gate; /* NULL: a reply, or waits behind a fence */
	uint64_t cookie, targ64;
	uint32_t number; /* 0: none */
	/*
	 * Number of the predecessor in the flow, 0: none. PARKED: the number
	 * that was refused.
	 */
	uint32_t prev;
	uint32_t moved; /* bytes transmitted so far */
	uint32_t length;
	uint32_t target, arg32;
	/* of the request in the port's array; of a reply: the channel */
	uint32_t index;
	uint16_t generation;
	uint16_t src_port, dst_port;
	uint16_t inline_len;
	uint8_t nref;
	uint8_t op, type;
	uint8_t state;
	uint8_t fragmented; /* more than one frame */
	uint8_t status;	    /* not 0: how to finish if the number is refused */
	uint8_t remote;	    /* refs are read for the peer */
	uint8_t reads;	    /* counted in port->channel[index].reads */
	uint8_t words;	    /* bytes of payload in `word` */
	uint8_t answering;  /* the reply is arriving */
	uint8_t reply;	    /* this is a reply: counted in node->replies */
	union {
		struct bcl_memref refs[BCL_REQUEST_REFS];
		struct {
			struct bcl_memref result;
			struct bcl_le64 word[2]; /* of atomics */
		};
	};
};

enum nic_flight_state {
	NIC_FLIGHT_BUILT, /* built, perhaps without its payload yet */
	NIC_FLIGHT_SENT,
	NIC_FLIGHT_UNSENT, /* the rail did not take it */
	NIC_FLIGHT_LOST,
	NIC_FLIGHT_SACKED,
};

/*
 * One segment of a frame in flight; the first flight of a frame stands for the
 * frame. Or a run: consecutive frames of a long message. When an event concerns
 * some frames of a run only, bcl_nic_window_part() splits the run.
 */
struct nic_flight {
	struct nic_link link;	 /* window->flights in order of seq; free */
	struct nic_flight *more; /* next segment of this frame */
	struct nic_message *message;
	struct nic_buffer *buffer; /* BUILT: the frame */
	struct nic_window *window;
	uint64_t sent; /* time */
	/* of `message` when it was built; differs if the message ended */
	uint32_t number;
	uint32_t offset, seq;
	uint32_t length;  /* payload bytes */
	uint32_t bytes;	  /* on the wire, with headers */
	uint16_t frames;  /* 1, or the frames of a run */
	uint16_t payload; /* a run: bytes of each frame but the last */
	uint8_t state;
	uint8_t retransmitted; /* sent more than once */
	uint8_t withdraw;      /* the segment is a WITHDRAW, without payload */
};

enum nic_window_state {
	NIC_RAIL_OFF,
	NIC_RAIL_CALLING, /* HELLO sent */
	NIC_RAIL_PROVED,
};

struct nic_window {
	/* Both directions. */
	uint32_t peer; /* connection id for frames to this rail of the peer */
	uint8_t state;
	uint8_t turn, peer_turn; /* number of the handshake: ours, the peer's */
	uint8_t timeouts;	 /* in a row */
	uint8_t rto_shift;	 /* RTO doublings since the last sample */
	uint8_t ack_due;
	uint8_t lost;	  /* some flights are LOST or UNSENT */
	uint8_t tlp_sent; /* a tail-loss probe was sent */
	/*
	 * RAIL_DOWN segments left to send until the peer tells which frames
	 * came by this rail before the rail died.
	 */
	uint8_t down_tries;
	uint8_t probing;
	uint8_t declined; /* HELLOs declined in favour of `answered` */
	uint16_t payload; /* payload bytes of a frame with one segment */
	uint16_t nflights;
	/* peer's connection id in the last HELLO_ACK sent; 0: none */
	uint32_t answered;
	uint64_t nonce;	 /* of the last HELLO sent; 0: none */
	uint64_t theirs; /* of the HELLO_ACK to that; 0: none */
	/*
	 * Nonce of the HELLO_ACKs sent, until a PING proves that the peer got
	 * one; 0: none.
	 */
	uint64_t answer;
	/* Sender. */
	struct nic_link flights;
	uint32_t next;	/* sequence number of the next new frame */
	uint32_t bytes; /* bytes in flight */
	uint32_t cwnd, ssthresh, rwnd; /* bytes */
	uint32_t recover;	       /* seq: losses before are one event */
	uint32_t probe; /* while `probing`: seq where retransmission begins */
	uint32_t srtt, rttvar; /* ns; 0: unknown */
	uint32_t min_rtt;      /* ns; 0: no sample without a delayed ACK */
	uint64_t rto_at;
	uint64_t timeout_first; /* time of the first of `timeouts` */
	uint64_t span_from;	/* start of the measurement of `pace` */
	uint32_t span_bytes;	/* acknowledged since span_from */
	uint32_t pace;		/* ns to deliver 1 KB, smoothed; 0: unknown */
	/* Receiver. */
	uint64_t heard;
	/*
	 * Time when ack_due was set. conn.c delays `done` by the same measure.
	 */
	uint64_t owed;
	uint32_t expected; /* the peer's seq: all before have arrived */
	uint32_t highest;  /* 1 + highest seq that arrived */
	uint32_t unacked;  /* bytes since the last ACK */
	uint32_t refused;  /* nic_coarse() time; 0: not refused */
};

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

/* Bitmaps, by rail, of frames that arrived out of order. */
struct nic_arrived {
	uint32_t bits[BCL_RAILS_MAX][BCL_SACK_BITS / 32];
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

enum nic_inbound_state {
	NIC_INBOUND_PIECES, /* some bytes are missing */
	NIC_INBOUND_MOVING, /* all bytes came, some are still being stored */
	NIC_INBOUND_EARLY,  /* complete; the predecessor has no verdict */
};

struct nic_inbound {
	struct nic_link link;  /* conn->inbounds; free */
	struct nic_conn *conn; /* NULL: gone while a dma was pending */
	struct nic_port *port;
	struct nic_message *request; /* GET_REPLY, ATOMIC_REPLY: the request */
	struct bcl_memref where;     /* destination of the whole message */
	uint64_t targ64;
	uint32_t msg, prev;
	uint32_t total, received;
	uint32_t seen; /* `received` at the last look */
	uint32_t target, arg32;
	uint32_t slot; /* number of the block or channel */
	uint32_t jobs;
	uint16_t src_port, dst_port;
	uint16_t area_port; /* port on whose behalf `where` is written */
	uint8_t op, type;
	uint8_t state;
	uint8_t early; /* counted in conn->early */
	uint8_t has_block;
	uint8_t remote;
	uint8_t status;	   /* of the event or completion */
	uint8_t failed;	   /* the verdict is NOPORT or MEMORY, by `status` */
	uint8_t withdrawn; /* the verdict is REFUSED */
	uint8_t awaited;   /* complete, and long or a put: acknowledge soon */
	uint8_t rail;	   /* of the last frame */
	uint8_t looks;	   /* looks in a row that found no progress */
	uint64_t word; /* ATOMIC_REPLY: the result in host order, for a dma */
};

enum nic_job_kind {
	NIC_JOB_INTAKE,	  /* object: port */
	NIC_JOB_FREED,	  /* object: port */
	NIC_JOB_SLEEPING, /* object: port */
	NIC_JOB_FETCH,	  /* object: buffer to be sent */
	NIC_JOB_STORE,	  /* object: inbound; buffer: the received frame */
};

struct nic_job {
	struct nic_link link; /* free */
	void *object;
	struct nic_buffer *buffer;
	uint8_t kind;
	uint8_t used;
};

/*
 * A frame in card memory. Sender: `jobs` counts pending fetches. Receiver:
 * `jobs` counts segments that are not stored yet.
 */
struct nic_buffer {
	struct nic_link link;	   /* rail->fetched; free */
	struct nic_conn *conn;	   /* sender */
	struct nic_flight *flight; /* sender; NULL: no longer wanted */
	uint32_t jobs;
	uint16_t length;
	uint8_t rail;
	uint8_t fault;
	uint8_t *bytes;
};

struct nic_rail {
	struct nic_link flows; /* flows that wait until the rail takes frames */
	struct nic_link fetched; /* buffers to be sent, in order */
	/* message of the last fragment of an incomplete message */
	struct nic_inbound *arriving;
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
	struct nic_link gates;	 /* flows that are gates and may be opened */
	struct nic_link wanting; /* nodes without memory for a connection */
	struct nic_link past;	 /* may be replaced, longest gone first */
	struct nic_link free;	 /* free pieces, see arena.c */

	struct nic_pool messages, flows, flights, inbounds, jobs;
	struct nic_pool out, in;     /* buffers */
	struct nic_message *message; /* array of the pool */
	struct nic_flow *flow;	     /* array of the pool */
	struct nic_buffer *buffer;   /* array of the pool `out` */
	struct nic_job *job;
	struct nic_flow **flow_buckets;
	struct nic_node *node;
	uint32_t *node_buckets;
	struct nic_conn **conns; /* by the index in a connection id */
	struct nic_conn **heap;
	struct nic_port *ports[NIC_PORT_BUCKETS];
	struct nic_port self; /* for replies without a port */

	uint32_t reserve; /* messages for replies, and as many for requests */
	uint32_t replies; /* messages in use by replies */
	uint32_t mask;	  /* of flow_buckets[] */
	uint32_t node_mask, conn_mask;
	uint32_t conn_shift; /* bits of a connection id below the random part */
	uint32_t free_node, free_conn, nheap;
	uint32_t conns_end; /* 1 + the highest index that was ever used */
	uint32_t arena_used, arena_most; /* bytes in use: now, at most */
	uint32_t flow_hand; /* where the search for an idle flow begins */
	/* RESET and REFUSE frames that may be sent until answers_at */
	uint32_t answers;
	uint64_t answers_at;
	uint64_t starving_at, starving_wait, wanting_at;
	/*
	 * Time of the first input after a long pause in the calls: silence of a
	 * peer before that was the host's own.
	 */
	uint64_t back_at;
	struct { /* `done` and `ack` of the last frame, not yet applied */
		struct nic_conn *conn; /* NULL: none */
		uint32_t done, ack;
		uint8_t rail;
	} answered;
	struct nic_rail rail[BCL_RAILS_MAX];

	/* Scratch of the engines, valid within one input only. */
	struct bcl_completion event; /* without BCL_HAL_GATHER */
	struct bcl_tx_frame out_frame;
	uint8_t frame[BCL_FRAME_MAX + 8];
};

#endif
