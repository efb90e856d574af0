/* SPDX-License-Identifier: MIT */
/* Asks for an area of the node's segment for a derived team. See loan.h. */
#include "collectives/loan.h"

#include <stdlib.h>

#include "collectives/builders.h"
#include "collectives/segment.h"
#include "env/counters.h"
#include "transport/context.h"

enum bcl_status bcl_loan_init(struct bcl_team *team)
{
	if (!team->lender || team->layout.nnodes > 1 || team->size == 1)
		return BCL_OK;
	team->loan = calloc(1, sizeof(*team->loan));
	if (!team->loan)
		return BCL_ERR_NOMEM;
	bcl_node_shape(&team->node, team->my_member, team->size, BCL_NODE_LENT);
	return BCL_OK;
}

void bcl_loan_fini(struct bcl_team *team)
{
	if (team->loan && team->loan->answer == BCL_LOAN_GRANTED)
		bcl_area_leave(team->lender, team->loan->area);
	free(team->loan);
	team->loan = NULL;
}

/* The step behind the broadcast of the answer. */
static void take_answer(const struct bcl_team *asked,
			const struct bcl_step *step)
{
	struct bcl_team *team = step->to;
	struct bcl_loan *loan = team->loan;
	void *memory = bcl_area_memory(team->lender, loan->area);

	(void)asked;
	if (!memory) {
		loan->answer = BCL_LOAN_REFUSED;
		return;
	}
	bcl_node_init(&team->node, team->my_member, team->size, BCL_NODE_LENT,
		      memory);
	team->node.env = bcl_adi_env(team->adi);
	bcl_park_init(&team->node);
	team->can_sleep = team->lender->can_sleep;
	team->shares = true;
	loan->answer = BCL_LOAN_GRANTED;
	bcl_count(team->counters, coll_areas);
}

/* The members begin this at the same place in the order of operations. */
static enum bcl_status ask(struct bcl_team *team)
{
	struct bcl_group group = bcl_group_all(team);
	struct bcl_loan *loan = team->loan;
	struct bcl_schedule *schedule;
	enum bcl_status status = bcl_schedule_get(team, &schedule);

	if (status != BCL_OK)
		return status;
	loan->asked = true;
	if (team->rank == 0)
		loan->area = bcl_area_take(team->lender, team->size);
	bcl_build_broadcast_tree(schedule, &group, 0, &loan->area,
				 sizeof(loan->area), 1);
	bcl_step_call(schedule, take_answer, team, NULL, 0, 0);
	return bcl_schedule_launch(schedule);
}

/* Of the choices with a segment only the operations inside the node count: as
 * the members begin an operation, some of them may not have the answer, and
 * both ways must be the same at all. */
static void choose(struct bcl_team *team)
{
	const struct bcl_config *config = &bcl_adi_context(team->adi)->config;
	struct bcl_model model = team->basis.model;
	struct bcl_loan *loan = team->loan;
	unsigned i, ordered, size;

	model.shares = true;
	model.chunk = (double)team->node.chunk;
	bcl_choices_init(&loan->choices, &model);
	bcl_preferences_apply(config, &team->basis.preferences, &model,
			      &loan->choices);
	for (i = 0; i < BCL_OPERATIONS; i++)
		for (ordered = 0; ordered < 2; ordered++)
			for (size = 0; size < BCL_CHOICE_SIZES; size++) {
				uint8_t *with =
					&loan->choices
						 .algorithm[i][ordered][size];

				if (bcl_algorithms[i][*with].build)
					*with = team->choices
							.algorithm[i][ordered]
								  [size];
			}
	loan->chosen = true;
}

static void settle(struct bcl_team *team, enum bcl_loan_answer answer)
{
	struct bcl_loan *loan = team->loan;

	if (answer == BCL_LOAN_GRANTED) {
		if (!loan->chosen)
			choose(team);
		team->choices = loan->choices;
	}
	bcl_call_prepare(team);
	loan->settled = true;
}

enum bcl_status bcl_loan_heed(struct bcl_team *team)
{
	struct bcl_loan *loan = team->loan;
	enum bcl_loan_answer answer;

	if (bcl_likely(!loan || loan->settled))
		return BCL_OK;
	if (!loan->asked)
		return team->sequence == BCL_LOAN_AFTER ? ask(team) : BCL_OK;
	bcl_adi_lock(team->adi);
	answer = loan->answer;
	bcl_adi_unlock(team->adi);
	if (answer != BCL_LOAN_OPEN)
		settle(team, answer);
	return BCL_OK;
}

bool bcl_loan_may_serve(struct bcl_team *team, const struct bcl_call *call,
			bool kept, enum bcl_node_kind *kind)
{
	const struct bcl_reduction *reduction = call->reduction;
	const struct bcl_algorithm *algorithm;
	struct bcl_loan *loan = team->loan;

	if (!loan || loan->settled || !(loan->asked || kept))
		return false;
	if (!loan->chosen)
		choose(team);
	algorithm =
		bcl_choice(&loan->choices, call->operation,
			   reduction && !reduction->commutative, call->length);
	*kind = algorithm->node;
	return !algorithm->build &&
	       bcl_node_able(&team->node, algorithm->node, reduction);
}
