/* SPDX-License-Identifier: MIT */
/*
 * A small world for the card core: cards, rails between the cards, memory, a
 * virtual clock, and faults that are drawn by seed. The configuration
 * determines all events, so a failing seed fails again.
 *
 * If cards and world are compiled with BCL_HOST_FOREIGN, the hosts have the
 * opposite byte order.
 *
 * world_submit(), world_sent() and world_received() play the library's side of
 * a port. Time passes in world_run().
 */
#ifndef BCL_TESTS_CARD_WORLD_H
#define BCL_TESTS_CARD_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <nicfw/hal.h>

enum {
	WORLD_CARDS = 16,
	WORLD_PORTS = 8,  /* per card */
	WORLD_AREAS = 64, /* of memory, per card */
	WORLD_NODES = 64, /* nodes that a card knows */
	WORLD_REQUESTS = 128,
	WORLD_CHANNELS = 8,
	WORLD_TOGETHER = 16, /* most frames in a call of the card */
};

/* Probabilities in per mille, times in ns. */
struct world_config {
	uint64_t seed;
	unsigned cards, rails;
	bool stripe;  /* all rails carry long messages, not the last only */
	bool share;   /* all rails carry short messages, not the first only */
	bool pending; /* without BCL_HAL_GATHER */
	unsigned drop, duplicate, reorder, corrupt, busy;
	uint64_t delay;		      /* of a frame; 0: 2,000 */
	uint64_t late[BCL_RAILS_MAX]; /* additional delay, by rail */
	uint32_t pace[BCL_RAILS_MAX]; /* of a wire: ns for 1 KB */
	unsigned dropping;	/* bit r: drop by rail r only; 0: by all */
	uint64_t reorder_delay; /* most additional delay; 0: 50,000 */
	uint64_t together;	/* frames within so many ns share a call */
	uint32_t mtu, burst, window;
	uint32_t messages, nodes, connections, blocks;
	uint32_t longs; /* long blocks; not if pending */
	uint32_t ports; /* ports per card that the arena can hold */
	uint64_t peer_timeout;
	bool hostile; /* ports may overrun their completion queues */
	bool no_pcrc;
	bool wrap;	  /* first numbers lie just below 2^32 */
	uint32_t first;	  /* first number; 0: any */
	unsigned odd_key; /* 1 + the card with another job key; 0: none */
};

struct world_port {
	struct world *world;
	unsigned card;
	uint16_t number;
	bool open;
	struct bcl_request *requests;
	uint32_t *submits;
	struct bcl_completion *sends, *receives;
	uint8_t *blocks;
	struct bcl_port_indices *indices;
	uint32_t *again, *postings;
	uint32_t made, sends_read, receives_read;
	uint32_t nblocks, nlongs, nreceives;
	uint32_t free[WORLD_REQUESTS];
	uint32_t nfree;
	uint8_t *freed; /* freed out of order: blocks, then long blocks */
	unsigned wakes;
};

struct world_area {
	uint8_t *memory;
	uint64_t length;
	uint16_t port;	 /* owner; 0: the card itself */
	uint32_t rights; /* enum bcl_mem_rights */
	bool sink;
};

struct world_node {
	uint64_t card;
	uint32_t generation;
	enum bcl_node_state state;
	enum bcl_status status;
	unsigned ups, losses;
};

struct world_card {
	struct world *world;
	unsigned index;
	bool dead;
	uint64_t incarnation;
	struct bcl_card *card;
	void *arena;
	struct bcl_card_next next;
	struct world_port port[WORLD_PORTS];
	struct world_area area[WORLD_AREAS];
	struct world_node node[WORLD_NODES];
	unsigned address; /* moves by world_move(); equal on all rails */
	unsigned told;	  /* own address as the card knows, from frames */
	unsigned known[WORLD_CARDS]; /* addresses of cards, by learn() */
	unsigned misled; /* learn() of a node by a different card's frame */
	unsigned burst_most, transmits;
	bool forgets; /* the memory of channels, at each bcl_hal.repost */
	uint64_t frames, stores, written; /* written: bytes, by dma */
	struct bcl_card_config config;
};

/* A frame in flight. The filter of a test may read or drop the frame. */
struct world_frame {
	unsigned from, to, rail;
	unsigned address, source; /* of `to`, as known; of `from`, as claimed */
	uint32_t length;
	uint8_t bytes[BCL_FRAME_MAX];
};

struct world {
	struct world_config config;
	uint64_t now;
	uint64_t random;
	struct world_card card[WORLD_CARDS];
	bool link_down[WORLD_CARDS][WORLD_CARDS][BCL_RAILS_MAX];
	uint64_t last[WORLD_CARDS][WORLD_CARDS][BCL_RAILS_MAX]; /* arrival */
	struct world_event **events;				/* a heap */
	size_t nevents, room;
	uint64_t order;
	unsigned source, source_rail; /* of the frame being handled */
	unsigned source_address;
	unsigned dropped, duplicated, reordered, corrupted;
	/* returns false: the frame is lost */
	bool (*filter)(struct world *world, struct world_frame *frame);
	void *filter_arg;
	struct world_frame leaving; /* of transmit(): too large for a stack */
};

/* Zeroes in the configuration mean defaults. Tests take `seed` from
 * world_seed(). */
struct world *world_new(const struct world_config *config);
void world_free(struct world *world);
/*
 * world_seeds() returns the number of seeds that a test should try: n, or
 * BCL_TEST_SEEDS, or 1 if BCL_TEST_SEED names a seed. world_seed() returns the
 * seed number i: i + 1, or BCL_TEST_SEED.
 */
unsigned world_seeds(unsigned n);
uint64_t world_seed(unsigned i);
/* The seed is printed if the program ends before world_note(0). */
void world_note(uint64_t seed);
uint32_t world_random(struct world *world, uint32_t below);

struct world_port *world_port_open(struct world *world, unsigned card,
				   uint16_t number);
void world_port_close(struct world_port *port);
/* Returns the index of the card's node for the card `to`, and connects if
 * necessary. BCL_NODE_NONE: the card refuses. */
uint32_t world_connect(struct world *world, unsigned card, unsigned to);
/* The same, but tries again every `every` ns as long as the card refuses. */
uint32_t world_connect_later(struct world *world, unsigned card, unsigned to,
			     uint64_t every);
/* The same, with the given job key. */
uint32_t world_connect_by(struct world *world, unsigned card, unsigned to,
			  const uint8_t *key);
enum bcl_status world_control(struct world *world, unsigned card,
			      const struct bcl_control *control,
			      uint32_t *result);
/* Registers memory of a port (0: of the card itself) with rights for peers.
 * Returns the handle. */
uint32_t world_memory(struct world *world, unsigned card, uint16_t port,
		      void *memory, uint64_t length, uint32_t rights);
/* Registers memory with contents that do not matter: all reads and writes go to
 * the same few bytes, so that `length` may be any number. */
uint32_t world_sink(struct world *world, unsigned card, uint16_t port,
		    uint64_t length);
void world_forget(struct world *world, unsigned card, uint32_t handle);

/*
 * world_request() returns a cleared request, or NULL if no request is free. The
 * caller fills the request in and calls world_submit(), which rings.
 * world_ring() rings the doorbell alone.
 */
struct bcl_request *world_request(struct world_port *port);
void world_submit(struct world_port *port, struct bcl_request *request);
void world_ring(struct world_port *port);
/* Sends a system message of inline bytes. false: no request is free. */
bool world_send(struct world_port *port, uint32_t node, uint16_t to,
		const void *bytes, uint32_t length, uint64_t cookie);
/*
 * world_sent() takes the next completion of a send, and frees the request.
 * world_received() takes the next completion of a receive; the caller frees the
 * block. false: the queue is empty.
 */
bool world_sent(struct world_port *port, struct bcl_completion *entry);
bool world_received(struct world_port *port, struct bcl_completion *entry);
const uint8_t *world_block(const struct world_port *port,
			   const struct bcl_completion *entry);
void world_block_free(struct world_port *port, uint32_t block);
/* Frees the block of a completion, a short or a long block. */
void world_block_free_of(struct world_port *port,
			 const struct bcl_completion *entry);

/* Frees the memory of a port without a word to the card. */
void world_port_free(struct world_port *port);
/* Lets pending dma to and from the area fail: no dma may touch memory that the
 * owner has freed. */
void world_stop_dma(struct world *world, unsigned card,
		    const struct world_area *area);

/* Handles all events that are due until the time `until`, then sets the clock
 * to `until`. */
void world_run(struct world *world, uint64_t until);
void world_run_for(struct world *world, uint64_t ns);
void world_step(struct world *world); /* the next event only */

void world_link(struct world *world, unsigned a, unsigned b, unsigned rail,
		bool up);
/*
 * Gives the card a new address, which the card does not know yet. Frames to the
 * old address are lost, except HELLO and HELLO_ACK, with which rails search for
 * a card.
 */
void world_move(struct world *world, unsigned card);
/* world_kill() stops the card without a word to peers. world_revive() starts
 * the card again, with a new incarnation. */
void world_kill(struct world *world, unsigned card);
void world_revive(struct world *world, unsigned card);
uint64_t world_counter(const struct world *world, unsigned card,
		       enum bcl_card_counter counter);
/* Prints the counters of all living cards to standard error. */
void world_dump(const struct world *world);
uint64_t world_card_id(const struct world *world, unsigned card);

uint32_t world_crc32c(void *host, uint32_t crc, void *to, const void *data,
		      uint32_t length);
uint32_t world_headers_crc(void *host, const void *headers);
/* The seal of a frame with a correct header checksum. 0: the frame belongs to
 * no connection. */
uint32_t world_seal_of(const uint8_t *frame);
/*
 * world_seal() makes both checksums of a frame correct for the seal.
 * world_prove() comes before world_seal(), and makes the proof of a HELLO, of a
 * HELLO_ACK, or of the PING after a handshake correct.
 */
void world_seal(uint8_t *frame, uint32_t length, uint32_t seal);
void world_prove(uint8_t *frame, uint32_t length, const uint8_t *key);
/* Sends the bytes to the card `to` at once, as if from the card `from`. */
void world_inject(struct world *world, unsigned from, unsigned to,
		  unsigned rail, const uint8_t *frame, uint32_t length);

#endif
