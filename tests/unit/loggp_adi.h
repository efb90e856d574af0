/* SPDX-License-Identifier: MIT */
/*
 * The functions of the ADI that collectives use, in virtual time on a machine
 * in the LogGP model: the engine below coll_loggp.h.
 */
#ifndef BCL_TESTS_LOGGP_ADI_H
#define BCL_TESTS_LOGGP_ADI_H

#include "adi/internal.h"
#include "collectives/team.h"
#include "sim/bounds/bound.h"
#include "sim/clock.h"
#include "tests/unit/coll_segment.h"
#include "transport/card/ops.h"
#include "transport/context.h"

struct message;
struct receive;

/* Times are in ps, so that a byte's is a whole number. */
struct loggp_net {
	uint64_t latency, send, receive, gap, byte;
};

struct loggp_card {
	uint64_t out_free, in_free;
};

struct bcl_adi {
	struct loggp_world *world;
	unsigned rank;
	struct bcl_context context;
	struct bcl_counter_page counters;
	struct bcl_adi_client *client;
	struct loggp_card *card;
	struct bcl_team team;
	struct bcl_adi_schedule *schedule; /* that runs */

	struct sim_event turn; /* of the processor */
	uint64_t free;	       /* it has work until then */
	uint64_t port_free;    /* for messages inside the node */
	struct message *arrived, *in_hand;
	struct message *unexpected;
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

/* What ranks find around them. */
void loggp_env_init(struct loggp_world *world);
/* What the processor does when it has time: a client of world->clock. */
void loggp_turn(struct sim_event *event);
/* There is something for it to do. */
void loggp_attend(struct bcl_adi *adi);

static inline uint64_t loggp_later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

#endif
