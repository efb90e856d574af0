/* SPDX-License-Identifier: MIT */
/*
 * bcl-info --collectives: which algorithm a job of this shape uses for each
 * collective operation, and what the cost model reckons of the others.
 */
#include <math.h>
#include <stdio.h>

#include "collectives/builders.h"
#include "tools/info.h"

static void print_choices(const struct bcl_team *team)
{
	char text[512];
	unsigned i;

	for (i = 0; i < BCL_OPERATIONS; i++) {
		bcl_choices_print(&team->choices, (enum bcl_operation)i, text,
				  sizeof(text));
		printf("%-15s %s\n", bcl_operation_names[i], text);
	}
}

/* One operation on vectors or blocks of this length. */
static void print_costs(const struct bcl_team *team,
			const struct bcl_model *model,
			enum bcl_operation operation, size_t length)
{
	const struct bcl_algorithm *chosen =
		bcl_choice(&team->choices, operation, false, length);
	const struct bcl_algorithm *algorithm;
	double us;

	printf("\n%s", bcl_operation_names[operation]);
	if (operation != BCL_OPERATION_BARRIER)
		printf(" of %zu bytes", length);
	printf(": us by the model\n");
	for (algorithm = bcl_algorithms[operation]; algorithm->name;
	     algorithm++) {
		if (!bcl_algorithm_fits(algorithm, model, false))
			continue;
		us = bcl_algorithm_cost(algorithm, model, (double)length);
		if (us < HUGE_VAL)
			printf("  %-24s %12.2f%s\n", algorithm->name, us,
			       algorithm == chosen ? "  chosen" : "");
	}
}

static void print_team(struct bcl_team *team, const size_t *length)
{
	struct bcl_model model;
	unsigned i;

	bcl_model_init(&model, team);
	bcl_model_measure(&model, team, 0);
	printf("%u ranks on %u nodes, at most %u on one; a message takes "
	       "%.2f us inside a node, %.2f between\n",
	       model.size, model.nodes, model.members, model.inside.message,
	       model.between.message);
	print_choices(team);
	for (i = 0; length && i < BCL_OPERATIONS; i++)
		print_costs(team, &model, (enum bcl_operation)i, *length);
}

int info_collectives(const size_t *length)
{
	struct bcl_team *team;
	struct bcl_adi *adi;
	enum bcl_status status = bcl_adi_open(NULL, &adi);

	if (status)
		return info_failed("join the job", status);
	status = bcl_team_world(adi, &team);
	if (status) {
		bcl_adi_close(adi);
		return info_failed("make the team of all ranks", status);
	}
	if (bcl_team_rank(team) == 0)
		print_team(team, length);
	bcl_team_free(team);
	bcl_adi_close(adi);
	return 0;
}
