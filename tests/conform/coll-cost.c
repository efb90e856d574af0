/* SPDX-License-Identifier: MIT */
/*
 * Short collective operations of two ranks of a host, for coll-cost.sh to count
 * instructions. Rank 0 calls each operation from measured(), once rank 1 has
 * done its part, so that rank 0 never waits there.
 * Usage: coll-cost OPERATION plain|persistent|started N
 */
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "collectives/slots.h"
#include "collectives/team.h"
#include "tests/unit/need.h"
#include "transport/boot/fork.h"

static uint64_t one = 1, sum;
static const struct bcl_reduction *add;

static enum bcl_status allreduce(struct bcl_team *team)
{
	return bcl_allreduce(team, &one, &sum, 1, add);
}

static enum bcl_status allreduce_init(struct bcl_team *team,
				      struct bcl_persistent **operation)
{
	return bcl_allreduce_init(team, &one, &sum, 1, add, operation);
}

static uint64_t outs[2], ins[2];

static enum bcl_status scatter(struct bcl_team *team)
{
	return bcl_scatter(team, outs, ins, 8, 1);
}

/* Of blocks of different lengths, which happen to be equal. */
static const size_t lengths[2] = { 8, 8 }, offsets[2] = { 0, 8 };
static const size_t counts[2] = { 1, 1 };

static enum bcl_status gatherv(struct bcl_team *team)
{
	return bcl_gatherv(team, outs, 8, ins, lengths, offsets, 0);
}

static enum bcl_status scatterv(struct bcl_team *team)
{
	return bcl_scatterv(team, outs, lengths, offsets, ins, 8, 1);
}

static enum bcl_status allgatherv(struct bcl_team *team)
{
	return bcl_allgatherv(team, outs, 8, ins, lengths, offsets);
}

static enum bcl_status alltoallv(struct bcl_team *team)
{
	return bcl_alltoallv(team, outs, lengths, offsets, ins, lengths,
			     offsets);
}

static enum bcl_status reduce_scatterv(struct bcl_team *team)
{
	return bcl_reduce_scatterv(team, outs, ins, counts, add);
}

/* init: of those that are persistent here. */
static const struct operation {
	const char *name;
	enum bcl_status (*call)(struct bcl_team *team);
	enum bcl_status (*init)(struct bcl_team *team,
				struct bcl_persistent **operation);
} operations[] = {
	{ "allreduce", allreduce, allreduce_init },
	{ "barrier", bcl_barrier, bcl_barrier_init },
	{ "scatter", scatter, NULL },
	{ "gatherv", gatherv, NULL },
	{ "scatterv", scatterv, NULL },
	{ "allgatherv", allgatherv, NULL },
	{ "alltoallv", alltoallv, NULL },
	{ "reduce_scatterv", reduce_scatterv, NULL },
};

static const struct operation *chosen;
static const char *form;
static unsigned rounds;

/* The other member writes in the next phase, into its flag line or a slot. */
static void await_other(const struct bcl_team *team)
{
	const struct bcl_node *node = &team->node;
	uint64_t phase = node->phase + 1, ready;

	do {
		sched_yield();
		ready = bcl_flag_load(&bcl_slot_of(node, 1, phase)->ready);
	} while (!bcl_flag_arrived(node, 1, phase, 0) &&
		 ready >> BCL_SLOT_LENGTH != phase);
}

static void __attribute__((noinline)) measured(struct bcl_team *team)
{
	need_equal(chosen->call(team), BCL_OK);
}

static void __attribute__((noinline))
measured_run(struct bcl_persistent *operation)
{
	need_equal(bcl_persistent_run(operation), BCL_OK);
}

/* All data is there: the operation is over at once. */
static void __attribute__((noinline))
measured_start(struct bcl_persistent *operation)
{
	struct bcl_adi_request *request;

	need_equal(bcl_persistent_start(operation, &request), BCL_OK);
	need(!request);
}

static int rank_of(unsigned rank, void *argument)
{
	struct bcl_persistent *operation = NULL;
	struct bcl_team *team;
	struct bcl_adi *adi;

	(void)argument;
	need_equal(bcl_adi_open(NULL, &adi), BCL_OK);
	need_equal(bcl_team_world(adi, &team), BCL_OK);
	add = bcl_reduction(BCL_SUM, BCL_UINT64);
	if (chosen->init)
		need_equal(chosen->init(team, &operation), BCL_OK);
	/* rank 0 must not have to wake rank 1 */
	team->can_sleep = false;
	for (unsigned i = 0; i < rounds; i++) {
		if (rank) {
			need_equal(chosen->call(team), BCL_OK);
			continue;
		}
		await_other(team);
		if (!strcmp(form, "plain"))
			measured(team);
		else if (!strcmp(form, "persistent"))
			measured_run(operation);
		else
			measured_start(operation);
	}
	bcl_persistent_free(operation);
	bcl_team_free(team);
	bcl_adi_close(adi);
	return 0;
}

int main(int argc, char **argv)
{
	need_equal(argc, 4);
	for (unsigned i = 0; i < sizeof(operations) / sizeof(*operations); i++)
		if (!strcmp(argv[1], operations[i].name))
			chosen = &operations[i];
	need(chosen);
	form = argv[2];
	rounds = (unsigned)atoi(argv[3]);
	return bcl_boot_job_run(2, rank_of, NULL) != 0;
}
