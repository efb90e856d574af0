/* SPDX-License-Identifier: MIT */
/*
 * A small world for the card core: cards, rails between them, memory, a
 * virtual clock, and faults by seed. Everything that happens follows from the
 * configuration, so that a failing seed fails again.
 *
 * With BCL_HOST_FOREIGN, for cards and world alike, the hosts are of the other
 * byte order.
 *
 * The library's side of a port is played by world_submit(), world_sent() and
 * world_received(); time passes in world_run().
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
	WORLD_NODES = 64, /* that a card knows */
	WORLD_REQUESTS = 128,
	WORLD_CHANNELS = 8,
	WORLD_TOGETHER = 16, /* frames in one call of the card, at most */
};

/* Probabilities in per mille, times in ns. */
struct world_config {
	uint64_t seed;
	unsigned cards, rails;
	bool stripe;  /* all rails are for long messages, not the last only */
	bool share;   /* all are for short ones, not the first only */
	bool pending; /* without BCL_HAL_GATHER */
	unsigned drop, duplicate, reorder, corrupt, busy;
	uint64_t delay;		      /* of a frame; 0: 2,000 */
	uint64_t late[BCL_RAILS_MAX]; /* in addition, by rail */
	uint32_t pace[BCL_RAILS_MAX]; /* of a wire: ns for 1 KB */
	unsigned dropping;	/* bit r: drop by rail r only; 0: by all */
	uint64_t reorder_delay; /* up to this in addition; 0: 50,000 */
	uint64_t together;	/* frames so close come in one call */
	uint32_t mtu, burst, window;
	uint32_t messages, nodes, connections, blocks;
	uint32_t longs; /* long blocks; not if pending */
	uint32_t ports; /* per card, for which there is memory */
	uint64_t peer_timeout;
	bool hostile; /* users ask for more than they have room to hear of */
	bool no_pcrc;
	bool wrap;	  /* first numbers lie just below 2^32 */
	uint32_t first;	  /* they are this; 0: any */
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
	uint32_t made, sends_read, receives_read;
	uint32_t nblocks, nlongs, nreceives;
	uint32_t free[WORLD_REQUESTS];
	uint32_t nfree;
	uint8_t *freed; /* blocks freed out of turn, then long ones */
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
	unsigned address; /* world_move(); by rails the same */
	unsigned told;	  /* its own as it knows it, from frames that came */
	unsigned known[WORLD_CARDS]; /* the others', by learn() */
	unsigned misled; /* learn() from a frame of another card than that */
	unsigned burst_most, transmits;
	uint64_t frames, stores, written; /* written: bytes, by dma */
	struct bcl_card_config config;
};

/* A frame on its way; a test's filter may look at it, or drop it. */
struct world_frame {
	unsigned from, to, rail;
	unsigned address, source; /* where `to` should be, `from` says it is */
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
	/* false: the frame is lost */
	bool (*filter)(struct world *world, struct world_frame *frame);
	void *filter_arg;
};

/* Defaults for zeroes; `seed` may be overridden by BCL_TEST_SEED. */
struct world *world_new(const struct world_config *config);
void world_free(struct world *world);
/*
 * How many seeds a test should try: n, or BCL_TEST_SEEDS; 1 if BCL_TEST_SEED
 * names one. The i-th of them is i + 1.
 */
unsigned world_seeds(unsigned n);
uint64_t world_seed(unsigned i);
/* Printed if the program ends before world_note(0). */
void world_note(uint64_t seed);
uint32_t world_random(struct world *world, uint32_t below);

struct world_port *world_port_open(struct world *world, unsigned card,
				   uint16_t number);
void world_port_close(struct world_port *port);
/* Index of a card's node for another card; connects if need be. */
uint32_t world_connect(struct world *world, unsigned card, unsigned to);
/* The same; where there is no room it is tried again every so many ns. */
uint32_t world_connect_later(struct world *world, unsigned card, unsigned to,
			     uint64_t every);
/* With the key of another job. */
uint32_t world_connect_by(struct world *world, unsigned card, unsigned to,
			  const uint8_t *key);
enum bcl_status world_control(struct world *world, unsigned card,
			      const struct bcl_control *control,
			      uint32_t *result);
/* Memory of a card; rights for its peers. Returns the handle. */
uint32_t world_memory(struct world *world, unsigned card, uint16_t port,
		      void *memory, uint64_t length, uint32_t rights);
/* Memory that reads as zeroes and forgets what is written. */
uint32_t world_sink(struct world *world, unsigned card, uint16_t port,
		    uint64_t length);
void world_forget(struct world *world, unsigned card, uint32_t handle);

/* A free request to fill in, cleared, or NULL; then ring for it. */
struct bcl_request *world_request(struct world_port *port);
void world_submit(struct world_port *port, struct bcl_request *request);
void world_ring(struct world_port *port);
/* A system message of inline or referenced bytes; false: no free request. */
bool world_send(struct world_port *port, uint32_t node, uint16_t to,
		const void *bytes, uint32_t length, uint64_t cookie);
/* The next event; its request or block is still taken. */
bool world_sent(struct world_port *port, struct bcl_completion *entry);
bool world_received(struct world_port *port, struct bcl_completion *entry);
const uint8_t *world_block(const struct world_port *port,
			   const struct bcl_completion *entry);
void world_block_free(struct world_port *port, uint32_t block);
/* The block of this event, long or not. */
void world_block_free_of(struct world_port *port,
			 const struct bcl_completion *entry);

/* For world_kill() and world_free(). */
void world_port_free(struct world_port *port);
/* A slow dma must not land in memory that is given back. */
void world_stop_dma(struct world *world, unsigned card,
		    const struct world_area *area);

/* Let time pass until `until` or until nothing more happens by itself. */
void world_run(struct world *world, uint64_t until);
void world_run_for(struct world *world, uint64_t ns);
void world_step(struct world *world); /* the next event only */

void world_link(struct world *world, unsigned a, unsigned b, unsigned rail,
		bool up);
/*
 * The card's address is another one, which it does not know yet. Frames to the
 * old one are lost but for HELLO and HELLO_ACK, with which rails look around.
 */
void world_move(struct world *world, unsigned card);
/* The card stops without a word; it begins a new life. */
void world_kill(struct world *world, unsigned card);
void world_revive(struct world *world, unsigned card);
uint64_t world_counter(const struct world *world, unsigned card,
		       enum bcl_card_counter counter);
/* What happened, to standard error. */
void world_dump(const struct world *world);
uint64_t world_card_id(const struct world *world, unsigned card);

uint32_t world_crc32c(void *host, uint32_t crc, void *to, const void *data,
		      uint32_t length);
uint32_t world_headers_crc(void *host, const void *headers);
/* The seal of a frame whose header checksum is right; 0: of no connection. */
uint32_t world_seal_of(const uint8_t *frame);
/* Make both checksums of a frame right, with a seal; before that the proof, if
 * it is a HELLO, a HELLO_ACK or the PING behind them. */
void world_seal(uint8_t *frame, uint32_t length, uint32_t seal);
void world_prove(uint8_t *frame, uint32_t length, const uint8_t *key);
/* Inject it as if from `from`. */
void world_inject(struct world *world, unsigned from, unsigned to,
		  unsigned rail, const uint8_t *frame, uint32_t length);

#endif
