/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The card's whole world: the functions it calls (struct bcl_hal, given by
 * its host) and the calls it takes (bcl_card_*). The card does no I/O of its
 * own, keeps no global state, allocates nothing after bcl_card_open() and is
 * never re-entered: the host serialises the calls, and no function of
 * struct bcl_hal may call back into the card.
 *
 * Time is in nanoseconds since any fixed moment.
 */
#ifndef NICFW_HAL_H
#define NICFW_HAL_H

#include <bcl/card_abi.h>
#include <bcl/status.h>

struct bcl_card;

/* Part of a frame to be sent that lies outside the card. */
struct bcl_tx_part {
	struct bcl_memref ref;
	uint16_t port;	/* on whose behalf it is read */
	uint8_t remote; /* 1: a peer asked for it (GET), 0: the port's owner */
};

enum {
	BCL_TX_PARTS = 4,
};

/*
 * A frame to be sent: `head_len` bytes in card memory, then the parts. Parts
 * are used only if the host has BCL_HAL_GATHER; otherwise the card fetches
 * everything by dma() first. With BCL_TX_PCRC the host computes the payload
 * checksum over bytes 80 to the end and stores it in the header.
 *
 * Or a run: `frames` of a long message that follow one another. The head is
 * that of the first, 80 bytes without header checksum; the parts, or none, are
 * all their payloads, one behind the other. The host makes the heads, by
 * bcl_tx_run_head(), and computes both checksums of each.
 */
struct bcl_tx_frame {
	uint8_t *head;
	uint16_t head_len;
	uint8_t nparts;
	uint8_t flags;	  /* BCL_TX_PCRC */
	uint8_t last;	  /* a run: flags of the kind of its last frame */
	uint16_t frames;  /* 1; a run: more */
	uint16_t payload; /* a run: bytes in each frame but the last */
	uint32_t seal;	  /* a run: what the header checksums are xored with */
	struct bcl_tx_part part[BCL_TX_PARTS];
};

enum {
	BCL_TX_PCRC = 1,
};

/* Bytes that the parts have. */
static inline uint32_t bcl_tx_parts_length(const struct bcl_tx_frame *frame)
{
	uint32_t length = 0;
	unsigned i;

	for (i = 0; i < frame->nparts; i++)
		length += frame->part[i].ref.length;
	return length;
}

/* The head of frame number i of a run, but for its checksums. Returns the
 * bytes of its payload, which lie i * run->payload bytes behind the first. */
static inline uint32_t bcl_tx_run_head(const struct bcl_tx_frame *run,
				       uint32_t i, uint8_t *to)
{
	struct bcl_frame_header *header = (struct bcl_frame_header *)(void *)to;
	struct bcl_segment_header *segment =
		(struct bcl_segment_header *)(void *)(header + 1);
	uint32_t length = run->payload;

	__builtin_memcpy(to, run->head, BCL_HEADERS_SIZE);
	header->seq = bcl_put32(bcl_get32(header->seq) + i);
	segment->offset = bcl_put32(bcl_get32(segment->offset) + i * length);
	if (i + 1 < run->frames)
		return length;
	header->kind |= run->last;
	if (run->nparts)
		length = bcl_tx_parts_length(run) - i * length;
	segment->length = bcl_put16((uint16_t)length);
	return length;
}

/*
 * A frame that came in: `head_len` bytes at head, then `body_len` at body.
 * The split is the host's; if body_len is not 0 then head holds exactly
 * BCL_HEADERS_SIZE bytes. Valid only during bcl_card_frames().
 */
struct bcl_rx_frame {
	const uint8_t *head;
	const uint8_t *body;
	uint16_t head_len;
	uint16_t body_len;
};

static inline const uint8_t *bcl_rx_payload(const struct bcl_rx_frame *frame)
{
	return frame->body_len ? frame->body : frame->head + BCL_HEADERS_SIZE;
}

/* Of a frame with whole headers. */
static inline uint32_t bcl_rx_payload_length(const struct bcl_rx_frame *frame)
{
	return frame->body_len + frame->head_len - BCL_HEADERS_SIZE;
}

enum bcl_dma_direction {
	BCL_DMA_READ,  /* host memory to card */
	BCL_DMA_WRITE, /* card to host memory */
};

enum bcl_dma_result {
	BCL_DMA_DONE,
	BCL_DMA_PENDING, /* bcl_card_dma_done(cookie) follows */
	BCL_DMA_FAULT, /* handle, bounds, owner or rights: nothing was moved */
};

enum bcl_queue {
	BCL_QUEUE_SENDS,
	BCL_QUEUE_RECEIVES,
};

enum bcl_atomic_op {
	BCL_ATOMIC_ADD,
	BCL_ATOMIC_COMPARE_SWAP,
};

enum bcl_hal_feature {
	BCL_HAL_GATHER = 1, /* transmit() takes parts; dma() never PENDING;
			     * the card reaches the areas of ports itself */
};

/*
 * What a host gives its card. No function blocks, keeps a pointer, or calls
 * the card. `host` is the pointer given to bcl_card_open().
 */
struct bcl_hal {
	uint32_t size;	   /* sizeof(struct bcl_hal) of the host */
	uint32_t features; /* enum bcl_hal_feature */

	/*
	 * Send a frame or a run to one node on a rail, in order. Returns how
	 * many frames were taken: their bytes have left or were copied, the
	 * card may reuse its memory. If not all, bcl_card_transmit_ready()
	 * follows. node BCL_NODE_NONE: to the source of the frame that is
	 * being handled.
	 */
	unsigned (*transmit)(void *host, unsigned rail, uint32_t node,
			     struct bcl_tx_frame *frame);

	/*
	 * Move ref->length bytes on behalf of a port (0: of the card itself,
	 * for the areas of ports). `remote`: a peer asked for it, so the
	 * memory's remote rights are checked, else that the port's owner
	 * owns the memory. PENDING only without BCL_HAL_GATHER.
	 */
	enum bcl_dma_result (*dma)(void *host, enum bcl_dma_direction direction,
				   uint16_t port, int remote,
				   const struct bcl_memref *ref, void *card,
				   uint32_t cookie);

	/*
	 * Where the first `length` bytes of a port's area lie, until the port
	 * is closed; NULL: the area has not so many. Only with BCL_HAL_GATHER.
	 */
	void *(*area)(void *host, uint32_t handle, uint64_t length);

	/*
	 * dma(BCL_DMA_WRITE) of the payloads of n frames, which are of equal
	 * length, one behind the other. Returns how many of them, from the
	 * first, are in place and have the checksum, if any, that their frame
	 * header tells. Only with BCL_HAL_GATHER.
	 */
	unsigned (*store)(void *host, uint16_t port, int remote,
			  const struct bcl_memref *ref,
			  const struct bcl_rx_frame *frames, unsigned n);

	/* May a peer do this to ref? The checks of dma() without the move. */
	int (*allowed)(void *host, enum bcl_dma_direction direction,
		       uint16_t port, const struct bcl_memref *ref);

	/*
	 * Atomically with respect to the host's processors; ref->length is 8.
	 * operand[0]: addend or comparand, operand[1]: swap value.
	 */
	enum bcl_dma_result (*atomic)(void *host, enum bcl_atomic_op op,
				      uint16_t port,
				      const struct bcl_memref *ref,
				      const uint64_t operand[2], uint64_t *old);

	/*
	 * Write entry `slot` of a queue; its lap is set in *entry and must
	 * become visible last. Not with BCL_HAL_GATHER.
	 */
	void (*event)(void *host, uint16_t port, enum bcl_queue queue,
		      uint32_t slot, const struct bcl_completion *entry);

	/* The port's owner sleeps (bcl_port_indices) and has new events. */
	void (*wake)(void *host, uint16_t port);

	/*
	 * CRC32C (Castagnoli), continued from crc; begins with 0. The data is
	 * copied to `to`, too, unless that is NULL.
	 */
	uint32_t (*crc32c)(void *host, uint32_t crc, void *to, const void *data,
			   uint32_t length);

	/* That of a frame's headers: bytes 0 to 31 and 40 to 79 of these. */
	uint32_t (*headers_crc)(void *host, const void *headers);

	/*
	 * The frame being handled proved to come from this node: remember
	 * its source as the node's address on this rail.
	 */
	void (*learn)(void *host, uint32_t node, unsigned rail);

	/*
	 * A node changed its state; card id, and why if it is lost. A node
	 * that connected first appears here with its new index. `life` is
	 * another one after each loss: requests name it, so that none that
	 * was asked before a loss, and not read yet, is carried out after it.
	 */
	void (*node)(void *host, uint32_t node, uint64_t card,
		     uint32_t generation, enum bcl_node_state state,
		     enum bcl_status status);

	/* 64 bits that nobody can guess: connection ids, seals, nonces, first
	 * numbers. */
	uint64_t (*random)(void *host);
};

struct bcl_card_config {
	uint64_t card;	      /* card id, not 0 */
	uint64_t incarnation; /* random for each life */
	uint8_t key[BCL_KEY_SIZE];
	uint64_t peer_timeout; /* ns of silence until a node is lost */
	uint64_t ack_delay;    /* ns an acknowledgement may wait for company */
	uint64_t rto_min;      /* ns, first and least retransmission time-out */
	uint64_t rto_max;      /* ns, bound of the exponential back-off */
	uint32_t max_nodes;    /* a bound for node indices */
	uint32_t max_messages; /* under way at once: 16..32768, power of two */
	uint32_t buffers;      /* without BCL_HAL_GATHER: frames that the card
				* holds at once in each direction */
	uint32_t frame;	       /* bytes of the longest on any rail; 0:
				* BCL_FRAME_MAX. Buffers are as long */
	uint32_t pcrc;	       /* 1: payload checksums wanted */
};

/* What the card wants next, set by every input. */
struct bcl_card_next {
	uint64_t deadline; /* call bcl_card_timer() then, after the frames that
			    * have come; UINT64_MAX: never */
	int more;	   /* the budget ran out: call bcl_card_timer() soon */
};

/*
 * Set up a card in an arena of `size` bytes, 64-byte aligned and zeroed, that
 * stays its memory until the end (there is no close: forget the arena). What
 * there is of nodes and connections is not touched before it is used. NULL if
 * the arena is too small (bcl_card_arena() says what is needed) or the config
 * is wrong.
 */
struct bcl_card *bcl_card_open(void *arena, uint32_t size,
			       const struct bcl_hal *hal, void *host,
			       const struct bcl_card_config *config);

/*
 * Bytes of arena for this configuration with this many ports (of up to 1,024
 * blocks each), connections and channels.
 */
uint32_t bcl_card_arena(const struct bcl_card_config *config, uint32_t ports,
			uint32_t connections, uint32_t channels);

/*
 * The inputs. Each does at most about `budget` frames of work and says in
 * *next what it wants.
 */

/*
 * `made` entries of the port's submits[] are written, as the host has read in
 * its indices (acquire) since the last doorbell.
 */
void bcl_card_doorbell(struct bcl_card *card, uint16_t port, uint32_t made,
		       uint64_t now, unsigned budget,
		       struct bcl_card_next *next);
void bcl_card_frames(struct bcl_card *card, unsigned rail,
		     const struct bcl_rx_frame *frames, unsigned n,
		     uint64_t now, unsigned budget, struct bcl_card_next *next);
/* The receive queue of the rail is empty: a good moment for ACKs. */
void bcl_card_drained(struct bcl_card *card, unsigned rail, uint64_t now,
		      unsigned budget, struct bcl_card_next *next);
void bcl_card_transmit_ready(struct bcl_card *card, unsigned rail, uint64_t now,
			     unsigned budget, struct bcl_card_next *next);
void bcl_card_dma_done(struct bcl_card *card, uint32_t cookie,
		       enum bcl_dma_result result, uint64_t now,
		       unsigned budget, struct bcl_card_next *next);
/* Time has passed. Only this input finds that something took too long. */
void bcl_card_timer(struct bcl_card *card, uint64_t now, unsigned budget,
		    struct bcl_card_next *next);
/* Evidence from outside that a node is gone (ECONNREFUSED, link down). */
void bcl_card_node_gone(struct bcl_card *card, uint32_t node, unsigned rail,
			enum bcl_status why, uint64_t now, unsigned budget,
			struct bcl_card_next *next);

/*
 * A control call, done at once. *result: CONNECT: the node index. FULL: all
 * are in use. If there is no memory for a connection the node waits for some,
 * as long as for an answer.
 */
enum bcl_status bcl_card_control(struct bcl_card *card,
				 const struct bcl_control *control,
				 uint64_t now, uint32_t *result,
				 struct bcl_card_next *next);

/*
 * Bytes that come by this rail next, if the peer lives: the rest of the long
 * message that is arriving, and what was asked of the same peer.
 */
uint64_t bcl_card_expected(const struct bcl_card *card, unsigned rail);

/* The rail whose frame a pending dma is for, where rails have engines of their
 * own; 0 if it is for none. May be asked within dma(). */
unsigned bcl_card_dma_rail(const struct bcl_card *card, uint32_t cookie);

/* For tools: counters[BCL_CARD_NCOUNTERS]; the bytes of its arena that ports
 * and connections leave free; and what is known of a node. */
const uint64_t *bcl_card_counters(const struct bcl_card *card);
uint32_t bcl_card_free(const struct bcl_card *card);

/* What it had use for, at most: bytes, each kind of object by itself; messages
 * of its ports that were not finished, and of peers that it held in pieces or
 * because of their order. */
struct bcl_card_peaks {
	uint32_t memory, sending, held;
};

void bcl_card_peaks(const struct bcl_card *card, struct bcl_card_peaks *peaks);

struct bcl_node_info {
	uint64_t card;
	enum bcl_node_state state;
	enum bcl_status status;
	uint32_t rails;		  /* bit r: rail r is proved */
	uint32_t messages_queued; /* not finished */
	uint64_t rtt;	     /* ns, shortest, of the small rail; 0: unknown */
	uint64_t last_heard; /* time of the last valid frame */
	uint64_t frames_sent, frames_received, retransmitted;
};

enum bcl_status bcl_card_node_info(const struct bcl_card *card, uint32_t node,
				   struct bcl_node_info *info);

#endif
