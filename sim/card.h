/* SPDX-License-Identifier: MIT */
/*
 * The hardware of a simulated network card. A processor does one task after
 * another. A DMA engine moves data in each direction. Rails are ports of the
 * fabric, each with a queue of outgoing frames. A card may have several units:
 * each unit is a processor with two engines, and rails are dealt out to units
 * in turn.
 *
 * The ranks of a node share the card of the node, and each rank has firmware of
 * its own on the card (firmware.h). Frames between ranks of a node pass from
 * queue to queue inside the card. The queue of received frames that wait for
 * the processor has no bound: the fabric loses frames, a card does not.
 */
#ifndef SIM_CARD_H
#define SIM_CARD_H

#include "nicfw/hal.h"
#include "sim/costs.h"
#include "sim/fabric.h"

/* A task for the processor, embedded in the object that it serves. */
struct sim_task {
	struct sim_task *next;
	void (*run)(struct sim_task *task);
	uint64_t takes; /* ns that the processor takes before `run` */
	unsigned unit;	/* the unit that runs the task */
	bool queued;
};

struct sim_card;
struct sim_firmware;

struct sim_card_rail {
	struct sim_card *card;
	uint32_t port;	  /* of the fabric */
	unsigned leaving; /* frames accepted that have not left yet */
	unsigned first;	  /* rotates which firmware hears first that there is
			   * room */
	bool unplugged;
};

struct sim_unit {
	struct sim_card *card;
	struct sim_event turn;
	struct sim_task *first, **last;
	struct sim_task *current; /* runs when `turn` fires */
	uint64_t busy;		  /* the processor is busy until then */
	uint64_t engine[2];	  /* the engine is busy until then; by enum
				   * bcl_dma_direction */
};

struct sim_card {
	struct sim_clock *clock;
	struct sim_fabric *fabric;
	const struct sim_card_costs *costs;
	struct sim_unit unit[BCL_RAILS_MAX];
	unsigned nrails;
	struct sim_card_rail rail[BCL_RAILS_MAX];
	struct sim_firmware **firmware; /* one per rank of the node */
	unsigned nfirmware;
	struct bcl_card_peaks peaks; /* sum over firmware that has closed */
	unsigned times;		     /* factor by which the card is slower than
				      * normal */
	bool off;		     /* arriving frames are lost */
};

void sim_card_open(struct sim_card *card, struct sim_clock *clock,
		   struct sim_fabric *fabric,
		   const struct sim_card_costs *costs, unsigned nranks);
void sim_card_close(struct sim_card *card);
/* Adds a rail at a port of the fabric. */
void sim_card_rail(struct sim_card *card, uint32_t port);

/* The unit that serves a rail. */
static inline unsigned sim_card_unit(const struct sim_card *card, unsigned rail)
{
	return card->costs->units ? rail % card->costs->units : 0;
}

/* Queues a task behind all tasks that wait for the processor. Does nothing if
 * the task is queued already. */
void sim_card_do(struct sim_card *card, struct sim_task *task);
/* True if no task waits for the processor of the rail. */
static inline bool sim_card_idle(const struct sim_card *card, unsigned rail)
{
	return !card->unit[sim_card_unit(card, rail)].first;
}

/* Takes a task out of the queue. */
void sim_card_forget(struct sim_card *card, struct sim_task *task);

/*
 * Has an engine of a unit move `length` bytes after all earlier moves; the
 * start of a move overlaps earlier moves. Returns the time when the bytes are
 * moved.
 */
uint64_t sim_card_move(struct sim_card *card, unsigned unit,
		       enum bcl_dma_direction direction, uint32_t length);

/*
 * The processor sends a frame. If the result is true, the card owns the frame.
 * Returns false if too many frames are leaving by the rail; the card calls
 * sim_firmware_ready() when there is room.
 */
bool sim_card_send(struct sim_card *card, unsigned rail,
		   struct sim_frame *frame);
/* Tells the firmware that the cable of a rail is plugged in, or is not. */
void sim_card_plug(struct sim_card *card, unsigned rail, bool in);
/*
 * Turns the power off or on. The caller has closed the firmware before. Frames
 * that wait for the processor are lost, and so are frames that arrive before
 * the power is on.
 */
void sim_card_power(struct sim_card *card, bool on);
/* A frame has arrived at the card, which owns the frame from now on. */
void sim_card_arrived(struct sim_card *card, struct sim_frame *frame);

#endif
