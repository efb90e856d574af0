/* SPDX-License-Identifier: MIT */
/*
 * The engine below coll_loggp.h: a replacement of the ADI with the functions
 * that the collectives call, in virtual time on a machine in the LogGP model
 * (sim/bounds/bound.h). Messages have lengths but carry no data.
 */
#ifndef BCL_TESTS_LOGGP_ADI_H
#define BCL_TESTS_LOGGP_ADI_H

#include "adi/internal.h"
#include "card/ops.h"
#include "collectives/team.h"
#include "sim/bounds/bound.h"
#include "sim/clock.h"
#include "tests/unit/coll_segment.h"
#include "transport/context.h"

struct message;
struct receive;

/* Costs of messages, as in struct sim_loggp but in ps: the time of a byte is a
 * whole number then. All other times are in ps, too. */
struct loggp_net {
	uint64_t latency, send, receive, gap, byte;
};

/* A node's card, which the ranks of the node share: when the card can begin to
 * send and to receive the next message. */
struct loggp_card {
	uint64_t out_free, in_free;
};

/* A rank. */
struct bcl_adi {
	struct loggp_world *world;
	unsigned rank;
	struct bcl_context context;
	struct bcl_counter_page counters;
	struct bcl_adi_client *client;
	struct loggp_card *card;
	struct bcl_team team;
	struct bcl_adi_schedule *schedule; /* running; NULL: none */

	struct sim_event turn; /* the next loggp_turn() */
	uint64_t free;	       /* end of the processor's work */
	uint64_t port_free;    /* the next message inside the node can leave */
	/* arrived, not received; the processor works on it until `free` */
	struct message *arrived, *in_hand;
	struct message *unexpected; /* received, without a matching receive */
	struct receive *receives;
	struct bcl_adi_target *targets;
};

struct loggp_world {
	struct sim_machine machine;
	struct bcl_host_ops card;
	struct bcl_env env;
	struct loggp_net inside, between;
	struct sim_clock clock;
	unsigned size, running;
	struct bcl_adi *ranks;
	struct loggp_card *cards;
	struct coll_segment *segments;
	uint32_t *numbers;
	struct bcl_layout layout;
	unsigned char *send, *receive;
	size_t room;
};

/* Fills in world->card and world->env, from world->machine. */
void loggp_env_init(struct loggp_world *world);
/*
 * The event of a rank's processor. Called by world->clock: ends the work on the
 * message in hand, advances the schedule, and begins work on the next message.
 */
void loggp_turn(struct sim_event *event);
/* The rank has work: schedules a turn for the time at which the rank's
 * processor is free. */
void loggp_attend(struct bcl_adi *adi);

static inline uint64_t loggp_later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

#endif
