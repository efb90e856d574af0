/* SPDX-License-Identifier: MIT */
/*
 * Fills the cost model of a team with typical figures and with figures of its
 * peers, and selects the algorithms of least cost. See select.h.
 */
#include "collectives/select.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "card/ops.h"
#include "collectives/builders.h"
#include "collectives/halving_plan.h"
#include "transport/context.h"

const struct bcl_algorithm *const bcl_algorithms[BCL_OPERATIONS] = {
	[BCL_OPERATION_BARRIER] = bcl_barrier_algorithms,
	[BCL_OPERATION_BROADCAST] = bcl_broadcast_algorithms,
	[BCL_OPERATION_REDUCE] = bcl_reduce_algorithms,
	[BCL_OPERATION_ALLREDUCE] = bcl_allreduce_algorithms,
	[BCL_OPERATION_GATHER] = bcl_gather_algorithms,
	[BCL_OPERATION_SCATTER] = bcl_scatter_algorithms,
	[BCL_OPERATION_ALLGATHER] = bcl_allgather_algorithms,
	[BCL_OPERATION_ALLTOALL] = bcl_alltoall_algorithms,
	[BCL_OPERATION_ALLTOALLV] = bcl_alltoallv_algorithms,
	[BCL_OPERATION_REDUCE_SCATTER] = bcl_reduce_scatter_algorithms,
	[BCL_OPERATION_SCAN] = bcl_scan_algorithms,
	[BCL_OPERATION_EXSCAN] = bcl_exscan_algorithms,
	[BCL_OPERATION_GATHERV] = bcl_gatherv_algorithms,
	[BCL_OPERATION_SCATTERV] = bcl_scatterv_algorithms,
	[BCL_OPERATION_ALLGATHERV] = bcl_allgatherv_algorithms,
	[BCL_OPERATION_REDUCE_SCATTERV] = bcl_reduce_scatterv_algorithms,
	[BCL_OPERATION_SHIFT] = bcl_shift_algorithms,
	[BCL_OPERATION_EXCHANGE] = bcl_exchange_algorithms,
};

enum {
	MEMBERS_PER_LATENCY = 4, /* flags read in the time of a message */
};

/* A later algorithm of a list is chosen only if its cost is below this part of
 * the least cost so far, not merely less by rounding. */
static const double less = 0.999;

/* us that a schedule adds to a message or a phase */
static const double schedule_overhead = 0.2;

/* us from a rank that gives its processor away to the next rank */
static const double rank_switch = 2.5;

/* Part of the time of a copy that is left, on real processors, where the chunks
 * of the segment stay in near caches: no messages between nodes go through
 * these in between. */
static const double near_copy = 0.35;

/* Figures of usual machines, and no shape. */
static const struct bcl_model typical = {
	.inside = { 0.1, 0.02, 1 / 20000. },
	.between = { 5, 1, 1 / 1200. },
	.segment = { 0.1, 0, 1 / 10000. },
	.combine = 1 / 16000.,
	.copy = 1 / 10000.,
};

static void set_shape(struct bcl_model *model, const struct bcl_team *team)
{
	const struct bcl_layout *layout = &team->layout;
	unsigned i;

	model->size = team->size;
	model->nodes = layout->nnodes;
	model->shares = team->shares && layout->nnodes == 1;
	model->attaches = team->processes != NULL;
	model->contiguous = layout->contiguous;
	for (i = 0; i < layout->nnodes; i++) {
		unsigned members = bcl_layout_members(layout, i);

		if (members > model->members)
			model->members = members;
	}
	model->uniform = model->members * model->nodes == model->size;
}

void bcl_model_init(struct bcl_model *model, const struct bcl_team *team)
{
	const struct bcl_host_ops *card = bcl_adi_env(team->adi)->card;

	*model = typical;
	model->autonomous = bcl_cards_work_alone(team);
	model->eager = (double)bcl_config_eager_near(
		&bcl_adi_context(team->adi)->config);
	if (card)
		model->card = card->costs;
	if (model->card.copy > 0)
		model->copy = model->card.copy;
	set_shape(model, team);
}

void bcl_model_derive(struct bcl_model *model, const struct bcl_model *parent,
		      const struct bcl_team *team)
{
	*model = (struct bcl_model){
		.autonomous = parent->autonomous,
		.inside = parent->inside,
		.between = parent->between,
		.segment = parent->segment,
		.combine = parent->combine,
		.copy = parent->copy,
		.turn = parent->turn,
		.eager = parent->eager,
		.card = parent->card,
	};
	set_shape(model, team);
}

static void measure_peer(struct bcl_cost *cost, struct bcl_team *team,
			 unsigned rank)
{
	struct bcl_peer_info info = { .struct_size = sizeof(info) };
	struct bcl_peer *peer;

	if (bcl_adi_peer(team->adi, bcl_team_job_rank(team, rank), &peer) !=
	    BCL_OK)
		return;
	bcl_peer_info(peer, &info);
	if (info.latency > 0)
		cost->message = info.latency + info.overhead;
	if (info.overhead > 0)
		cost->gap = info.overhead;
	if (info.bandwidth > 0)
		cost->byte = 1 / info.bandwidth;
}

unsigned bcl_model_far(const struct bcl_team *team)
{
	const struct bcl_layout *layout = &team->layout;

	return bcl_layout_leader(layout, layout->nnodes / 2);
}

/* us of a byte that each node sends to the node `distance` places on, modulo
 * `among`, in groups of `among` nodes that follow one another. */
static double byte_across(const struct bcl_host_ops *card, unsigned *to,
			  unsigned nodes, unsigned distance, unsigned among)
{
	unsigned i;

	for (i = 0; i < nodes; i++) {
		to[i] = i - i % among + (i + distance) % among;
		if (to[i] >= nodes)
			to[i] = i;
	}
	return card->across(card, nodes, to);
}

/* us of a byte that each node sends in the k-th last round of halving. */
static double halved_across(const struct bcl_host_ops *card, unsigned *to,
			    unsigned nodes, unsigned k, bool ring)
{
	unsigned i;

	for (i = 0; i < nodes; i++)
		to[i] = bcl_halving_plan_to(nodes, i, k, ring);
	return card->across(card, nodes, to);
}

static void measure_links(struct bcl_model *model,
			  const struct bcl_host_ops *card)
{
	unsigned nodes = model->nodes, half = nodes / 2, k;
	unsigned rounds = bcl_log2_up(nodes);
	unsigned pairs = (unsigned)__builtin_ctz(nodes);
	unsigned *to = malloc(nodes * sizeof(*to));

	if (!to)
		return;
	for (k = 0; k < BCL_MODEL_FAR && half >> k; k++)
		model->across[k] = byte_across(card, to, nodes, half >> k,
					       2 * (half >> k));
	model->around =
		byte_across(card, to, nodes, bcl_model_around(nodes), nodes);
	for (k = 0; k < BCL_MODEL_FAR; k++) {
		model->halved[0][k] = halved_across(card, to, nodes, k, false);
		model->halved[1][k] = halved_across(card, to, nodes, k, true);
	}
	for (k = 0; k < BCL_MODEL_FAR && pairs + k + BCL_MODEL_FAR < rounds;
	     k++)
		model->circled[k] = halved_across(
			card, to, nodes, rounds - 1 - pairs - k, false);
	free(to);
}

/* With more ranks than processors, a rank that is sent to hears of this when
 * the other ranks of its processor have run. In the segment a member goes on as
 * far as its chunks reach. */
static void take_turns(struct bcl_model *model, struct bcl_team *team)
{
	const struct bcl_env *env = bcl_adi_env(team->adi);

	/* a simulated rank has a processor of its own */
	if (!bcl_adi_context(team->adi)->crowded || !env->real_time)
		return;
	model->turn =
		rank_switch * model->members / env->processors(env->world);
	model->inside.message += model->turn;
	model->between.message += model->turn;
	model->segment.message += model->turn / BCL_NODE_CHUNKS_MIN;
}

void bcl_model_measure(struct bcl_model *model, struct bcl_team *team,
		       double timed)
{
	const struct bcl_env *env = bcl_adi_env(team->adi);
	const struct bcl_host_ops *card = env->card;
	struct bcl_group node = bcl_group_node(team);

	if (node.size > 1)
		measure_peer(&model->inside, team,
			     bcl_group_rank(&node, node.me ? 0 : 1));
	if (team->layout.nnodes > 1)
		measure_peer(&model->between, team, bcl_model_far(team));
	if (model->between.gap < model->card.gap)
		model->between.gap = model->card.gap;
	if (card && card->across && team->layout.nnodes > 1)
		measure_links(model, card);
	if (model->inside.byte < model->copy)
		model->inside.byte = model->copy;
	/* a flag travels as a short message does */
	model->segment.message =
		model->inside.message *
		(1 + (double)model->members / MEMBERS_PER_LATENCY);
	/* bytes copied in and out are not faster than bytes copied once */
	if (model->segment.byte < model->inside.byte)
		model->segment.byte = model->inside.byte;
	if (model->nodes == 1 && env->real_time)
		model->segment.byte *= near_copy;
	model->inside.message += schedule_overhead;
	model->between.message += schedule_overhead;
	/* round trips between cards tell little of hosts without a part in
	 * them */
	if (model->autonomous && timed > 0)
		model->between.message = timed;
	/* with several nodes a phase is a step of a schedule, too */
	if (model->nodes > 1)
		model->segment.message += schedule_overhead;
	take_turns(model, team);
}

bool bcl_algorithm_fits(const struct bcl_algorithm *algorithm,
			const struct bcl_model *model, bool ordered)
{
	unsigned needs = algorithm->needs;

	if (needs & BCL_NEEDS_SEGMENT && !model->shares)
		return false;
	if (needs & BCL_NEEDS_ATTACH && !model->attaches)
		return false;
	if (needs & BCL_NEEDS_PAIR && model->size != 2)
		return false;
	if (needs & BCL_NEEDS_NODES && model->nodes < 2)
		return false;
	if (needs & BCL_NEEDS_UNIFORM && !model->uniform)
		return false;
	if (needs & BCL_NEEDS_ROWS && !model->contiguous)
		return false;
	if (!ordered)
		return true;
	return !(needs & BCL_NEEDS_COMMUTATIVE) &&
	       (!(needs & BCL_NEEDS_CONTIGUOUS) || model->contiguous);
}

double bcl_algorithm_cost(const struct bcl_algorithm *algorithm,
			  const struct bcl_model *model, double length)
{
	if (algorithm->needs & BCL_PAYS_AUTONOMOUS && !model->autonomous)
		return HUGE_VAL;
	return algorithm->cost(model, length, algorithm->parameter);
}

/* Many vectors are as long as a power of two, and so are the longest messages
 * for which a protocol is meant. */
size_t bcl_choice_longest(unsigned size)
{
	if (size <= 2)
		return size;
	return (size_t)(size % 2 ? 3 : 4) << (size - 3) / 2;
}

/* Choose the algorithms of least cost among those with all of the bits `only`.
 * In each list one of them can run in any team. */
static void choose_algorithms(struct bcl_choices *choices,
			      const struct bcl_model *model, unsigned operation,
			      unsigned size, unsigned only)
{
	const struct bcl_algorithm *algorithms = bcl_algorithms[operation];
	double least[2] = { HUGE_VAL, HUGE_VAL }, cost;
	unsigned i, ordered;

	for (i = 0; algorithms[i].name; i++) {
		if ((algorithms[i].needs & only) != only ||
		    !bcl_algorithm_fits(&algorithms[i], model, false))
			continue;
		cost = bcl_algorithm_cost(&algorithms[i], model,
					  (double)bcl_choice_longest(size));
		for (ordered = 0; ordered < 2; ordered++) {
			if (cost >= less * least[ordered] ||
			    !bcl_algorithm_fits(&algorithms[i], model, ordered))
				continue;
			least[ordered] = cost;
			choices->algorithm[operation][ordered][size] =
				(uint8_t)i;
		}
	}
}

void bcl_choices_init(struct bcl_choices *choices,
		      const struct bcl_model *model)
{
	unsigned operation, size;

	for (operation = 0; operation < BCL_OPERATIONS; operation++)
		for (size = 0; size < BCL_CHOICE_SIZES; size++)
			choose_algorithms(choices, model, operation, size, 0);
}

bool bcl_operation_combines(enum bcl_operation operation)
{
	const struct bcl_algorithm *algorithm = bcl_algorithms[operation];

	while (algorithm->name && !(algorithm->needs & BCL_FIXED_ORDER))
		algorithm++;
	return algorithm->name;
}

void bcl_choices_fix_order(struct bcl_choices *choices, unsigned size,
			   double eager)
{
	struct bcl_model model = typical;
	unsigned operation, i;

	model.size = model.nodes = size;
	model.members = 1;
	model.contiguous = model.uniform = true;
	model.eager = eager;
	for (operation = 0; operation < BCL_OPERATIONS; operation++)
		for (i = 0; i < BCL_CHOICE_SIZES; i++)
			if (bcl_operation_combines(
				    (enum bcl_operation)operation))
				choose_algorithms(choices, &model, operation, i,
						  BCL_FIXED_ORDER);
}

void bcl_append(char *text, size_t size, const char *format, ...)
{
	size_t used = strlen(text);
	va_list args;

	va_start(args, format);
	vsnprintf(text + used, size - used, format, args);
	va_end(args);
}

static void print_sizes(const struct bcl_algorithm *algorithms,
			const uint8_t *chosen, char *text, size_t size)
{
	unsigned i;

	bcl_append(text, size, "%s", algorithms[chosen[0]].name);
	for (i = 1; i < BCL_CHOICE_SIZES; i++)
		if (chosen[i] != chosen[i - 1])
			bcl_append(text, size, ", %s over %zu",
				   algorithms[chosen[i]].name,
				   bcl_choice_longest(i - 1));
}

void bcl_choices_print(const struct bcl_choices *choices,
		       enum bcl_operation operation, char *text, size_t size)
{
	const uint8_t(*chosen)[BCL_CHOICE_SIZES] =
		choices->algorithm[operation];

	text[0] = 0;
	print_sizes(bcl_algorithms[operation], chosen[0], text, size);
	if (!memcmp(chosen[0], chosen[1], BCL_CHOICE_SIZES))
		return;
	bcl_append(text, size, " (in order: ");
	print_sizes(bcl_algorithms[operation], chosen[1], text, size);
	bcl_append(text, size, ")");
}

enum bcl_operation bcl_operation_find(const char *name, size_t length)
{
	unsigned i = 0;

	while (i < BCL_OPERATIONS &&
	       (strncmp(bcl_operation_names[i], name, length) ||
		bcl_operation_names[i][length]))
		i++;
	return (enum bcl_operation)i;
}

const struct bcl_algorithm *bcl_algorithm_find(enum bcl_operation operation,
					       const char *name, size_t length)
{
	const struct bcl_algorithm *algorithm = bcl_algorithms[operation];

	while (algorithm->name && (strncmp(algorithm->name, name, length) ||
				   algorithm->name[length]))
		algorithm++;
	return algorithm->name ? algorithm : NULL;
}

enum bcl_status bcl_choices_force(struct bcl_choices *choices,
				  const struct bcl_model *model,
				  enum bcl_operation operation,
				  const struct bcl_algorithm *algorithm,
				  unsigned size)
{
	int i = (int)(algorithm - bcl_algorithms[operation]);
	unsigned ordered;

	if (!bcl_algorithm_fits(algorithm, model, false))
		return BCL_ERR_UNSUPPORTED;
	for (ordered = 0; ordered < 2; ordered++)
		if (bcl_algorithm_fits(algorithm, model, ordered))
			memset(&choices->algorithm[operation][ordered][size], i,
			       BCL_CHOICE_SIZES - size);
	return BCL_OK;
}
