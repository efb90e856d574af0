/* SPDX-License-Identifier: MIT */
/*
 * The card core (nicfw/) on a simulated card, for one context. The core runs
 * without BCL_HAL_GATHER: what it moves over the bus is PENDING until an engine
 * has done it, an event, too.
 *
 * Requests and a port's indices lie on the card: the host writes them there,
 * and is charged for requests, and for messages when it takes them. A port's
 * owner sees an event when it lands, as one does that polls its memory, whether
 * it sleeps in the simulation or not.
 */
#ifndef SIM_FIRMWARE_H
#define SIM_FIRMWARE_H

#include "sim/card.h"
#include "sim/trace.h"
#include "sim/world.h"
#include "transport/card/ops.h"
#include "transport/context.h"

enum {
	SIM_PORTS = 4, /* per context */
	SIM_AREAS = 8, /* handles per port */
};

/* The bounds of a core: memory of each rank. */
struct sim_firmware_limits {
	uint32_t nodes, connections;
	uint32_t messages; /* under way: a power of two, 16 or more */
	uint32_t channels;
};

struct sim_address {
	uint32_t port;
	uint16_t firmware;
};

/* What is known of a node: its index is the core's. */
struct sim_node {
	struct bcl_host_node shown;
	struct sim_address address[BCL_RAILS_MAX];
};

struct bcl_host_seat {
	struct sim_task doorbell;
	struct sim_firmware *firmware;
	struct bcl_port *port; /* NULL: free */
	uint32_t written;      /* requests that the card has been told of */
	struct bcl_host_area areas[BCL_HOST_AREAS];
};

/* A rail that may take frames again. */
struct sim_ready {
	struct sim_task task;
	struct sim_firmware *firmware;
	bool blocked; /* it took less than it was offered */
};

struct sim_move;
struct sim_held;

struct sim_firmware {
	struct bcl_host base;
	struct sim_world *world;
	struct sim_card *card;
	uint64_t card_id; /* stays from one life to the next */
	const struct sim_host_costs *costs;
	struct bcl_context *context;
	unsigned rank;	/* of the world */
	unsigned place; /* in card->firmware[] */

	struct bcl_card *core;
	struct bcl_card_next next;
	struct sim_event deadline;
	struct sim_task timer;
	struct sim_ready ready[BCL_RAILS_MAX];
	void *arena;
	uint32_t arena_size;

	struct sim_move *moves; /* by the engines, in no order */
	uint32_t stores;	/* of these, payload for the host */
	uint32_t stores_most;	/* more frames wait until there are less */
	struct sim_held *held, **held_last;

	/* the frame that is being handled */
	const struct sim_address *source; /* NULL: there is none */
	unsigned source_rail;
	/* the node that a CONNECT in progress is about; by rail */
	const struct sim_address *connecting;
	struct sim_node *nodes;
	uint32_t nnodes;
	struct bcl_host_seat seats[SIM_PORTS];
	struct sim_trace trace;
};

/* ---- firmware.c ---- */

/* False: no memory for the core. */
bool sim_firmware_open(struct sim_firmware *firmware,
		       const struct sim_firmware_limits *limits);
void sim_firmware_close(struct sim_firmware *firmware);
/* The core was called: do what it wants next. */
void sim_firmware_settle(struct sim_firmware *firmware);

/* From the hardware. A frame for it, which is its own then; a rail has room. */
void sim_firmware_frame(struct sim_firmware *firmware, unsigned rail,
			struct sim_frame *frame);
void sim_firmware_ready(struct sim_firmware *firmware, unsigned rail);
/* The core is told of a rail, and whether its cable is there. */
void sim_firmware_rail(struct sim_firmware *firmware, unsigned rail);
/* A dma() that was pending is over. */
void sim_firmware_moved(struct sim_firmware *firmware,
			enum bcl_dma_direction direction, uint32_t cookie,
			enum bcl_dma_result result);

static inline uint64_t sim_firmware_now(const struct sim_firmware *firmware)
{
	return firmware->card->clock->now;
}

/* ---- hal.c ---- */

extern const struct bcl_hal sim_hal;

/* The node of this index, which the core gave to `card`. */
struct sim_node *sim_node_make(struct sim_firmware *firmware, uint32_t index,
			       uint64_t card);
/* The port's owner has something to see. */
void sim_wake(struct sim_firmware *firmware, struct bcl_port *port);

/* ---- move.c: memory, as struct bcl_hal has it ---- */

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

/* What is on its way to or from this port does not get there. */
void sim_moves_drop(struct sim_firmware *firmware,
		    const struct bcl_host_seat *seat);
/* Nothing does, and the core will not be told. */
void sim_moves_end(struct sim_firmware *firmware);
struct bcl_host_seat *sim_seat_find(struct sim_firmware *firmware,
				    uint16_t number);

/* The handle of an area, from 1 on. */
static inline uint32_t sim_area_handle(const struct bcl_host_seat *seat,
				       enum bcl_host_area_kind area)
{
	return 1 + (uint32_t)(seat - seat->firmware->seats) * SIM_AREAS + area;
}

#endif
