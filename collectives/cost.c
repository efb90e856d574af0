/* SPDX-License-Identifier: MIT */
/*
 * Costs of messages, trees, pipelines and phases, from the figures of the
 * model. See cost.h.
 */
#include "collectives/cost.h"

#include <math.h>

#include "collectives/builders.h"
#include "collectives/dissemination.h"
#include "collectives/postal.h"

enum {
	/* One-way trips of a message beyond the eager limit where cards work
	 * alone. The message is announced and fetched: a trip there, back and
	 * there, and one back to say that the fetch is over; other messages
	 * wait meanwhile. */
	FETCH_TRIPS = 5,
	/* The same where processors do the card's work, by rails that are good
	 * at long transfers, and with work on both sides. */
	ANNOUNCED_TRIPS = 6,
	/* A short message is copied into and out of a buffer on its way. */
	EAGER_COPIES = 2,
};

/* A copy by attach: us for no bytes, and the time of a byte as a multiple of
 * memcpy()'s, since the system looks up pages. */
static const double attach = 0.5;
static const double attach_byte = 1.25;

struct bcl_cost bcl_cost_between(const struct bcl_model *model, double length)
{
	struct bcl_cost cost = model->between;
	double trips = model->autonomous ? FETCH_TRIPS : ANNOUNCED_TRIPS;

	if (length > model->eager) {
		cost.message *= trips;
		cost.gap *= trips;
	} else {
		cost.byte += EAGER_COPIES * model->copy;
	}
	/* The card fetches a longer message. A fetch takes as long as the
	 * processor needs to write the longest message for which writing
	 * pays. */
	if (length <= model->card.inline_max)
		cost.byte += model->card.inlined;
	else
		cost.message += model->card.inlined * model->card.inline_max;
	return cost;
}

struct bcl_cost bcl_cost_intranode(const struct bcl_model *model, double length)
{
	struct bcl_cost cost = model->inside;

	if (length > model->eager) {
		cost.message *= ANNOUNCED_TRIPS;
		cost.gap = cost.gap * ANNOUNCED_TRIPS + model->turn;
		/* both members copy, if they have a processor each */
		if (!model->turn)
			cost.byte /= 2;
	} else { /* the copies are the transfer */
		cost.byte = EAGER_COPIES * model->copy;
	}
	return cost;
}

struct bcl_cost bcl_cost_flat(const struct bcl_model *model, double length)
{
	return model->nodes > 1 ? bcl_cost_between(model, length)
				: bcl_cost_intranode(model, length);
}

struct bcl_cost bcl_cost_exchange(const struct bcl_model *model, double length)
{
	struct bcl_cost cost = bcl_cost_flat(model, length);

	if (model->nodes == 1) {
		if (length > model->eager)
			cost.byte *= 2;
	} else if (!model->autonomous) {
		cost.message += cost.gap;
		cost.byte *= 2;
	}
	return cost;
}

struct bcl_cost bcl_cost_granted(const struct bcl_model *model, double length)
{
	struct bcl_cost cost = model->between;

	if (!model->autonomous || length <= BCL_UNGRANTED_MAX)
		return bcl_cost_exchange(model, length);
	cost.message += cost.gap;
	return cost;
}

double bcl_cost_gap(const struct bcl_model *model, const struct bcl_cost *cost)
{
	double receive = model->card.receive;

	return cost->gap + (receive > 0 ? receive : cost->gap);
}

/* us that links are busy with a byte that each node sends to the node
 * `distance` places on. */
static double byte_on(const struct bcl_model *model, unsigned distance)
{
	unsigned nodes = model->nodes, around = bcl_model_around(nodes);
	double crossing = bcl_min_size(distance, nodes - distance);

	if (distance == nodes / 2)
		return model->across[0];
	return crossing < around ? model->around * crossing / around
				 : model->around;
}

double bcl_cost_dissemination(const struct bcl_model *model, double length,
			      unsigned ahead)
{
	double arrived[BCL_DISSEMINATION_AHEAD] = { 0 }; /* the last messages */
	struct bcl_dissemination plan;
	double free = 0, links = 0, last = 0;
	unsigned i;

	bcl_dissemination_init(&plan, model->nodes, ahead);
	for (i = 0; i < plan.messages; i++) {
		double bytes = bcl_dissemination_told(&plan, i) * length;
		struct bcl_cost cost = bcl_cost_exchange(model, bytes);
		double begin = bcl_larger(arrived[i % ahead], free);

		free = begin + bcl_cost_gap(model, &cost) + bytes * cost.byte;
		links = bcl_larger(links, begin) +
			bcl_cost_links(byte_on(model, plan.known[i]), bytes, 1);
		last = bcl_larger(begin + bytes * cost.byte, links) +
		       cost.message;
		arrived[i % ahead] = last;
		if (ahead == 1)
			continue;
		/* Another message that arrived beside this one is received
		 * first, and a message that is being written to the card is
		 * written first. */
		arrived[i % ahead] += model->card.receive;
		if (bytes <= model->card.inline_max)
			arrived[i % ahead] += bytes * model->card.inlined;
	}
	return last;
}

/* Messages down a tree: of `length` bytes each or, with `blocks`, of `length`
 * bytes for each node of the subtree. */
struct postal {
	const struct bcl_model *model;
	double length;
	bool blocks;
	double at_once; /* bytes; longer messages go one after another */
	double work;	/* us per byte */
};

/* us that a message to the root of a subtree of `nodes` nodes takes. *next: us
 * until the sender can send the next message. */
static double told(const struct postal *postal, double nodes, double *next)
{
	double length = postal->length * (postal->blocks ? nodes : 1), bytes;
	struct bcl_cost cost = bcl_cost_between(postal->model, length);

	bytes = length * (cost.byte + postal->work);
	*next = (length > postal->at_once ? cost.message : cost.gap) + bytes;
	return cost.message + bytes;
}

/* us from the root's start until all nodes have the message. */
static double cost_postal(const struct postal *postal, unsigned ahead)
{
	uint64_t known[BCL_POSTAL_STEPS + 1];
	double full[BCL_POSTAL_STEPS + 1]; /* for trees of known[t] members */
	unsigned nodes = postal->model->nodes, t, steps;
	double before = 0, last = 0, next;

	steps = bcl_postal_growth(known, nodes, ahead);
	for (t = 0; t < steps; t++) {
		full[t] = 0;
		if (t < ahead)
			continue;
		full[t] = told(postal, (double)known[t - ahead], &next) +
			  full[t - ahead];
		if (t > ahead)
			full[t] = bcl_larger(full[t], next + full[t - 1]);
	}
	/* the nodes that the first child does not get are a full tree */
	while (nodes > 1) {
		double arrived;

		while (known[steps - 1] >= nodes)
			steps--;
		nodes -= (unsigned)known[steps - 1];
		arrived = told(postal, nodes, &next);
		last = bcl_larger(last, before + next + full[steps - 1]);
		before += arrived;
	}
	return bcl_larger(last, before);
}

double bcl_cost_postal(const struct bcl_model *model, double length,
		       unsigned ahead, double work)
{
	const struct postal postal = {
		.model = model,
		.length = length,
		.at_once = HUGE_VAL,
		.work = work,
	};

	return cost_postal(&postal, ahead);
}

double bcl_cost_next(const struct bcl_model *model, double members, double work)
{
	return bcl_larger(work / members,
			  bcl_larger(model->card.gap, model->card.exchange));
}

double bcl_cost_direct(const struct bcl_model *model, double us, double all,
		       double messages)
{
	return us / 2 +
	       bcl_larger(us / 2, bcl_cost_across(model, all, messages));
}

double bcl_cost_phases(const struct bcl_model *model, double length)
{
	return (1 + length / BCL_NODE_CHUNK_MAX) * model->segment.message;
}

double bcl_cost_attached(const struct bcl_model *model, double length,
			 unsigned blocks)
{
	if (!blocks)
		blocks = model->members - 1;
	/* all members have to run before the first block can be fetched, and
	 * after the last */
	return 2 * (model->segment.message + model->turn) +
	       blocks * (attach + length * attach_byte * model->inside.byte);
}

double bcl_cost_first_piece(const struct bcl_model *model, double length)
{
	double piece = length;

	if (model->nodes == 1 && length > BCL_NODE_CHUNK_MAX)
		piece = BCL_NODE_CHUNK_MAX;
	return piece * model->segment.byte;
}

double bcl_cost_allgather_inside(const struct bcl_model *model, double length,
				 unsigned parameter)
{
	(void)parameter;
	return bcl_cost_phases(model, length) +
	       model->members * length * model->segment.byte;
}

double bcl_cost_gather_inside(const struct bcl_model *model, double length,
			      unsigned parameter)
{
	(void)parameter;
	return bcl_cost_phases(model, length) +
	       bcl_cost_first_piece(model, length) +
	       (model->members - 1) * length * model->segment.byte;
}

double bcl_cost_rooted_tree(const struct bcl_model *model, double length,
			    unsigned ahead, double at_once, double inside)
{
	const struct postal postal = {
		.model = model,
		.length = model->members * length,
		.blocks = true,
		.at_once = at_once,
	};

	/* The leader's own block is copied, too, and each byte once more,
	 * between the orders of ranks and of nodes. */
	if (model->members > 1)
		inside += length * model->segment.byte;
	else
		inside = 0;
	return cost_postal(&postal, ahead) +
	       model->size * length * model->segment.byte + inside;
}

double bcl_cost_rooted_direct(const struct bcl_model *model, double length,
			      unsigned parameter)
{
	struct bcl_cost near = bcl_cost_intranode(model, length);
	struct bcl_cost far = bcl_cost_between(model, length);
	double others = model->size - model->members;

	(void)parameter;
	/* the latency of the first message; the others follow closely */
	return (others > 0 ? far.message + (others - 1) * far.gap
			   : near.message) +
	       others * length * far.byte +
	       (model->members - 1) * (near.gap + length * near.byte);
}

double bcl_cost_pieces(double length, double piece)
{
	double pieces = length > piece ? length / piece : 1;

	return pieces < BCL_PIPELINE_PIECES ? pieces : BCL_PIPELINE_PIECES;
}

/* us of a byte in a round of the circulant schedule (circulant.h), averaged
 * over the skips: the card's time, or the links' if that is longer. */
static double round_byte(const struct bcl_model *model, double card)
{
	unsigned skip = model->nodes, rounds = 0;
	double sum = 0;

	for (; skip > 1; rounds++) {
		skip = (skip + 1) / 2;
		sum += bcl_larger(card, byte_on(model, skip));
	}
	return sum / rounds;
}

double bcl_cost_pipeline(const struct bcl_model *model, double length,
			 double piece, double work,
			 double (*inside)(const struct bcl_model *model,
					  double length, unsigned parameter))
{
	double pieces = bcl_cost_pieces(length, piece), last = 0;
	double byte, hop, round;
	struct bcl_cost cost;

	piece = length / pieces;
	if (model->autonomous)
		cost = model->between;
	else
		cost = model->nodes > 2 ? bcl_cost_exchange(model, piece)
					: bcl_cost_between(model, piece);
	byte = model->autonomous ? round_byte(model, cost.byte) : cost.byte;
	hop = cost.message + piece * (byte + work);
	/* The first piece has all hops before it. The next pieces follow
	 * closely if no processor has to handle them. */
	round = hop;
	if (model->autonomous)
		round = cost.gap + piece * (byte + work);
	if (model->members > 1) {
		last = inside(model, piece, 0);
		if (!model->autonomous)
			round += last;
		else
			round = bcl_larger(round, last);
	}
	return (pieces - 1) * round + bcl_log2_up(model->nodes) * hop + last +
	       (model->autonomous ? cost.message : 0);
}
