/* SPDX-License-Identifier: MIT */
/*
 * Long vectors in pieces: from the root's node to the other nodes' leaders in
 * as few rounds as possible (circulant.h), or back. What a leader has it passes
 * on inside its node, or collects there, while the next pieces travel.
 *
 * Rounds overlap, as far as they can: the piece that is sent in one must have
 * come, or be summed up, and all that came two rounds before. The latter keeps
 * those who have nothing to wait for from being ahead of the others, with
 * pieces that are in the way of those due before.
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
	unsigned n = layout->nnodes,
		 root_node = bcl_layout_node(layout, call->root);
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

static void await(const struct pipeline *pipeline, unsigned i)
{
	bcl_step_await(pipeline->schedule, bcl_round_lane(i));
}

/* ---- broadcast ----------------------------------------------------------- */

static void pass_on(const struct pipeline *pipeline, unsigned char *vector,
		    int i)
{
	if (i != BCL_CIRCULANT_NONE &&
	    bcl_inside_pipelines(pipeline->schedule->team, NULL))
		bcl_inside_broadcast(pipeline->schedule, pipeline->root,
				     vector + begin_of(pipeline, i),
				     length_of(pipeline, i));
}

/*
 * The root, to which nobody sends a piece, would not wait for anybody: whose
 * turn it would be tells it so.
 */
static void post(const struct pipeline *pipeline, unsigned char *vector,
		 unsigned i)
{
	struct bcl_circulant_round round;

	if (i >= pipeline->plan.rounds)
		return;
	round = bcl_circulant_round(&pipeline->plan, i);
	bcl_step_lane(pipeline->schedule, bcl_round_lane(i));
	if (pipeline->plan.me)
		receive(pipeline, round.from, vector, round.receive);
	else
		bcl_step_receive(pipeline->schedule,
				 rank_of(pipeline, round.from), NULL, 0);
	bcl_step_lane(pipeline->schedule, 0);
}

/* Round i of who speaks, up to where the next one's piece can be sent. */
static void broadcast_round(const struct pipeline *pipeline,
			    unsigned char *vector, unsigned i)
{
	struct bcl_circulant_round round =
		bcl_circulant_round(&pipeline->plan, i);

	if (!i)
		post(pipeline, vector, i);
	post(pipeline, vector, i + 1);
	if (i >= BCL_ROUND_LAG)
		await(pipeline, i - BCL_ROUND_LAG);
	if (i && pipeline->plan.me && round.send != BCL_CIRCULANT_NONE &&
	    round.send == bcl_circulant_round(&pipeline->plan, i - 1).receive)
		await(pipeline, i - 1);
	send(pipeline, round.to, vector, round.send);
	if (pipeline->plan.me && !round.to)
		bcl_step_send(pipeline->schedule, rank_of(pipeline, 0), NULL,
			      0);
}

void bcl_build_broadcast_pipeline(struct bcl_schedule *schedule,
				  const struct bcl_call *call, size_t piece)
{
	unsigned char *vector = call->receive;
	struct pipeline pipeline;
	unsigned i, rounds;

	init(&pipeline, schedule, call, piece, 1);
	rounds = pipeline.plan.rounds;
	for (i = 0; i < rounds + BCL_ROUND_LAG; i++) {
		if (pipeline.speaks && i < rounds)
			broadcast_round(&pipeline, vector, i);
		else if (pipeline.speaks)
			await(&pipeline, i - BCL_ROUND_LAG);
		if (!pipeline.plan.me && i < pipeline.plan.pieces)
			pass_on(&pipeline, vector, (int)i);
		if (pipeline.plan.me && i >= BCL_ROUND_LAG)
			pass_on(&pipeline, vector,
				bcl_circulant_round(&pipeline.plan,
						    i - BCL_ROUND_LAG)
					.receive);
	}
	if (bcl_inside_pipelines(schedule->team, NULL))
		return;
	bcl_step_round(schedule);
	bcl_inside_broadcast(schedule, pipeline.root, vector, call->length);
}

/* ---- reduction: the broadcast backwards ---------------------------------- */

struct sum {
	const struct bcl_call *call;
	unsigned char *vector;			   /* of those who speak */
	unsigned char *arrived[BCL_ROUND_LAG + 1]; /* in the last rounds */
	bool collected[2 * BCL_PIPELINE_PIECES];   /* pieces, inside the node */
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

/* Round i, backwards. */
static struct bcl_circulant_round round_of(const struct pipeline *pipeline,
					   unsigned i)
{
	return bcl_circulant_round(&pipeline->plan,
				   pipeline->plan.rounds - 1 - i);
}

/* What has come in a round is of this piece. */
static int piece_in(const struct pipeline *pipeline, unsigned i)
{
	return round_of(pipeline, i).send;
}

static void post_sum(const struct pipeline *pipeline, const struct sum *sum,
		     unsigned i)
{
	int piece;

	if (i >= pipeline->plan.rounds)
		return;
	piece = piece_in(pipeline, i);
	bcl_step_lane(pipeline->schedule, bcl_round_lane(i));
	if (piece != BCL_CIRCULANT_NONE)
		bcl_step_receive(pipeline->schedule,
				 rank_of(pipeline, round_of(pipeline, i).to),
				 sum->arrived[i % (BCL_ROUND_LAG + 1)],
				 length_of(pipeline, piece));
	bcl_step_lane(pipeline->schedule, 0);
}

static void combine(const struct pipeline *pipeline, const struct sum *sum,
		    unsigned i)
{
	const struct bcl_reduction *reduction = sum->call->reduction;
	int piece = piece_in(pipeline, i);

	await(pipeline, i);
	if (piece != BCL_CIRCULANT_NONE)
		bcl_step_combine(pipeline->schedule, reduction,
				 sum->arrived[i % (BCL_ROUND_LAG + 1)],
				 sum->vector + begin_of(pipeline, piece),
				 length_of(pipeline, piece) /
					 reduction->element);
}

/* Is what comes in round i - 1 sent on in round i? */
static bool follows(const struct pipeline *pipeline, unsigned i)
{
	int piece = round_of(pipeline, i).receive;

	return i && piece != BCL_CIRCULANT_NONE &&
	       piece == piece_in(pipeline, i - 1);
}

/* Round i of who speaks, up to where the next one's piece can be sent. */
static void reduce_round(const struct pipeline *pipeline, const struct sum *sum,
			 unsigned i)
{
	struct bcl_circulant_round round = round_of(pipeline, i);

	if (!i)
		post_sum(pipeline, sum, i);
	if (i >= BCL_ROUND_LAG && !follows(pipeline, i - 1))
		combine(pipeline, sum, i - BCL_ROUND_LAG);
	if (follows(pipeline, i))
		combine(pipeline, sum, i - 1);
	post_sum(pipeline, sum, i + 1);
	send(pipeline, round.from, sum->vector, round.receive);
}

static void begin_sum(const struct pipeline *pipeline, struct sum *sum)
{
	const struct bcl_call *call = sum->call;
	struct bcl_schedule *schedule = pipeline->schedule;
	unsigned i;

	if (pipeline->speaks) {
		sum->vector = pipeline->plan.me
				      ? bcl_step_scratch(schedule, call->length)
				      : call->receive;
		for (i = 0; i < BCL_ROUND_LAG + 1; i++)
			sum->arrived[i] =
				bcl_step_scratch(schedule, pipeline->piece);
	}
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
	struct pipeline pipeline;
	unsigned i, rounds;

	init(&pipeline, schedule, call, piece, call->reduction->element);
	rounds = pipeline.plan.rounds;
	begin_sum(&pipeline, &sum);
	for (i = 0; i < rounds; i++) {
		struct bcl_circulant_round round = round_of(&pipeline, i);

		collect(&pipeline, &sum, round.receive);
		collect(&pipeline, &sum, round.send);
		if (pipeline.speaks)
			reduce_round(&pipeline, &sum, i);
	}
	if (!pipeline.speaks)
		return;
	for (i = rounds > BCL_ROUND_LAG ? rounds - BCL_ROUND_LAG : 0;
	     i < rounds; i++)
		if (i + 1 == rounds || !follows(&pipeline, i + 1))
			combine(&pipeline, &sum, i);
}
