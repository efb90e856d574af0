/* SPDX-License-Identifier: MIT */
/*
 * Long vectors in pieces: from the root's node to the other nodes' leaders in
 * as few rounds as possible (circulant.h), or back. What a leader has it passes
 * on inside its node, or collects there, while the next pieces travel.
 */
#include "collectives/builders.h"
#include "collectives/circulant.h"

struct pipeline {
	struct bcl_schedule *schedule;
	unsigned root;	/* rank that speaks for the own node */
	bool speaks;	/* it is the own rank */
	unsigned shift; /* the group's place of the plan's member 0 */
	struct bcl_group leaders;
	struct bcl_circulant plan;
	size_t length, piece;
};

static void init(struct pipeline *pipeline, struct bcl_schedule *schedule,
		 const struct bcl_call *call, size_t piece, size_t element)
{
	const struct bcl_team *team = schedule->team;
	const struct bcl_layout *layout = &team->layout;
	unsigned n = layout->nnodes, root_node = layout->node[call->root];
	size_t least = call->length / BCL_PIPELINE_PIECES;

	if (piece < least)
		piece = least;
	piece = piece > element ? piece - piece % element : element;
	*pipeline = (struct pipeline){
		.schedule = schedule,
		.root = root_node == team->my_node
				? call->root
				: bcl_layout_leader(layout, team->my_node),
		.shift = root_node,
		.leaders = bcl_group_leaders(team, call->root),
		.length = call->length,
		.piece = piece,
	};
	pipeline->speaks = team->rank == pipeline->root;
	bcl_circulant_init(&pipeline->plan, n,
			   (team->my_node + n - root_node) % n,
			   (unsigned)((call->length + piece - 1) / piece));
}

static unsigned rank_of(const struct pipeline *pipeline, unsigned member)
{
	unsigned n = pipeline->plan.size;

	return bcl_group_rank(&pipeline->leaders,
			      (member + pipeline->shift) % n);
}

static size_t begin_of(const struct pipeline *pipeline, int i)
{
	return (size_t)i * pipeline->piece;
}

static size_t length_of(const struct pipeline *pipeline, int i)
{
	return bcl_least(pipeline->piece,
			 pipeline->length - begin_of(pipeline, i));
}

static void send(const struct pipeline *pipeline, unsigned member,
		 const unsigned char *vector, int i)
{
	if (i != BCL_CIRCULANT_NONE)
		bcl_step_send(pipeline->schedule, rank_of(pipeline, member),
			      vector + begin_of(pipeline, i),
			      length_of(pipeline, i));
}

static void receive(const struct pipeline *pipeline, unsigned member,
		    unsigned char *vector, int i)
{
	if (i != BCL_CIRCULANT_NONE)
		bcl_step_receive(pipeline->schedule, rank_of(pipeline, member),
				 vector + begin_of(pipeline, i),
				 length_of(pipeline, i));
}

/* ---- broadcast ----------------------------------------------------------- */

/* Ends a round, beside whose messages it takes place. */
static void pass_on(const struct pipeline *pipeline, unsigned char *vector,
		    int i)
{
	if (i == BCL_CIRCULANT_NONE)
		bcl_step_round(pipeline->schedule);
	else
		bcl_inside_broadcast(pipeline->schedule, pipeline->root,
				     vector + begin_of(pipeline, i),
				     length_of(pipeline, i));
}

/*
 * The root, to which nobody sends a piece, would be through at once, and its
 * pieces in the way of those that are due before: whose turn it would be tells
 * it so.
 */
static void keep_pace(const struct pipeline *pipeline,
		      const struct bcl_circulant_round *round)
{
	if (!pipeline->plan.me)
		bcl_step_receive(pipeline->schedule,
				 rank_of(pipeline, round->from), NULL, 0);
	else if (!round->to)
		bcl_step_send(pipeline->schedule, rank_of(pipeline, 0), NULL,
			      0);
}

void bcl_build_broadcast_pipeline(struct bcl_schedule *schedule,
				  const struct bcl_call *call, size_t piece)
{
	unsigned char *vector = call->receive;
	struct pipeline pipeline;
	int arrived;
	unsigned i;

	init(&pipeline, schedule, call, piece, 1);
	arrived = pipeline.plan.me ? BCL_CIRCULANT_NONE : 0;
	for (i = 0; i < pipeline.plan.rounds; i++) {
		struct bcl_circulant_round round =
			bcl_circulant_round(&pipeline.plan, i);

		if (pipeline.speaks) {
			send(&pipeline, round.to, vector, round.send);
			receive(&pipeline, round.from, vector, round.receive);
			keep_pace(&pipeline, &round);
		}
		pass_on(&pipeline, vector, arrived);
		arrived = round.receive;
		if (!pipeline.plan.me && i + 1 < pipeline.plan.pieces)
			arrived = (int)i + 1;
	}
	pass_on(&pipeline, vector, arrived);
}

/* ---- reduction: the broadcast backwards ---------------------------------- */

struct sum {
	const struct bcl_call *call;
	unsigned char *vector;			 /* of those who speak */
	bool collected[2 * BCL_PIPELINE_PIECES]; /* pieces, inside the node */
};

static void collect(const struct pipeline *pipeline, struct sum *sum, int i)
{
	const struct bcl_call *call = sum->call;
	size_t begin;

	if (i == BCL_CIRCULANT_NONE || sum->collected[i])
		return;
	begin = begin_of(pipeline, i);
	sum->collected[i] = true;
	bcl_inside_reduce_piece(pipeline->schedule, pipeline->root,
				call->send + begin,
				sum->vector ? sum->vector + begin : NULL,
				length_of(pipeline, i), call->reduction);
}

/* What round i needs; ends the one before, beside whose messages it takes
 * place. */
static void collect_for(const struct pipeline *pipeline, struct sum *sum,
			unsigned i)
{
	struct bcl_circulant_round round;

	if (i < pipeline->plan.rounds) {
		round = bcl_circulant_round(&pipeline->plan, i);
		collect(pipeline, sum, round.receive);
		collect(pipeline, sum, round.send);
	}
	bcl_step_round(pipeline->schedule);
}

static void combine(const struct pipeline *pipeline, const struct sum *sum,
		    const unsigned char *arrived, int i)
{
	const struct bcl_reduction *reduction = sum->call->reduction;

	if (i != BCL_CIRCULANT_NONE)
		bcl_step_combine(pipeline->schedule, reduction, arrived,
				 sum->vector + begin_of(pipeline, i),
				 length_of(pipeline, i) / reduction->element);
}

static void begin_sum(const struct pipeline *pipeline, struct sum *sum)
{
	const struct bcl_call *call = sum->call;
	struct bcl_schedule *schedule = pipeline->schedule;
	unsigned i;

	if (pipeline->speaks)
		sum->vector = pipeline->plan.me
				      ? bcl_step_scratch(schedule, call->length)
				      : call->receive;
	if (bcl_inside_pipelines(schedule->team, call->reduction))
		return;
	bcl_inside_reduce(schedule, pipeline->root, call->send, sum->vector,
			  call->length, call->reduction);
	for (i = 0; i < pipeline->plan.pieces; i++)
		sum->collected[i] = true;
}

void bcl_build_reduce_pipeline(struct bcl_schedule *schedule,
			       const struct bcl_call *call, size_t piece)
{
	struct sum sum = { .call = call };
	int before = BCL_CIRCULANT_NONE;
	unsigned char *arrived[2] = { 0 };
	struct pipeline pipeline;
	unsigned i;

	init(&pipeline, schedule, call, piece, call->reduction->element);
	begin_sum(&pipeline, &sum);
	for (i = 0; i < 2 && pipeline.speaks; i++)
		arrived[i] = bcl_step_scratch(schedule, pipeline.piece);
	collect_for(&pipeline, &sum, pipeline.plan.rounds - 1);
	for (i = pipeline.plan.rounds; i-- > 0;) {
		struct bcl_circulant_round round =
			bcl_circulant_round(&pipeline.plan, i);

		if (pipeline.speaks) {
			combine(&pipeline, &sum, arrived[!(i % 2)], before);
			send(&pipeline, round.from, sum.vector, round.receive);
			if (round.send != BCL_CIRCULANT_NONE)
				bcl_step_receive(
					schedule, rank_of(&pipeline, round.to),
					arrived[i % 2],
					length_of(&pipeline, round.send));
			before = round.send;
		}
		collect_for(&pipeline, &sum, i - 1);
	}
	if (pipeline.speaks)
		combine(&pipeline, &sum, arrived[0], before);
}
