/* SPDX-License-Identifier: MIT */
#include "tests/unit/coll_loggp.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/call.h"
#include "sim/fail.h"
#include "tests/unit/loggp_adi.h"

enum {
	EAGER_MAX = 4096, /* bytes */
};

/* ---- the segment's time: coll_segment.h ---------------------------------- */

static struct bcl_adi *member(struct loggp_world *world,
			      const struct bcl_node *node, unsigned i)
{
	size_t number =
		(size_t)((struct coll_segment *)node->flags - world->segments);

	return &world->ranks[number * world->machine.ranks + i];
}

static struct loggp_world *world_of(const struct bcl_node *node)
{
	return ((const struct bcl_team *)(const void *)((const char *)node -
							offsetof(
								struct bcl_team,
								node)))
		->adi->world;
}

void coll_segment_write(const struct bcl_node *node, uint64_t phase,
			size_t bytes)
{
	struct loggp_world *world = world_of(node);
	struct bcl_adi *adi = member(world, node, node->me);
	struct coll_segment *segment = (struct coll_segment *)node->flags;
	unsigned slot = phase % COLL_SEGMENT_PHASES, i;

	adi->free = loggp_later(adi->free, world->clock.now) +
		    world->inside.send + bytes * world->inside.byte;
	segment->ready[slot][node->me].phase = phase;
	segment->ready[slot][node->me].time = adi->free + world->inside.latency;
	for (i = 0; i < node->members; i++)
		if (i != node->me)
			loggp_attend(member(world, node, i));
}

bool coll_segment_read(const struct bcl_node *node, unsigned from,
		       uint64_t phase, size_t bytes)
{
	struct loggp_world *world = world_of(node);
	struct bcl_adi *adi = member(world, node, node->me);
	struct coll_segment *segment = (struct coll_segment *)node->flags;
	unsigned slot = phase % COLL_SEGMENT_PHASES;

	sim_check(segment->ready[slot][from].phase <= phase, "phases");
	if (segment->ready[slot][from].phase != phase)
		return false;
	adi->free = loggp_later(adi->free, segment->ready[slot][from].time) +
		    world->inside.receive + bytes * world->inside.byte;
	return true;
}

/* ---- the world ----------------------------------------------------------- */

static struct loggp_net net_of(const struct sim_loggp *net)
{
	const double ps = 1e6;

	return (struct loggp_net){
		.latency = (uint64_t)(int64_t)(net->latency * ps),
		.send = (uint64_t)(net->send * ps),
		.receive = (uint64_t)(net->receive * ps),
		.gap = (uint64_t)(net->gap * ps),
		.byte = (uint64_t)(net->byte * ps),
	};
}

/* Sets up the rank's team like bcl_team_world(), but all ranks share the equal
 * parts. */
static void init_rank(struct loggp_world *world, unsigned rank)
{
	struct bcl_adi *adi = &world->ranks[rank];
	unsigned ranks = world->machine.ranks, node = rank / ranks;

	adi->world = world;
	adi->rank = rank;
	adi->context.config.eager_max = EAGER_MAX;
	adi->context.config.peer_timeout = 30000000000;
	adi->card = &world->cards[node];
	adi->turn.call = loggp_turn;
	adi->team = (struct bcl_team){
		.adi = adi,
		.counters = &adi->counters,
		.rank = rank,
		.size = world->size,
		.ranks = world->numbers,
		.sequence_mask = BCL_TEAM_TAG_SEQUENCE,
		.my_node = node,
		.my_member = rank % ranks,
		.layout = world->layout,
		.shares = ranks > 1,
	};
	bcl_node_init(&adi->team.node, rank % ranks, ranks,
		      &world->segments[node]);
}

static void choose(struct loggp_world *world)
{
	struct bcl_team *first_team = &world->ranks[0].team;
	struct bcl_model model;
	unsigned i;

	bcl_model_init(&model, first_team);
	bcl_model_measure(&model, first_team, 0);
	bcl_choices_init(&first_team->choices, &model);
	for (i = 1; i < world->size; i++)
		world->ranks[i].team.choices = first_team->choices;
}

struct loggp_world *loggp_open(const struct sim_machine *machine)
{
	struct loggp_world *world = sim_need(calloc(1, sizeof(*world)));
	unsigned size = machine->nodes * machine->ranks, i;
	uint64_t *hosts = sim_need(calloc(size, sizeof(*hosts)));

	sim_check(machine->ranks <= COLL_SEGMENT_MEMBERS, "ranks of a node");
	world->machine = *machine;
	loggp_env_init(world);
	world->inside = net_of(&machine->inside);
	world->between = net_of(&machine->between);
	world->size = size;
	world->ranks = sim_need(calloc(size, sizeof(*world->ranks)));
	world->cards = sim_need(calloc(machine->nodes, sizeof(*world->cards)));
	world->segments =
		sim_need(calloc(machine->nodes, sizeof(*world->segments)));
	world->numbers = sim_need(malloc(size * sizeof(*world->numbers)));
	for (i = 0; i < size; i++) {
		world->numbers[i] = i;
		hosts[i] = i / machine->ranks;
	}
	sim_check(bcl_layout_init(&world->layout, hosts, size) == BCL_OK,
		  "layout");
	free(hosts);
	sim_clock_open(&world->clock, 0);
	for (i = 0; i < size; i++)
		init_rank(world, i);
	choose(world);
	return world;
}

void loggp_close(struct loggp_world *world)
{
	unsigned i;

	for (i = 0; i < world->size; i++)
		bcl_schedule_drain(&world->ranks[i].team);
	sim_clock_close(&world->clock);
	bcl_layout_fini(&world->layout);
	free(world->numbers);
	free(world->segments);
	free(world->cards);
	free(world->ranks);
	free(world->send);
	free(world->receive);
	free(world);
}

/* ---- operations ---------------------------------------------------------- */

/* A shift is no operation of the library but a pattern of messages. */
static enum bcl_status start_shift(struct bcl_team *team, const void *send,
				   void *receive, size_t length,
				   struct bcl_adi_request **request)
{
	struct bcl_schedule *schedule;
	enum bcl_status status = bcl_schedule_get(team, &schedule);

	if (status != BCL_OK)
		return status;
	bcl_step_receive(schedule, (team->rank + team->size - 1) % team->size,
			 receive, length);
	bcl_step_send(schedule, (team->rank + 1) % team->size, send, length);
	return bcl_schedule_start(schedule, request);
}

static enum bcl_status start(struct loggp_world *world, struct bcl_team *team,
			     enum sim_operation operation, size_t length,
			     struct bcl_adi_request **request)
{
	const struct bcl_reduction *sum = bcl_reduction(BCL_SUM, BCL_UINT64);
	unsigned char *send = world->send, *receive = world->receive;
	size_t count = length / sizeof(uint64_t);

	switch (operation) {
	case SIM_BROADCAST:
		return bcl_ibroadcast(team, receive, length, 0, request);
	case SIM_REDUCE:
		return bcl_ireduce(team, send, receive, count, sum, 0, request);
	case SIM_ALLREDUCE:
		return bcl_iallreduce(team, send, receive, count, sum, request);
	case SIM_SCATTER:
		return bcl_iscatter(team, send, receive, length, 0, request);
	case SIM_GATHER:
		return bcl_igather(team, send, length, receive, 0, request);
	case SIM_SHIFT:
		return start_shift(team, send, receive, length, request);
	case SIM_ALLTOALL:
		return bcl_ialltoall(team, send, receive, length, request);
	default:
		return bcl_ibarrier(team, request);
	}
}

/* All ranks share the same memory: the contents do not matter. */
static void make_room(struct loggp_world *world, enum sim_operation operation,
		      size_t length)
{
	bool blocks = operation == SIM_SCATTER || operation == SIM_GATHER ||
		      operation == SIM_ALLTOALL;
	size_t room = blocks ? length * world->size : length;

	if (room <= world->room)
		return;
	free(world->send);
	free(world->receive);
	world->send = sim_need(calloc(1, room));
	world->receive = sim_need(calloc(1, room));
	world->room = room;
}

double loggp_time(struct loggp_world *world, enum sim_operation operation,
		  size_t length)
{
	struct bcl_adi_request *request;
	uint64_t begin = world->clock.now, end = begin;
	unsigned i;

	make_room(world, operation, length);
	memset(world->cards, 0, world->machine.nodes * sizeof(*world->cards));
	for (i = 0; i < world->size; i++) {
		struct bcl_adi *adi = &world->ranks[i];

		adi->free = adi->port_free = 0;
		sim_check(start(world, &adi->team, operation, length,
				&request) == BCL_OK,
			  "an operation begins");
	}
	while (sim_clock_next(&world->clock) != UINT64_MAX)
		sim_clock_step(&world->clock);
	sim_check(!world->running, "an operation ends");
	for (i = 0; i < world->size; i++) {
		struct bcl_adi *adi = &world->ranks[i];

		sim_check(!adi->unexpected && !adi->receives,
			  "all messages are received");
		end = loggp_later(end, adi->free);
	}
	world->clock.now = end;
	return (double)(end - begin) / 1e6;
}

static const enum bcl_operation operations[SIM_OPERATIONS] = {
	[SIM_BARRIER] = BCL_OPERATION_BARRIER,
	[SIM_BROADCAST] = BCL_OPERATION_BROADCAST,
	[SIM_REDUCE] = BCL_OPERATION_REDUCE,
	[SIM_ALLREDUCE] = BCL_OPERATION_ALLREDUCE,
	[SIM_SCATTER] = BCL_OPERATION_SCATTER,
	[SIM_GATHER] = BCL_OPERATION_GATHER,
	[SIM_ALLTOALL] = BCL_OPERATION_ALLTOALL,
};

const char *loggp_algorithm(const struct loggp_world *world,
			    enum sim_operation operation, size_t length)
{
	if (operation == SIM_SHIFT)
		return "shift";
	return bcl_choice(&world->ranks[0].team.choices, operations[operation],
			  false, length)
		->name;
}

bool loggp_force(struct loggp_world *world, enum sim_operation operation,
		 const char *name)
{
	unsigned i;

	for (i = 0; i < world->size; i++)
		if (bcl_team_force(&world->ranks[i].team, operations[operation],
				   name) != BCL_OK)
			return false;
	return true;
}
