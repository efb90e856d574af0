/* SPDX-License-Identifier: MIT */
/*
 * Teams that are made of all members of a parent: by colours that the members
 * choose, by the levels of the hierarchy, and a duplicate. All members of the
 * parent call, so the parent counts the ids, and a loss of the parent ends the
 * creation everywhere.
 */
#include <stdlib.h>

#include "collectives/loss.h"
#include "collectives/team.h"

struct choice {
	int32_t colour, key;
};

struct place {
	int32_t key;
	uint32_t rank;
};

static int compare_places(const void *a, const void *b)
{
	const struct place *one = a, *other = b;

	if (one->key != other->key)
		return one->key < other->key ? -1 : 1;
	return one->rank < other->rank ? -1 : 1;
}

/* The id of the next team, which all members of the parent use. */
static unsigned next_id(struct bcl_team *parent)
{
	return BCL_TEAM_IDS +
	       parent->splits++ % (BCL_TEAM_IDS_SPLIT - BCL_TEAM_IDS);
}

/* Make the team of the members that `ranks` begins with, n of them. Frees
 * `ranks`, which may be NULL. */
static enum bcl_status make(struct bcl_team *parent, unsigned *ranks,
			    unsigned n, struct bcl_team **team)
{
	enum bcl_status status;

	if (ranks) {
		status = bcl_team_make(parent, ranks, n, next_id(parent), true,
				       team);
	} else {
		status = BCL_ERR_NOMEM;
		bcl_team_fail(parent, status);
	}
	free(ranks);
	return status;
}

static enum bcl_status check(const struct bcl_team *parent,
			     struct bcl_team **team)
{
	enum bcl_status status = bcl_team_usable(parent);

	return status == BCL_OK && !team ? BCL_ERR_ARG : status;
}

/* The members of the own colour, in the order of keys and ranks. */
static unsigned *members_of(const struct bcl_team *parent,
			    const struct choice *choices, unsigned *n)
{
	struct place *places = malloc(parent->size * sizeof(*places));
	unsigned *ranks = malloc(parent->size * sizeof(*ranks)), i;

	*n = 0;
	for (i = 0; places && i < parent->size; i++)
		if (choices[i].colour == choices[parent->rank].colour)
			places[(*n)++] = (struct place){ choices[i].key, i };
	if (places && ranks) {
		qsort(places, *n, sizeof(*places), compare_places);
		for (i = 0; i < *n; i++)
			ranks[i] = places[i].rank;
	} else {
		free(ranks);
		ranks = NULL;
	}
	free(places);
	return ranks;
}

enum bcl_status bcl_team_split(struct bcl_team *parent, int colour, int key,
			       struct bcl_team **team)
{
	const struct choice mine = { colour, key };
	enum bcl_status status = check(parent, team);
	struct choice *choices;
	unsigned *ranks, n;

	if (status != BCL_OK)
		return status;
	choices = malloc(parent->size * sizeof(*choices));
	if (!choices) {
		bcl_team_fail(parent, BCL_ERR_NOMEM);
		return BCL_ERR_NOMEM;
	}
	status = bcl_allgather(parent, &mine, sizeof(mine), choices);
	if (status == BCL_OK && colour >= 0) {
		ranks = members_of(parent, choices, &n);
		status = make(parent, ranks, n, team);
	} else if (status == BCL_OK) {
		next_id(parent);
		*team = NULL;
	}
	free(choices);
	return status;
}

enum bcl_status bcl_team_dup(struct bcl_team *parent, struct bcl_team **team)
{
	enum bcl_status status = check(parent, team);
	unsigned *ranks, i;

	if (status != BCL_OK)
		return status;
	ranks = malloc(parent->size * sizeof(*ranks));
	for (i = 0; ranks && i < parent->size; i++)
		ranks[i] = i;
	return make(parent, ranks, parent->size, team);
}

enum bcl_status bcl_team_split_node(struct bcl_team *parent,
				    struct bcl_team **team)
{
	enum bcl_status status = check(parent, team);
	const struct bcl_layout *layout;
	unsigned *ranks, first, n, i;

	if (status != BCL_OK)
		return status;
	layout = &parent->layout;
	first = bcl_layout_first(layout, parent->my_node);
	n = bcl_layout_members(layout, parent->my_node);
	ranks = malloc(n * sizeof(*ranks));
	for (i = 0; ranks && i < n; i++)
		ranks[i] = bcl_layout_rank(layout, first + i);
	return make(parent, ranks, n, team);
}

enum bcl_status bcl_team_split_place(struct bcl_team *parent,
				     struct bcl_team **team)
{
	enum bcl_status status = check(parent, team);
	const struct bcl_layout *layout;
	unsigned *ranks, n = 0, node;

	if (status != BCL_OK)
		return status;
	layout = &parent->layout;
	ranks = malloc(layout->nnodes * sizeof(*ranks));
	for (node = 0; ranks && node < layout->nnodes; node++)
		if (parent->my_member < bcl_layout_members(layout, node))
			ranks[n++] = bcl_layout_rank(
				layout, bcl_layout_first(layout, node) +
						parent->my_member);
	return make(parent, ranks, n, team);
}
