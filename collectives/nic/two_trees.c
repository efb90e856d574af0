/* SPDX-License-Identifier: MIT */
/*
 * Broadcast and reduce of long vectors in pieces, by two trees of the leaders
 * (trees.h, with the source). Piece i goes by tree i % 2. A broadcast among
 * five nodes, with the root on node 0:
 *
 *   pieces 0 2 4 ...    0 -> 4, 4 -> 2, 2 -> 1, 2 -> 3
 *   pieces 1 3 5 ...    0 -> 1, 1 -> 3, 3 -> 4, 3 -> 2
 *
 * There are no rounds. A member sends a piece on when it has come. No member is
 * ahead for long, since each has as much to send as to receive.
 *
 * Work for the tree in which a member is a leaf delays no other member. It is
 * kept out of the way of the other tree: a broadcast waits for such a piece
 * only when the piece should have come, and a reduction sends such a piece
 * before it sums up others. All pieces are put in their places (schedule.h).
 */
#include "collectives/builders.h"
#include "collectives/cost.h"
#include "collectives/nic/nic.h"
#include "collectives/nic/trees.h"

enum {
	HOP = 5, /* pieces that a card sends while one passes an edge */
	LANE = 1,
};

struct trees {
	struct bcl_schedule *schedule;
	struct bcl_group leaders;
	unsigned root;	  /* its node: place in the group */
	unsigned speaker; /* leader of the own node */
	bool speaks;	  /* the caller is the leader */
	bool is_root;	  /* the own node is the root's */
	struct bcl_trees plan;
	unsigned inner; /* the tree in which the caller is no leaf */
	size_t length, piece;
	unsigned pieces;
	unsigned to[2][2]; /* windows of the receivers, by tree and child; 0 for
			      the parent */
};

static unsigned rank_of(const struct trees *trees, int member)
{
	unsigned node = (unsigned)member;

	if (!node)
		node = trees->root;
	else if (node <= trees->root)
		node--;
	return bcl_group_rank(&trees->leaders, node);
}

static size_t begin_of(const struct trees *trees, unsigned i)
{
	return i * trees->piece;
}

static size_t length_of(const struct trees *trees, unsigned i)
{
	return bcl_min_size(trees->piece, trees->length - begin_of(trees, i));
}

static const struct bcl_tree_place *place_of(const struct trees *trees,
					     unsigned i)
{
	return &trees->plan.place[i % trees->plan.trees];
}

static void init(struct trees *trees, struct bcl_schedule *schedule,
		 const struct bcl_call *call, size_t piece, size_t element)
{
	const struct bcl_team *team = schedule->team;
	struct bcl_group leaders = bcl_group_leaders(team, call->root);
	unsigned root = bcl_layout_node(&team->layout, call->root);
	unsigned me = leaders.me;

	piece = bcl_pipeline_piece(call->length, piece, element);
	*trees = (struct trees){
		.schedule = schedule,
		.leaders = leaders,
		.root = root,
		.speaker = bcl_group_rank(&leaders, me),
		.is_root = me == root,
		.length = call->length,
		.piece = piece,
		.pieces = (unsigned)((call->length + piece - 1) / piece),
	};
	trees->speaks = team->rank == trees->speaker;
	/* The root is member 0 of the plan; the other members keep their
	 * order. */
	bcl_trees_init(&trees->plan, leaders.size,
		       me == root  ? 0
		       : me < root ? me + 1
				   : me);
	trees->inner = trees->plan.trees == 2 && trees->plan.place[1].height;
}

/* True if the caller is no leaf in the tree of piece i. */
static bool is_inner(const struct trees *trees, unsigned i)
{
	return trees->is_root || i % trees->plan.trees == trees->inner;
}

/* Call pass() for each piece in order. Pieces for which is_inner() equals
 * `early` go at once, the other pieces `lag` pieces later. */
static void each(const struct trees *trees, bool early, unsigned lag,
		 void (*pass)(const struct trees *trees, void *arg, unsigned i),
		 void *arg)
{
	unsigned i;

	for (i = 0; i < trees->pieces + lag; i++) {
		if (i < trees->pieces && is_inner(trees, i) == early)
			pass(trees, arg, i);
		if (i >= lag && is_inner(trees, i - lag) != early)
			pass(trees, arg, i - lag);
	}
}

/* Wait for a piece from a member. */
static void await_piece(const struct trees *trees, int member)
{
	bcl_step_lane(trees->schedule, LANE);
	bcl_step_receive(trees->schedule, rank_of(trees, member), NULL, 0);
	bcl_step_await(trees->schedule, LANE);
	bcl_step_lane(trees->schedule, 0);
}

/* ---- broadcast ----------------------------------------------------------- */

static void open_broadcast(struct trees *trees, unsigned char *vector)
{
	struct bcl_schedule *schedule = trees->schedule;
	unsigned tree, child, window;

	if (!trees->length)
		return;
	for (tree = 0; tree < trees->plan.trees; tree++) {
		const int *children = trees->plan.place[tree].children;

		for (child = 0; child < 2; child++)
			if (children[child] != BCL_TREES_NONE)
				trees->to[tree][child] = bcl_step_granted(
					schedule,
					rank_of(trees, children[child]));
	}
	if (trees->is_root)
		return;
	window = bcl_step_window(schedule, vector, trees->length);
	for (tree = 0; tree < trees->plan.trees; tree++)
		bcl_step_grant(schedule,
			       rank_of(trees, trees->plan.place[tree].parent),
			       window);
}

static void pass_down(const struct trees *trees, void *arg, unsigned i)
{
	const struct bcl_tree_place *place = place_of(trees, i);
	unsigned char *piece = (unsigned char *)arg + begin_of(trees, i);
	unsigned child;

	if (trees->speaks && !trees->is_root)
		await_piece(trees, place->parent);
	for (child = 0; child < 2 && trees->speaks; child++)
		if (place->children[child] != BCL_TREES_NONE)
			bcl_step_put(trees->schedule,
				     rank_of(trees, place->children[child]),
				     piece, length_of(trees, i),
				     trees->to[i % trees->plan.trees][child],
				     begin_of(trees, i));
	if (bcl_intranode_pipelines(trees->schedule->team, NULL))
		bcl_intranode_broadcast(trees->schedule, trees->speaker, piece,
					length_of(trees, i));
}

void bcl_build_broadcast_trees(struct bcl_schedule *schedule,
			       const struct bcl_call *call, unsigned piece)
{
	unsigned char *vector = call->receive;
	struct trees trees;

	init(&trees, schedule, call, piece, 1);
	if (trees.speaks)
		open_broadcast(&trees, vector);
	each(&trees, true, HOP * trees.plan.height, pass_down, vector);
	if (bcl_intranode_pipelines(schedule->team, NULL))
		return;
	bcl_step_round(schedule);
	bcl_intranode_broadcast(schedule, trees.speaker, vector, call->length);
}

/* ---- reduction: the broadcast backwards ---------------------------------- */

struct sum {
	const struct bcl_call *call;
	unsigned char *vector;	   /* of leaders */
	unsigned char *arrived[2]; /* from either child */
};

static void open_reduce(struct trees *trees, struct sum *sum)
{
	struct bcl_schedule *schedule = trees->schedule;
	const struct bcl_trees *plan = &trees->plan;
	unsigned tree, child, window;

	sum->vector = trees->is_root
			      ? sum->call->receive
			      : bcl_step_scratch(schedule, trees->length);
	if (!trees->length)
		return;
	for (tree = 0; tree < plan->trees && !trees->is_root; tree++)
		trees->to[tree][0] = bcl_step_granted(
			schedule, rank_of(trees, plan->place[tree].parent));
	/* Only the root has children in both trees, and one child in each. */
	for (child = 0; child < 2; child++) {
		if (plan->place[trees->inner].children[child] == BCL_TREES_NONE)
			continue;
		sum->arrived[child] = bcl_step_scratch(schedule, trees->length);
		window = bcl_step_window(schedule, sum->arrived[child],
					 trees->length);
		for (tree = 0; tree < plan->trees; tree++)
			if (plan->place[tree].children[child] != BCL_TREES_NONE)
				bcl_step_grant(
					schedule,
					rank_of(trees,
						plan->place[tree]
							.children[child]),
					window);
	}
}

/* Sum up the node's own part of piece i, then add what comes from the
 * children. */
static void pass_up(const struct trees *trees, void *arg, unsigned i)
{
	const struct sum *sum = arg;
	const struct bcl_call *call = sum->call;
	const struct bcl_reduction *reduction = call->reduction;
	const struct bcl_tree_place *place = place_of(trees, i);
	size_t begin = begin_of(trees, i), length = length_of(trees, i);
	unsigned child;

	if (bcl_intranode_pipelines(trees->schedule->team, reduction))
		bcl_intranode_reduce_piece(
			trees->schedule, trees->speaker, call->send + begin,
			trees->speaks ? sum->vector + begin : NULL, length,
			reduction);
	if (!trees->speaks)
		return;
	for (child = 0; child < 2; child++) {
		if (place->children[child] == BCL_TREES_NONE)
			continue;
		await_piece(trees, place->children[child]);
		bcl_step_combine(
			trees->schedule, reduction, sum->arrived[child] + begin,
			sum->vector + begin, length / reduction->element);
	}
	if (!trees->is_root)
		bcl_step_put(trees->schedule, rank_of(trees, place->parent),
			     sum->vector + begin, length,
			     trees->to[i % trees->plan.trees][0], begin);
}

void bcl_build_reduce_trees(struct bcl_schedule *schedule,
			    const struct bcl_call *call, unsigned piece)
{
	struct sum sum = { .call = call };
	struct trees trees;

	init(&trees, schedule, call, piece, call->reduction->element);
	if (trees.speaks)
		open_reduce(&trees, &sum);
	if (!bcl_intranode_pipelines(schedule->team, call->reduction))
		bcl_intranode_reduce(schedule, trees.speaker, call->send,
				     sum.vector, call->length, call->reduction);
	each(&trees, false, HOP * trees.plan.place[trees.inner].height, pass_up,
	     &sum);
}

double bcl_cost_trees(const struct bcl_model *model, double length,
		      double piece, double work,
		      double (*inside)(const struct bcl_model *model,
				       double length, unsigned parameter))
{
	double pieces = bcl_cost_pieces(length, piece), last = 0;
	double card, processor, round;

	piece = length / pieces;
	card = model->card.gap + piece * model->between.byte;
	/* sends one piece and receives one meanwhile */
	processor = 2 * model->between.gap + piece * work;
	round = bcl_larger(card, processor);
	if (model->members > 1) {
		last = inside(model, piece, 0);
		round = bcl_larger(round, last);
	}
	/* Two children get a piece one after the other, after the first
	 * grant. */
	return (pieces - 1) * round + last + model->between.message +
	       bcl_log2_up(model->nodes) *
		       (model->between.message + card + piece * work + round);
}
