/* SPDX-License-Identifier: MIT */
/*
 * The card core (nicfw/) on a simulated card, for one context. The core runs
 * without BCL_HAL_GATHER: each transfer over the bus is PENDING until an engine
 * has finished it, and an event is a transfer as well.
 *
 * Requests and the indices of a port lie on the card. The host writes them
 * there, and is charged for requests when it rings the doorbell and for
 * messages when it takes them. The owner of a port sees an event when the event
 * lands, like a process that polls memory, whether or not the rank sleeps in
 * the simulation.
 */
#ifndef SIM_FIRMWARE_H
#define SIM_FIRMWARE_H

#include "card/ops.h"
#include "sim/card.h"
#include "sim/trace.h"
#include "sim/world.h"
#include "env/env.h"

enum {
	SIM_PORTS = 4, /* per context */
	SIM_AREAS = 8, /* handles per port */
};

/* Bounds of a core, which determine the memory of each rank. */
struct sim_firmware_limits {
	uint32_t nodes, connections;
	uint32_t messages; /* pending: a power of two, 16 or more */
	uint32_t channels;
};

struct sim_address {
	uint32_t port;
	uint16_t firmware;
};

/* A node as the host knows it, by the index of the core. */
struct sim_node {
	struct bcl_host_node shown;
	struct sim_address address[BCL_RAILS_MAX];
};

struct bcl_host_seat {
	struct sim_task doorbell;
	struct sim_firmware *firmware;
	uint16_t number;  /* of the port; 0: free */
	int object;	  /* the owner's, to be woken */
	uint32_t written; /* requests announced to the card */
	uint32_t nrequests;
	struct bcl_host_area areas[BCL_AREAS];
};

/* Runs when a rail may take frames again. */
struct sim_ready {
	struct sim_task task;
	struct sim_firmware *firmware;
	bool blocked; /* the rail took less than it was offered */
};

struct sim_move;
struct sim_held;

struct sim_firmware {
	struct bcl_host base;
	_Atomic uint32_t changes; /* base.changes */
	struct sim_world *world;
	struct sim_card *card;
	const struct sim_host_costs *costs;
	struct bcl_host_setup setup;
	unsigned rank;	/* of the world */
	unsigned place; /* in card->firmware[] */

	struct bcl_card *core;
	struct bcl_card_next next;
	struct sim_event deadline;
	struct sim_task timer;
	struct sim_ready ready[BCL_RAILS_MAX];
	void *arena;
	uint32_t arena_size;

	struct sim_move *moves; /* transfers on the engines, in no order */
	uint32_t stores;	/* of these, payload to the host */
	uint32_t stores_most;	/* at this many, received frames wait */
	struct sim_held *held, **held_last;

	/* the frame that is being handled */
	const struct sim_address *source; /* NULL: none */
	unsigned source_rail;
	/* the node of a CONNECT in progress, by rail */
	const struct sim_address *connecting;
	struct sim_node *nodes;
	uint32_t nnodes;
	struct bcl_host_seat seats[SIM_PORTS];
	struct sim_trace trace;
};

/* ---- firmware.c ---- */

/* Opens the core. Returns false if there is no memory for it. */
bool sim_firmware_open(struct sim_firmware *firmware,
		       const struct sim_firmware_limits *limits);
void sim_firmware_close(struct sim_firmware *firmware);
/* Called after each call of the core: schedules the work that the core wants
 * next. */
void sim_firmware_settle(struct sim_firmware *firmware);

/* Called by the card. sim_firmware_frame() takes ownership of the frame;
 * sim_firmware_ready() says that a rail has room. */
void sim_firmware_frame(struct sim_firmware *firmware, unsigned rail,
			struct sim_frame *frame);
void sim_firmware_ready(struct sim_firmware *firmware, unsigned rail);
/* Tells the core the parameters of a rail, and whether the cable is
 * plugged in. */
void sim_firmware_rail(struct sim_firmware *firmware, unsigned rail);
/* A pending dma() has finished. */
void sim_firmware_moved(struct sim_firmware *firmware,
			enum bcl_dma_direction direction, uint32_t cookie,
			enum bcl_dma_result result);

static inline uint64_t sim_firmware_now(const struct sim_firmware *firmware)
{
	return firmware->card->clock->now;
}

/* ---- hal.c ---- */

extern const struct bcl_hal sim_hal;

/* The node with this index, to which the core has assigned `card`. */
struct sim_node *sim_node_make(struct sim_firmware *firmware, uint32_t index,
			       uint64_t card);
/* Wakes the owner of the port in the seat: there is something to see. */
void sim_wake(const struct bcl_host_seat *seat);

/* ---- move.c: memory accesses of struct bcl_hal ---- */

int sim_hal_allowed(void *firmware, enum bcl_dma_direction direction,
		    uint16_t port, const struct bcl_memref *ref);
enum bcl_dma_result sim_hal_atomic(void *firmware, enum bcl_atomic_op op,
				   uint16_t port, const struct bcl_memref *ref,
				   const uint64_t operand[2], uint64_t *old);
enum bcl_dma_result sim_hal_dma(void *firmware,
				enum bcl_dma_direction direction, uint16_t port,
				int remote, const struct bcl_memref *ref,
				void *card, uint32_t cookie);
void sim_hal_event(void *firmware, uint16_t port, enum bcl_queue queue,
		   uint32_t slot, const struct bcl_completion *entry);

/* Transfers to and from the port will have no effect on the host. */
void sim_moves_drop(struct sim_firmware *firmware,
		    const struct bcl_host_seat *seat);
/* Ends all transfers; the core is not told. */
void sim_moves_end(struct sim_firmware *firmware);
struct bcl_host_seat *sim_seat_find(struct sim_firmware *firmware,
				    uint16_t number);

/* The handle of an area, from 1 on. */
static inline uint32_t sim_area_handle(const struct bcl_host_seat *seat,
				       enum bcl_area area)
{
	return 1 + (uint32_t)(seat - seat->firmware->seats) * SIM_AREAS + area;
}

#endif
