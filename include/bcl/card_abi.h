/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The boundary between a host and its card: the structures in host memory that
 * both read or write, and the control calls. User library, kernel module, card
 * core and simulator include this file.
 *
 * The structures are in the byte order of the host; a card of another order
 * converts when it reads them (nicfw/order.h).
 *
 * BCL_CARD_ABI is raised when a structure below, or one of card_device.h,
 * changes size, meaning or offset. A library asks the card for its number
 * before anything else, and gives up with BCL_ERR_VERSION if the numbers
 * differ: a library and a kernel module of different age on one host are
 * routine.
 *
 * A port lives in five areas of host memory, all named by memory handles:
 *
 *   requests   struct bcl_request[n]     written by the library (in the kernel
 *              uint32_t submits[n]       module: by the trap); the card owns a
 *                                        request from the doorbell to its
 *                                        event. submits[] is a ring of request
 *                                        numbers, because requests end in any
 *                                        order; requests_made counts the
 *                                        numbers written
 *   sends      struct bcl_completion[]   written by the card: send events
 *   receives   struct bcl_completion[]   written by the card: receive events,
 *              uint32_t again[nchannels] and which channels the library may
 *                                        post by the word
 *   blocks     bytes[]                   the system rings, written by the card:
 *                                        the blocks of one ring, for messages
 * of up to BCL_BLOCK_SIZE bytes; then, for each of these blocks, a place of
 *                                        BCL_BLOCK_SHORT bytes for a short
 *                                        message; then the long blocks, which
 *                                        are the other ring
 *   indices    struct bcl_port_indices   written by the library
 *              uint32_t postings[nchannels]
 *
 * An entry of a completion queue is valid when its `lap` equals the reader's.
 * The writer stores `lap` last (release), and the reader loads it first
 * (acquire). The reader clears nothing. Queues cannot overflow: `sends` has an
 * entry for every request, `receives` an entry for every block, long or not,
 * and every posted channel, and one more for every channel that is posted by
 * the word.
 *
 * A channel that was filled, or taken back, may be posted again without a call,
 * by the word postings[channel], for the same memory and generation as the last
 * POST. again[channel] says whether:
 *
 *   library   looks at again[channel]: 0, it calls POST. 1: adds 1 to
 *             postings[channel] and looks again: 0, a message may have been
 *             refused just before. So it calls UNPOST, to which the channel is
 *             posted, and if that is OK it calls POST, which tells the sender
 *   card      has a message for a channel that is not armed, and may be posted
 *             by the word: sets again[channel] to 0 and looks at
 *             postings[channel]. One more than before: the channel is armed as
 *             by POST, and the message is taken. Otherwise the message is
 *             refused
 *
 * Of two who store one word and then load the other's, one at least sees the
 * other's store (all four accesses are sequentially consistent). If the memory
 * is no longer what POST would get, the message is refused, and BCL_CQ_REPOST
 * asks the library for a POST of what it has posted. A card without
 * BCL_HAL_GATHER (nicfw/hal.h) does not look at postings[].
 */
#ifndef BCL_CARD_ABI_H
#define BCL_CARD_ABI_H

#include <bcl/wire.h>

enum {
	BCL_CARD_ABI = 9,
	BCL_REQUEST_SIZE = 256,
	BCL_REQUEST_INLINE = 160,
	BCL_REQUEST_REFS = 3,
	BCL_COMPLETION_SIZE = 64,
	/* A block holds a system message: 4 KB and a header of the ADI. */
	BCL_BLOCK_SIZE = 4352,
	BCL_BLOCK_SHORT = 128, /* a short message has up to this many bytes */
	/* A long block: 64 KB and a header of the ADI. */
	BCL_LONG_SIZE = 65792,
	BCL_SYSTEM_MAX = BCL_LONG_SIZE,
	BCL_RAILS_MAX = 4,
	BCL_NODE_NONE = 0xffffffff,
};

/* Returns the bytes of `blocks`. */
static inline uint64_t bcl_blocks_size(uint32_t nblocks, uint32_t nlongs)
{
	return (uint64_t)nblocks * (BCL_BLOCK_SIZE + BCL_BLOCK_SHORT) +
	       (uint64_t)nlongs * BCL_LONG_SIZE;
}

/*
 * Returns the offset in `blocks` of a system message of this length in block
 * number `block`: of a long block if the message is longer than BCL_BLOCK_SIZE.
 * Short messages lie close together: with a page for each of them, every
 * message would miss the processor's caches.
 */
static inline uint64_t bcl_block_at(uint32_t nblocks, uint32_t block,
				    uint32_t length)
{
	if (length > BCL_BLOCK_SIZE)
		return bcl_blocks_size(nblocks, block);
	if (length > BCL_BLOCK_SHORT)
		return (uint64_t)block * BCL_BLOCK_SIZE;
	return (uint64_t)nblocks * BCL_BLOCK_SIZE +
	       (uint64_t)block * BCL_BLOCK_SHORT;
}

/* Memory is named, never pointed at. */
struct bcl_memref {
	uint64_t offset; /*  0: in the memory that the handle names */
	uint32_t handle; /*  8 */
	uint32_t length; /* 12: bytes */
};

enum {
	/*
	 * The memory of the process that opened the port; `offset` is the
	 * address. For local references only, never for remote ones.
	 */
	BCL_HANDLE_SELF = 0,
};

enum bcl_request_op {
	BCL_REQ_SYSTEM = BCL_SEG_SYSTEM,
	BCL_REQ_CHANNEL = BCL_SEG_CHANNEL,
	BCL_REQ_PUT = BCL_SEG_PUT,
	BCL_REQ_PUT_NOTIFY = BCL_SEG_PUT_NOTIFY,
	BCL_REQ_GET = BCL_SEG_GET,
	BCL_REQ_FETCH_ADD = BCL_SEG_FETCH_ADD,
	BCL_REQ_COMPARE_SWAP = BCL_SEG_COMPARE_SWAP,
	BCL_REQ_FENCE = 32, /* completes when all earlier requests to the
			     * node have; later requests to the node wait for
			     * the fence */
};

/*
 * A send request, 256 bytes. The message is inline_len bytes of `inlined`,
 * followed by the memory that refs[0..nref) names. The result of a GET or an
 * atomic goes to refs[0]; `inlined` holds the operands of an atomic (one or two
 * uint64_t).
 */
struct bcl_request {
	uint8_t op;	     /*  0: enum bcl_request_op */
	uint8_t type;	     /*  1: SYSTEM, PUT_NOTIFY: user's message type;
			      * GET: enum bcl_get_type */
	uint16_t dst_port;   /*  2 */
	uint32_t node;	     /*  4: card's index of the peer (CONNECT) */
	uint32_t target;     /*  8: channel | generation << 16, or remote
			      * memory handle */
	uint32_t length;     /* 12: bytes of the whole message */
	uint64_t targ64;     /* 16: immediate, or offset in remote memory */
	uint64_t cookie;     /* 24: returned in the completion */
	uint32_t arg32;	     /* 32: PUT_NOTIFY: immediate */
	uint16_t inline_len; /* 36 */
	uint16_t nref;	     /* 38 */
	uint32_t generation; /* 40: of the node (bcl_hal.node) when the
			      * request was made */
	uint32_t spare;	     /* 44: 0 */
	struct bcl_memref refs[BCL_REQUEST_REFS]; /* 48 */
	uint8_t inlined[BCL_REQUEST_INLINE];	  /* 96 */
};

enum bcl_completion_kind {
	/* in `sends` */
	BCL_CQ_SENT = 1, /* a request is finished, see status */
	/* in `receives` */
	BCL_CQ_SYSTEM = 2,  /* a system message lies in block `index` */
	BCL_CQ_CHANNEL = 3, /* channel `index` was filled, or failed */
	BCL_CQ_NOTIFY = 4,  /* a put with notification is complete; uses the
			     * credit of block `index`, without data */
	BCL_CQ_READ = 5,    /* channel `index`, posted for reading, was read:
			     * its last GET_REPLY has been delivered */
	BCL_CQ_REPOST = 6,  /* channel `index`, posted by the word, could not
			     * be armed: the library calls POST, unless it has
			     * taken the channel back */
};

/* An entry of `sends` and `receives`, 64 bytes. */
struct bcl_completion {
	uint64_t cookie;   /*  0: of the request or channel; NOTIFY: handle */
	uint64_t targ64;   /*  8: SYSTEM: immediate; NOTIFY: offset */
	uint64_t card;	   /* 16: the sender's card id */
	uint32_t length;   /* 24: bytes received or sent */
	uint32_t index;	   /* 28: request, block or channel */
	uint32_t node;	   /* 32: card's index of the peer */
	uint32_t arg32;	   /* 36: NOTIFY: immediate */
	uint16_t src_port; /* 40 */
	uint16_t status;   /* 42: enum bcl_status */
	uint8_t type;	   /* 44: user's message type */
	uint8_t kind;	   /* 45: enum bcl_completion_kind */
	uint8_t spare[14]; /* 46 */
	uint32_t lap;	   /* 60: 1 + (ordinal of the entry / entries),
			    * stored last */
};

/* Written by the library, read by the card; a cache line per role. */
struct bcl_port_indices {
	uint32_t requests_made; /*  0: entries of submits[] written so far;
				 * read by the host, for the doorbell */
	uint32_t spare0[15];
	uint32_t blocks_freed; /* 64: blocks freed so far, in ring order */
	uint32_t longs_freed;  /* 68: long blocks freed so far, likewise */
	uint32_t spare1[14];
	uint32_t sends_read;	/* 128: for the monitor only */
	uint32_t receives_read; /* 132: for the monitor only */
	uint32_t sleeping;	/* 136: 1: wake the port after the next event */
	uint32_t spare2[13];
};

enum bcl_mem_rights {
	BCL_MEM_REMOTE_READ = 1,
	BCL_MEM_REMOTE_WRITE = 2,
	BCL_MEM_REMOTE_ATOMIC = 4,
};

enum bcl_control_op {
	BCL_CTL_PORT_OPEN = 1,	/* .port */
	BCL_CTL_PORT_CLOSE = 2, /* .port.number; the port's requests are
				 * cancelled without events. The card does
				 * not touch the port's memory after the call
				 * (but see bcl_hal.dma) */
	BCL_CTL_CONNECT = 3,	/* .connect; the reply is the node index. The
				 * handshake starts unless it is up already */
	BCL_CTL_DISCONNECT = 4, /* .node: BYE, requests are cancelled with
				 * events, then the index is free */
	BCL_CTL_ISOLATE = 5,	/* .node: as if dead until CTL_REJOIN */
	BCL_CTL_REJOIN = 6,	/* .node */
	BCL_CTL_POST = 7,	/* .channel: arm it for one message */
	BCL_CTL_UNPOST = 8,	/* .channel, posted by POST or by the word: BUSY
				 * while data is arriving or being read; EMPTY:
				 * not posted */
	BCL_CTL_RAIL = 9,	/* .rail: a rail came up, went down, changed */
};

/* A control call. The host checks ports and memory before it calls the card. */
struct bcl_control {
	uint32_t op; /* enum bcl_control_op */
	union {
		struct {
			uint32_t number; /* 1..65535 */
			uint32_t requests, sends, receives, blocks, indices;
			/* ^ memory handles of the five areas */
			uint32_t nrequests; /* a power of two */
			uint32_t nreceives; /* a power of two */
			uint32_t nblocks;   /* a power of two */
			uint32_t nlongs;    /* a power of two, or 0: none;
					     * more only with BCL_HAL_GATHER */
			uint32_t nchannels; /* channels 0..nchannels-1 */
		} port;
		struct {
			uint64_t card;	/* never the own card id */
			uint32_t rails; /* bit r: the host knows an address of
					 * the node on its rail r */
			uint8_t key[BCL_KEY_SIZE];
			/* ^ of the node's job; without rails the card keeps
			 * the key and rails it has */
		} connect;
		uint32_t node;
		struct {
			uint32_t port, number;
			uint16_t generation; /* must match the peer's. Never
					      * counts down: a message for an
					      * older generation fails, a
					      * message for this or a newer
					      * one waits */
			uint16_t reading;    /* 0: a CHANNEL message may fill
					      * the channel; 1: GETs may read
					      * it */
			uint32_t handle;
			uint64_t offset, length; /* bytes; may exceed 4 GB
						  * for reading only */
			uint64_t cookie;
			uint64_t card;	    /* card that may read the
					     * channel; 0: any */
			uint32_t card_port; /* port of that card that may
					     * read */
			uint32_t once;	    /* 1: only POST can arm the channel
					     * again. Set by the host */
		} channel;
		struct {
			uint32_t number; /* 0..BCL_RAILS_MAX-1 */
			uint32_t up;	 /* 0, 1 */
			uint32_t mtu;	 /* largest frame, bytes */
			uint32_t burst;	 /* frames worth handing over in one
					  * call of transmit */
			uint32_t window; /* bytes the receive side can hold */
			uint32_t small;	 /* 1: prefer for messages of up to
					  * one frame */
			uint32_t bulk;	 /* 1: prefer for longer messages */
		} rail;
	};
};

/* The areas of a port, the first five in the order of struct bcl_control. */
enum bcl_area {
	BCL_AREA_REQUESTS,
	BCL_AREA_SENDS,
	BCL_AREA_RECEIVES,
	BCL_AREA_BLOCKS,
	BCL_AREA_INDICES,
	BCL_AREA_BOUNCE, /* BCL_BLOCK_SIZE bytes for each request, for messages
			  * that a send copies; not the card's */
	BCL_AREAS,
};

/* Returns the bytes of an area of a port; the argument is a PORT_OPEN. */
static inline uint64_t bcl_area_size(const struct bcl_control *open,
				     enum bcl_area area)
{
	const uint64_t requests = open->port.nrequests;
	const uint64_t channels = open->port.nchannels;

	switch (area) {
	case BCL_AREA_REQUESTS:
		return requests *
		       (sizeof(struct bcl_request) + sizeof(uint32_t));
	case BCL_AREA_SENDS:
		return requests * sizeof(struct bcl_completion);
	case BCL_AREA_RECEIVES:
		return (uint64_t)open->port.nreceives *
			       sizeof(struct bcl_completion) +
		       channels * sizeof(uint32_t);
	case BCL_AREA_BLOCKS:
		return bcl_blocks_size(open->port.nblocks, open->port.nlongs);
	case BCL_AREA_INDICES:
		return sizeof(struct bcl_port_indices) +
		       channels * sizeof(uint32_t);
	case BCL_AREA_BOUNCE:
		return requests * BCL_BLOCK_SIZE;
	default:
		return 0;
	}
}

/* Returns submits[], in the area of n requests. */
static inline uint32_t *bcl_submits(const struct bcl_request *requests,
				    uint32_t n)
{
	return (uint32_t *)(uintptr_t)(requests + n);
}

/* Returns again[], in the area of n entries. */
static inline uint32_t *bcl_again(const struct bcl_completion *receives,
				  uint32_t n)
{
	return (uint32_t *)(uintptr_t)(receives + n);
}

/* Returns postings[]. */
static inline uint32_t *bcl_postings(const struct bcl_port_indices *indices)
{
	return (uint32_t *)(uintptr_t)(indices + 1);
}

/* States of a node; the transitions are in nicfw/node.c. */
enum bcl_node_state {
	BCL_NODE_CLOSED = 0,	 /* known; a request starts the handshake */
	BCL_NODE_CONNECTING = 1, /* HELLO sent */
	BCL_NODE_UP = 2,
	BCL_NODE_LOST = 3,     /* see the status; the card refuses sends
				* until the library connects again */
	BCL_NODE_ISOLATED = 4, /* by the administrator */
};

/*
 * Counters of a card, in one array so that tools can show all of them.
 * X(name, description)
 */
#define BCL_CARD_COUNTERS(X)                                               \
	X(frames_sent, "frames handed to a rail")                          \
	X(frames_received, "frames that passed all checks")                \
	X(bytes_sent, "payload bytes handed to a rail")                    \
	X(bytes_delivered, "payload bytes delivered to a port or memory")  \
	X(messages_sent, "messages with a final verdict")                  \
	X(messages_delivered, "messages delivered to a port or memory")    \
	X(retransmitted, "frames sent again")                              \
	X(timeouts, "retransmission timers that ran out")                  \
	X(refused_ring, "messages refused: system ring full")              \
	X(refused_order, "messages refused: predecessor was refused")      \
	X(refused_channel, "messages refused: channel not posted")         \
	X(refused_reply, "requests refused: no reply slot free")           \
	X(refused_room, "messages refused: too many are put together")     \
	X(refused_rest, "messages refused: their rest did not come")       \
	X(refusals_seen, "own messages refused by a peer")                 \
	X(failed_port, "messages failed: no such port or channel")         \
	X(failed_memory, "messages failed: memory handle, bounds, rights") \
	X(dropped_short, "frames dropped: shorter than a header")          \
	X(dropped_magic, "frames dropped: magic or version")               \
	X(dropped_card, "frames dropped: for another card")                \
	X(dropped_hcrc, "frames dropped: header checksum")                 \
	X(dropped_pcrc, "frames dropped: payload checksum")                \
	X(dropped_conn, "frames dropped: unknown connection id")           \
	X(dropped_duplicate, "frames dropped: already received")           \
	X(dropped_window, "frames dropped: number outside the window")     \
	X(dropped_numbers, "frames dropped: numbers that cannot be")       \
	X(dropped_malformed, "frames dropped: inconsistent segments")      \
	X(dropped_early, "frames dropped: no room to hold them in order")  \
	X(dropped_arena, "refused: card memory exhausted")                 \
	X(acks_sent, "ACK frames sent")                                    \
	X(pings_sent, "PING frames sent")                                  \
	X(resets_sent, "RESET frames sent")                                \
	X(refuses_sent, "REFUSE frames sent: version or job key")          \
	X(hellos_sent, "HELLO frames sent")                                \
	X(connected, "connections established")                            \
	X(lost, "connections lost")                                        \
	X(evicted, "idle connections closed for lack of card memory")      \
	X(forgotten, "nodes that had left, forgotten for others")          \
	X(rails_lost, "rails of a connection that died before it")         \
	X(rails_refused, "refusals by the wire of what a rail sent")       \
	X(withdrawn, "messages withdrawn: rail or port gone on the way")   \
	X(requests_wrong, "requests completed with BCL_ERR_ARG")           \
	X(submits_wrong, "doorbells ignored: impossible count in memory")  \
	X(answers_spared, "RESET and REFUSE not sent: too many at once")   \
	X(dropped_state, "frames dropped: not expected in this state")     \
	X(cancelled, "messages in arrival given up by their sender")       \
	X(rerouted, "frames of a dead rail sent again by others")          \
	X(posted_again, "channels armed again by the word of their port")  \
	X(reposts, "channels whose memory had changed before that")

enum bcl_card_counter {
#define BCL_X(name, text) BCL_CARD_##name,
	BCL_CARD_COUNTERS(BCL_X)
#undef BCL_X
	BCL_CARD_NCOUNTERS
};

bcl_static_assert(sizeof(struct bcl_memref) == 16, "memref");
bcl_static_assert(sizeof(struct bcl_request) == BCL_REQUEST_SIZE, "request");
bcl_static_assert(offsetof(struct bcl_request, refs) == 48, "refs");
bcl_static_assert(offsetof(struct bcl_request, inlined) == 96, "inlined");
bcl_static_assert(sizeof(struct bcl_completion) == BCL_COMPLETION_SIZE, "cq");
bcl_static_assert(offsetof(struct bcl_completion, kind) == 45, "kind");
bcl_static_assert(offsetof(struct bcl_completion, lap) == 60, "lap is last");
bcl_static_assert(sizeof(struct bcl_port_indices) == 192, "indices");
bcl_static_assert(offsetof(struct bcl_port_indices, blocks_freed) == 64, "");
bcl_static_assert(offsetof(struct bcl_port_indices, longs_freed) == 68, "");

#endif
