/* SPDX-License-Identifier: MIT */
/*
 * bcl-info --collectives: which algorithm a job of this shape, or of a shape
 * that the user describes, uses for each collective operation; and for one
 * operation and length, what the cost model computes for each candidate, what
 * the job measures, and why a candidate wins.
 */
#include <math.h>
#include <stdio.h>

#include "collectives/builders.h"
#include "tools/failed.h"
#include "tools/info.h"
#include "tools/measure.h"

/* A team, or one that is only described. */
struct view {
	struct bcl_model model;
	struct bcl_choices choices; /* with BCL_COLL */
	struct bcl_choices of_model;
	const double *measured; /* us by algorithm; NULL: not measured */
};

/* A vector or block of an operation. */
struct call {
	enum bcl_operation operation;
	size_t length;
};

static void print_choices(const struct view *view)
{
	char text[512];
	unsigned i;

	for (i = 0; i < BCL_OPERATIONS; i++) {
		bcl_choices_print(&view->choices, (enum bcl_operation)i, text,
				  sizeof(text));
		printf("%-15s %s\n", bcl_operation_names[i], text);
	}
}

/* us at the length by which the choice is made. */
static double cost_of(const struct view *view, const struct call *call,
		      const struct bcl_algorithm *algorithm)
{
	unsigned size = bcl_choice_size(call->length);

	return bcl_algorithm_cost(algorithm, &view->model,
				  (double)bcl_choice_longest(size));
}

/* Why a team of this shape never uses the algorithm; NULL: the algorithm is a
 * candidate. */
static const char *why_not(const struct view *view, const struct call *call,
			   const struct bcl_algorithm *algorithm)
{
	const struct bcl_model *model = &view->model;
	unsigned needs = algorithm->needs;

	if (needs & BCL_NEEDS_SEGMENT && !model->shares)
		return "one node with shared memory only";
	if (needs & BCL_NEEDS_ATTACH && !model->attaches)
		return "one node whose ranks may attach to each other only";
	if (needs & BCL_NEEDS_PAIR && model->size != 2)
		return "two ranks only";
	if (needs & BCL_NEEDS_NODES && model->nodes < 2)
		return "two nodes or more only";
	if (needs & BCL_NEEDS_UNIFORM && !model->uniform)
		return "only if all nodes have as many ranks";
	if (needs & BCL_PAYS_AUTONOMOUS && !model->autonomous)
		return "pays only where cards work alone";
	if (cost_of(view, call, algorithm) >= HUGE_VAL)
		return "the links between far nodes are not known";
	return NULL;
}

static const char *order_of(const struct bcl_algorithm *algorithm,
			    const struct bcl_model *model)
{
	return bcl_algorithm_fits(algorithm, model, true)
		       ? ""
		       : "  commutative operators only";
}

/* us of an operation on nothing: what does not depend on the length. */
static double empty_of(const struct view *view,
		       const struct bcl_algorithm *algorithm)
{
	return bcl_algorithm_cost(algorithm, &view->model, 0);
}

static void print_measured(const struct view *view, unsigned i)
{
	if (view->measured && isfinite(view->measured[i]))
		printf(" %12.2f", view->measured[i]);
	else if (view->measured)
		printf(" %12s", "-");
}

static void print_candidates(const struct view *view, const struct call *call,
			     const struct bcl_algorithm *chosen)
{
	const struct bcl_algorithm *first = bcl_algorithms[call->operation];
	const struct bcl_algorithm *algorithm = first;

	printf("  %-24s %12s %12s %12s%s\n", "us by the model", "all",
	       "messages", "bytes", view->measured ? "     measured" : "");
	for (; algorithm->name; algorithm++) {
		const char *why = why_not(view, call, algorithm);
		double us, empty;

		if (why) {
			printf("  %-24s %12s  %s\n", algorithm->name, "-", why);
			continue;
		}
		us = cost_of(view, call, algorithm);
		empty = empty_of(view, algorithm);
		printf("  %-24s %12.2f %12.2f %12.2f", algorithm->name, us,
		       empty, us - empty);
		print_measured(view, (unsigned)(algorithm - first));
		printf("%s%s\n",
		       bcl_operation_combines(call->operation)
			       ? order_of(algorithm, &view->model)
			       : "",
		       algorithm == chosen ? "  chosen" : "");
	}
}

/* The candidate of least cost but for `winner`; NULL: there is none. */
static const struct bcl_algorithm *find_next(const struct view *view,
					     const struct call *call,
					     const struct bcl_algorithm *winner)
{
	const struct bcl_algorithm *next = NULL, *algorithm;
	double least = HUGE_VAL;

	for (algorithm = bcl_algorithms[call->operation]; algorithm->name;
	     algorithm++) {
		double us;

		if (algorithm == winner || why_not(view, call, algorithm))
			continue;
		us = cost_of(view, call, algorithm);
		if (us < least) {
			least = us;
			next = algorithm;
		}
	}
	return next;
}

static void explain_winner(const struct view *view, const struct call *call,
			   const struct bcl_algorithm *winner)
{
	const struct bcl_algorithm *next = find_next(view, call, winner);
	double messages, bytes;

	if (!next) {
		printf("%s is the only candidate\n", winner->name);
		return;
	}
	messages = empty_of(view, next) - empty_of(view, winner);
	bytes = cost_of(view, call, next) - cost_of(view, call, winner) -
		messages;
	printf("the model takes %s: ", winner->name);
	if (fabs(messages + bytes) < 0.001 * cost_of(view, call, winner))
		printf("%s costs the same, and is later in the table\n",
		       next->name);
	else
		printf("%s, the next, would take %+.2f us for messages and "
		       "%+.2f us for bytes\n",
		       next->name, messages, bytes);
}

/* How the fastest candidate compares with the chosen one, as measured. */
static void compare_measured(const struct view *view, const struct call *call,
			     const struct bcl_algorithm *chosen)
{
	const struct bcl_algorithm *first = bcl_algorithms[call->operation];
	double us = view->measured[chosen - first];
	unsigned i, best = (unsigned)(chosen - first);

	for (i = 0; first[i].name; i++)
		if (isfinite(view->measured[i]) &&
		    !(view->measured[i] >= view->measured[best]))
			best = i;
	if (&first[best] == chosen)
		printf("measured, %s is the fastest\n", chosen->name);
	else
		printf("measured, %s is the fastest; %s takes %.2f times as "
		       "long (BCL_COLL=%s:%s would change it)\n",
		       first[best].name, chosen->name,
		       us / view->measured[best],
		       bcl_operation_names[call->operation], first[best].name);
}

static void explain(const struct view *view, const struct call *call)
{
	const struct bcl_algorithm *winner = bcl_choice(
		&view->of_model, call->operation, false, call->length);
	const struct bcl_algorithm *chosen = bcl_choice(
		&view->choices, call->operation, false, call->length);
	const struct bcl_algorithm *ordered =
		bcl_choice(&view->choices, call->operation, true, call->length);
	size_t counts = bcl_choice_longest(bcl_choice_size(call->length));

	printf("%s", bcl_operation_names[call->operation]);
	if (call->operation != BCL_OPERATION_BARRIER)
		printf(" of %zu bytes, which counts as %zu", call->length,
		       counts);
	putchar('\n');
	print_candidates(view, call, chosen);
	explain_winner(view, call, winner);
	if (view->measured)
		compare_measured(view, call, chosen);
	if (chosen != winner)
		printf("the settings take %s\n", chosen->name);
	if (bcl_operation_combines(call->operation) && ordered != chosen)
		printf("operators that are not commutative use %s\n",
		       ordered->name);
}

static void print_view(const struct view *view,
		       const struct info_request *request)
{
	const struct bcl_model *model = &view->model;
	unsigned i;

	printf("%u ranks on %u nodes, at most %u on one; a message takes "
	       "%.2f us inside a node, %.2f between\n",
	       model->size, model->nodes, model->members, model->inside.message,
	       model->between.message);
	if (request->operation == BCL_OPERATIONS)
		print_choices(view);
	for (i = 0; request->has_length && i < BCL_OPERATIONS; i++) {
		const struct call one = { (enum bcl_operation)i,
					  request->length };

		if (request->operation == BCL_OPERATIONS)
			putchar('\n'); /* a blank line before each */
		else if (request->operation != i)
			continue;
		explain(view, &one);
	}
}

/* The model of a team of this shape; the figures of the job's peers, as far as
 * the job has them. */
static void describe(struct bcl_model *model,
		     const struct info_request *request,
		     const struct bcl_config *config)
{
	unsigned ranks = request->ranks, nodes = request->nodes;

	model->size = ranks;
	model->nodes = nodes;
	model->members = (ranks + nodes - 1) / nodes;
	model->shares = nodes == 1 && config->shm;
	model->attaches = model->shares && config->attach;
	model->contiguous = true;
	model->uniform = ranks % nodes == 0;
}

static void make_view(struct view *view, struct bcl_team *team,
		      const struct info_request *request)
{
	struct bcl_preferences preferences;
	const struct bcl_config *config = &bcl_adi_context(team->adi)->config;

	view->measured = NULL;
	bcl_model_init(&view->model, team);
	if (request->ranks)
		describe(&view->model, request, config);
	bcl_model_measure(&view->model, team, 0);
	bcl_choices_init(&view->of_model, &view->model);
	view->choices = view->of_model;
	bcl_tuned_apply(config, &view->model, &view->choices);
	bcl_preferences_read(config, &preferences);
	bcl_preferences_apply(config, &preferences, &view->model,
			      &view->choices);
}

static int show(struct bcl_team *team, const struct info_request *request)
{
	double us[MEASURE_ALGORITHMS_MAX];
	enum bcl_status status = BCL_OK;
	struct view view;

	if (request->measure)
		status = measure_algorithms(team, request->operation,
					    request->length, us);
	if (bcl_team_rank(team) == 0 && status == BCL_OK) {
		make_view(&view, team, request);
		if (request->measure)
			view.measured = us;
		print_view(&view, request);
	}
	if (status == BCL_ERR_UNSUPPORTED) {
		fprintf(stderr, "bcl-info: %s cannot be measured\n",
			bcl_operation_names[request->operation]);
		return 1;
	}
	return status == BCL_OK ? 0 : tool_failed("measure", status);
}

int info_collectives(const struct info_request *request)
{
	struct bcl_team *team;
	struct bcl_adi *adi;
	enum bcl_status status = bcl_adi_open(NULL, &adi);
	int result;

	if (status)
		return tool_failed("join the job", status);
	status = bcl_team_world(adi, &team);
	if (status) {
		bcl_adi_close(adi);
		return tool_failed("make the team of all ranks", status);
	}
	result = show(team, request);
	bcl_team_free(team);
	bcl_adi_close(adi);
	return result;
}
