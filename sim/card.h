/* SPDX-License-Identifier: MIT */
/*
 * The hardware of a simulated network card: a processor, which does one thing
 * after the other; a DMA engine for each direction; and rails, which are ports
 * of the fabric with a queue of frames that are to leave. Or several of them:
 * then each unit is a processor with its engines, and rails take them in turn.
 *
 * The ranks of a node share its card; each has firmware of its own on it
 * (firmware.h). Frames between these go from queue to queue inside the card.
 * Frames that have come wait for the processor without end: the fabric loses
 * frames, a card does not.
 */
#ifndef SIM_CARD_H
#define SIM_CARD_H

#include "nicfw/hal.h"
#include "sim/costs.h"
#include "sim/fabric.h"

/* Something for the processor, part of whatever it is about. */
struct sim_task {
	struct sim_task *next;
	void (*run)(struct sim_task *task);
	uint64_t takes; /* ns, before `run` */
	unsigned unit;	/* who does it */
	bool queued;
};

struct sim_card;
struct sim_firmware;

struct sim_card_rail {
	struct sim_card *card;
	uint32_t port;	  /* of the fabric */
	unsigned leaving; /* frames taken that have not left */
	unsigned first;	  /* who is told first that there is room, in turn */
	bool unplugged;
};

struct sim_unit {
	struct sim_card *card;
	struct sim_event turn;
	struct sim_task *first, **last;
	struct sim_task *current; /* will run when `turn` comes */
	uint64_t busy;		  /* the processor is, until then */
	uint64_t engine[2];	  /* likewise; by enum bcl_dma_direction */
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
	struct bcl_card_peaks peaks; /* of firmware that is closed, added up */
	unsigned times;		     /* as slow as others */
	bool off;		     /* what comes is lost */
};

void sim_card_open(struct sim_card *card, struct sim_clock *clock,
		   struct sim_fabric *fabric,
		   const struct sim_card_costs *costs, unsigned nranks);
void sim_card_close(struct sim_card *card);
/* One more rail, at this port. */
void sim_card_rail(struct sim_card *card, uint32_t port);

/* Whose rail that is. */
static inline unsigned sim_card_unit(const struct sim_card *card, unsigned rail)
{
	return card->costs->units ? rail % card->costs->units : 0;
}

/* Behind all that waits for the processor; a task that waits already does so
 * only once. */
void sim_card_do(struct sim_card *card, struct sim_task *task);
/* Nothing waits for the processor of that rail. */
static inline bool sim_card_idle(const struct sim_card *card, unsigned rail)
{
	return !card->unit[sim_card_unit(card, rail)].first;
}

/* It no longer waits. */
void sim_card_forget(struct sim_card *card, struct sim_task *task);

/* An engine of a unit moves so many bytes, behind what it was asked before,
 * during which it begins: when that is done. */
uint64_t sim_card_move(struct sim_card *card, unsigned unit,
		       enum bcl_dma_direction direction, uint32_t length);

/* The processor sends a frame, which is the card's then. False: too many are
 * leaving by this rail; sim_firmware_ready() follows. */
bool sim_card_send(struct sim_card *card, unsigned rail,
		   struct sim_frame *frame);
/* Firmware is told that a rail's cable is there, or not. */
void sim_card_plug(struct sim_card *card, unsigned rail, bool in);
/* Its power fails: its firmware is closed already, frames that wait for the
 * processor are lost, and those that come, until it is on again. */
void sim_card_power(struct sim_card *card, bool on);
/* A frame has come for the card. */
void sim_card_arrived(struct sim_card *card, struct sim_frame *frame);

#endif
