/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The interface between a card and its host: the functions that the card calls
 * (struct bcl_hal, given by the host), and the inputs that the host calls
 * (bcl_card_*). The card does no I/O of its own, keeps no global state and
 * allocates nothing after bcl_card_open(). The host serialises the calls, and
 * no function of struct bcl_hal may call back into the card: the card is never
 * re-entered.
 *
 * Time is in nanoseconds since any fixed moment.
 */
#ifndef NICFW_HAL_H
#define NICFW_HAL_H

#include <bcl/card_abi.h>
#include <bcl/status.h>

struct bcl_card;

/* Part of a frame to be sent that lies in host memory. */
struct bcl_tx_part {
	struct bcl_memref ref;
	uint16_t port;	/* port on whose behalf the part is read */
	uint8_t remote; /* 1: read for a peer (GET), 0: for the port's owner */
};

enum {
	BCL_TX_PARTS = 4,
};

/*
 * A frame to be sent: `head_len` bytes in card memory, then the parts. Parts
 * are used only if the host has BCL_HAL_GATHER. Otherwise the card fetches the
 * whole payload by dma() first. With BCL_TX_PCRC the host computes the payload
 * checksum over the bytes from 80 to the end and stores it in the header.
 *
 * Or a run of `frames` consecutive frames of a long message. `head` is then the
 * head of the first frame, 80 bytes without the header checksum. The parts, if
 * any, hold the payloads of all frames, one behind the other. The host makes
 * the head of each frame by bcl_tx_run_head() and computes both checksums.
 */
struct bcl_tx_frame {
	uint8_t *head;
	uint16_t head_len;
	uint8_t nparts;
	uint8_t flags;	 /* BCL_TX_PCRC */
	uint8_t last;	 /* a run: flags to add to the kind of the last frame */
	uint16_t frames; /* 1, or the frames of a run */
	uint16_t payload; /* a run: bytes of each frame but the last */
	uint32_t seal;	  /* a run: to be xored with header checksums */
	struct bcl_tx_part part[BCL_TX_PARTS];
};

enum {
	BCL_TX_PCRC = 1,
};

/* Returns the bytes of all parts. */
static inline uint32_t bcl_tx_parts_length(const struct bcl_tx_frame *frame)
{
	uint32_t length = 0;
	unsigned i;

	for (i = 0; i < frame->nparts; i++)
		length += frame->part[i].ref.length;
	return length;
}

/*
 * Write the head of frame number i of a run, without checksums. Returns the
 * bytes of payload of the frame. The payload begins i * run->payload bytes
 * behind the first.
 */
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
 * A frame that was received: `head_len` bytes at head, then `body_len` bytes at
 * body. The host decides where to split. If body_len is not 0, head holds
 * exactly BCL_HEADERS_SIZE bytes. Valid only during bcl_card_frames().
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

/* For frames of at least BCL_HEADERS_SIZE bytes. */
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
	/*
	 * transmit() takes parts, dma() never returns PENDING, and the card
	 * reaches the areas of ports directly.
	 */
	BCL_HAL_GATHER = 1,
};

/*
 * The functions of the host. `host` is the pointer that was given to
 * bcl_card_open(). The card copies the table and calls the functions only
 * inside its inputs (bcl_card_*), so on the thread that made the input, with
 * the lock that serialises the inputs.
 *
 * Mandatory: all but area and store, needed only with BCL_HAL_GATHER, event,
 * needed only without, and repost. None of the functions blocks or calls the
 * card. None keeps a pointer after the return, except dma() that returns
 * PENDING: `card` then belongs to the host until bcl_card_dma_done().
 * transmit(), wake() and node() may enter the kernel. Others only compute, and
 * access memory.
 */
struct bcl_hal {
	uint32_t size;	   /* sizeof(struct bcl_hal) of the host */
	uint32_t features; /* enum bcl_hal_feature */

	/*
	 * Send a frame or a run to a node on a rail, in order. Returns how many
	 * frames were taken, counted from the first: the host needs their
	 * memory no more, and stored checksums in the head. A frame without a
	 * known address, or with parts that may not be read, counts as taken,
	 * and is lost as on the wire. If not all frames were taken, the host
	 * calls bcl_card_transmit_ready() later, and the card offers the rest
	 * again. With node BCL_NODE_NONE: send to the source of the frame that
	 * is being handled.
	 */
	unsigned (*transmit)(void *host, unsigned rail, uint32_t node,
			     struct bcl_tx_frame *frame);

	/*
	 * Move ref->length bytes on behalf of a port (0: of the card itself,
	 * for the areas of ports). `remote` 1: a peer asks, and the host checks
	 * the remote rights of the memory. 0: the host checks that the port's
	 * owner owns the memory. Returns PENDING only without BCL_HAL_GATHER;
	 * `cookie` is for this case alone. FAULT, here or from
	 * bcl_card_dma_done(): the content of `card` is undefined.
	 */
	enum bcl_dma_result (*dma)(void *host, enum bcl_dma_direction direction,
				   uint16_t port, int remote,
				   const struct bcl_memref *ref, void *card,
				   uint32_t cookie);

	/*
	 * Address of the first `length` bytes of a port's area, valid until the
	 * port is closed. NULL: the area is shorter. Only with BCL_HAL_GATHER.
	 */
	void *(*area)(void *host, uint32_t handle, uint64_t length);

	/*
	 * dma(BCL_DMA_WRITE) of the payloads of n frames, all of the same
	 * length, one behind the other. Returns how many payloads, counted from
	 * the first, are in place and match the checksum in their frame header,
	 * if it has one. The memory of the first payload beyond may have been
	 * written, too. 0 also if the access is not permitted; then nothing was
	 * written. n is at least 1. Only with BCL_HAL_GATHER.
	 */
	unsigned (*store)(void *host, uint16_t port, int remote,
			  const struct bcl_memref *ref,
			  const struct bcl_rx_frame *frames, unsigned n);

	/* True if dma() would permit a peer to access ref. Moves nothing. */
	int (*allowed)(void *host, enum bcl_dma_direction direction,
		       uint16_t port, const struct bcl_memref *ref);

	/*
	 * The library has posted a channel by the word. True if the memory of
	 * the channel's last POST is what a POST of the same would get now;
	 * then the card may access the memory as after a POST. NULL: it always
	 * is. Only with BCL_HAL_GATHER.
	 */
	int (*repost)(void *host, uint16_t port, uint32_t channel);

	/*
	 * An atomic operation with respect to the host's processors;
	 * ref->length is 8. operand[0]: addend or comparand, operand[1]: swap
	 * value. A peer asks, so the host checks the remote rights. DONE: *old
	 * is the value before. FAULT: not permitted, or not aligned; *old is
	 * not set. Never PENDING.
	 */
	enum bcl_dma_result (*atomic)(void *host, enum bcl_atomic_op op,
				      uint16_t port,
				      const struct bcl_memref *ref,
				      const uint64_t operand[2], uint64_t *old);

	/*
	 * Write entry `slot` of a queue. *entry contains the lap, which must
	 * become visible last. The host may write later, in order for each
	 * queue. Not used with BCL_HAL_GATHER.
	 */
	void (*event)(void *host, uint16_t port, enum bcl_queue queue,
		      uint32_t slot, const struct bcl_completion *entry);

	/*
	 * Wake the port's owner, who sleeps (bcl_port_indices): there are
	 * events. A host that wakes the owner for each entry by itself does
	 * nothing here.
	 */
	void (*wake)(void *host, uint16_t port);

	/*
	 * CRC32C (Castagnoli), continued from `crc`; 0 to begin. Unless `to` is
	 * NULL, the data is copied there, too.
	 */
	uint32_t (*crc32c)(void *host, uint32_t crc, void *to, const void *data,
			   uint32_t length);

	/* CRC32C of a frame's headers: of the bytes 0 to 31 and 40 to 79. */
	uint32_t (*headers_crc)(void *host, const void *headers);

	/*
	 * The frame being handled proved to come from this node: keep its
	 * source as the node's address on this rail. Nothing to do if the host
	 * has no entry for the node.
	 */
	void (*learn)(void *host, uint32_t node, unsigned rail);

	/*
	 * A node has changed its state: card id, generation, state, and the
	 * reason if the node is lost. A node that called first appears here
	 * with its new index. `generation` changes with each loss, and requests
	 * name it. So a request that was submitted before a loss, but not read
	 * yet, is not carried out after the loss. A host without memory for a
	 * new node drops the call; then transmit() has no address for the node.
	 */
	void (*node)(void *host, uint32_t node, uint64_t card,
		     uint32_t generation, enum bcl_node_state state,
		     enum bcl_status status);

	/*
	 * 64 unpredictable bits, for connection ids, seals, nonces and first
	 * numbers. Cannot fail.
	 */
	uint64_t (*random)(void *host);
};

struct bcl_card_config {
	uint64_t card;	      /* card id, not 0 */
	uint64_t incarnation; /* random for each start of the card */
	uint8_t key[BCL_KEY_SIZE];
	uint64_t peer_timeout; /* ns of silence after which a node is lost */
	uint64_t ack_delay;    /* ns that an acknowledgement may be delayed */
	uint64_t rto_min;      /* ns, initial and least RTO */
	uint64_t rto_max;      /* ns, bound of the RTO back-off */
	uint32_t max_nodes;    /* bound of node indices */
	uint32_t max_messages; /* at once: 16..32768, a power of two */
	/*
	 * Without BCL_HAL_GATHER: frames that the card holds at once in each
	 * direction.
	 */
	uint32_t buffers;
	/*
	 * Bytes of the longest frame on any rail, and of a buffer; 0:
	 * BCL_FRAME_MAX.
	 */
	uint32_t frame;
	uint32_t pcrc; /* 1: this side wants payload checksums */
};

/* The next call that the card wants. Every input sets it. */
struct bcl_card_next {
	/*
	 * When to call bcl_card_timer(), after the frames that have come by
	 * then; UINT64_MAX: never.
	 */
	uint64_t deadline;
	int more; /* budget exhausted: call bcl_card_timer() soon */
};

/*
 * Set up a card in an arena of `size` bytes, 64-byte aligned and zeroed. The
 * arena is the card's memory from then on. There is no close: the host frees
 * the arena. Memory of nodes and connections is not touched before its first
 * use. Returns NULL if the arena is too small (see bcl_card_arena()) or the
 * config is wrong.
 */
struct bcl_card *bcl_card_open(void *arena, uint32_t size,
			       const struct bcl_hal *hal, void *host,
			       const struct bcl_card_config *config);

/*
 * Bytes of arena needed for this configuration with this many ports (of up to
 * 1,024 blocks each), connections and channels.
 */
uint32_t bcl_card_arena(const struct bcl_card_config *config, uint32_t ports,
			uint32_t connections, uint32_t channels);

/*
 * The inputs. Each does about `budget` frames of work at most and sets *next.
 */

/*
 * `made` entries of the port's submits[] are written. The host has read the
 * count from the port's indices (acquire) since the last doorbell.
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
/* Time has passed. Only this input detects time-outs. */
void bcl_card_timer(struct bcl_card *card, uint64_t now, unsigned budget,
		    struct bcl_card_next *next);
/* Evidence from outside that a node is gone (ECONNREFUSED, link down). */
void bcl_card_node_gone(struct bcl_card *card, uint32_t node, unsigned rail,
			enum bcl_status why, uint64_t now, unsigned budget,
			struct bcl_card_next *next);

/*
 * A control call, carried out at once. *result: node index after CONNECT.
 * Returns FULL if all indices are in use. If there is no memory for a
 * connection the node waits for memory, for as long as it would wait for an
 * answer.
 */
enum bcl_status bcl_card_control(struct bcl_card *card,
				 const struct bcl_control *control,
				 uint64_t now, uint32_t *result,
				 struct bcl_card_next *next);

/*
 * Bytes that the rail is about to deliver if the peer lives: the rest of the
 * long message that is arriving, and the data that was requested from the same
 * peer.
 */
uint64_t bcl_card_expected(const struct bcl_card *card, unsigned rail);

/*
 * The rail whose frame a pending dma is for, where each rail has a dma engine
 * of its own; 0 if for none. May be called within dma().
 */
unsigned bcl_card_dma_rail(const struct bcl_card *card, uint32_t cookie);

/*
 * For tools: counters[BCL_CARD_NCOUNTERS]; the bytes of the arena that are not
 * in use by ports and connections; the state of a node.
 */
const uint64_t *bcl_card_counters(const struct bcl_card *card);
uint32_t bcl_card_free(const struct bcl_card *card);

/*
 * Peaks since bcl_card_open(). `memory`: bytes, the sum of the peak of each
 * kind of object. `sending`: unfinished messages of this card, replies
 * included. `held`: messages of peers in pieces, or early.
 */
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
