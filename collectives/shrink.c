/* SPDX-License-Identifier: MIT */
/*
 * Teams of the members that outlive a loss. The survivors agree on the dead,
 * make a team without them, and agree whether all of them have it. If a further
 * member has died meanwhile the survivors begin again. They may not agree on
 * this death before the next round, in which the dead member does not vote. So
 * a death costs two rounds at most.
 */
#include <stdlib.h>
#include <string.h>

#include "collectives/agreement.h"
#include "collectives/team.h"

enum {
	HAS_IT = 1,
	MAY_RETRY = 2, /* a member failed because another member has died */
};

enum bcl_status bcl_team_agree(struct bcl_team *team, uint64_t *flags)
{
	enum bcl_status status = bcl_team_usable(team);
	uint64_t *dead;

	if (status != BCL_OK)
		return status;
	if (!flags)
		return BCL_ERR_ARG;
	dead = calloc(bcl_members_words(team->size), sizeof(*dead));
	if (!dead)
		return BCL_ERR_NOMEM;
	status = bcl_agreement_run(team, flags, dead);
	free(dead);
	return status;
}

/* Make a team without the dead. `ranks` has room for all members. */
static enum bcl_status make_survivors(struct bcl_team *lost,
				      const uint64_t *dead, unsigned *ranks,
				      struct bcl_team **team)
{
	unsigned ids = BCL_TEAM_IDS_ALL - BCL_TEAM_IDS_SPLIT;
	unsigned id = BCL_TEAM_IDS_SPLIT + lost->shrinks++ % ids;
	unsigned n = 0, i;

	for (i = 0; i < lost->size; i++)
		if (!bcl_members_has(dead, i))
			ranks[n++] = i;
	return bcl_team_make(lost, ranks, n, id, false, team);
}

/* Free a team that not all survivors have. */
static void drop_team(struct bcl_team *team)
{
	if (!team)
		return;
	bcl_team_cancel(team);
	bcl_team_free(team);
}

/* The flags of a member after the making of a team. A death of another member
 * ends a creation with the loss of that peer, or of a message. */
static uint64_t judge(enum bcl_status made)
{
	if (made == BCL_OK)
		return HAS_IT | MAY_RETRY;
	switch (bcl_status_loss(made)) {
	case BCL_LOSS_REQUEST:
	case BCL_LOSS_PEER:
		return MAY_RETRY;
	default:
		return 0;
	}
}

/* dead, before: sets, empty at first. */
static enum bcl_status shrink(struct bcl_team *lost, uint64_t *dead,
			      uint64_t *before, unsigned *ranks,
			      struct bcl_team **team)
{
	size_t bytes = bcl_members_words(lost->size) * sizeof(*dead);
	uint64_t flags = MAY_RETRY;
	enum bcl_status status, made = BCL_OK;

	status = bcl_agreement_run(lost, &flags, dead);
	while (status == BCL_OK && flags & MAY_RETRY) {
		struct bcl_team *survivors = NULL;

		made = make_survivors(lost, dead, ranks, &survivors);
		memcpy(before, dead, bytes);
		flags = judge(made);
		status = bcl_agreement_run(lost, &flags, dead);
		if (status == BCL_OK && flags & HAS_IT &&
		    !memcmp(before, dead, bytes)) {
			*team = survivors;
			return BCL_OK;
		}
		drop_team(survivors);
	}
	if (status != BCL_OK)
		return status;
	return made != BCL_OK ? made : BCL_ERR_NOMEM;
}

enum bcl_status bcl_team_shrink(struct bcl_team *lost, struct bcl_team **team)
{
	enum bcl_status status = bcl_team_usable(lost);
	unsigned words, *ranks;
	uint64_t *sets;

	if (status != BCL_OK)
		return status;
	if (!team)
		return BCL_ERR_ARG;
	words = bcl_members_words(lost->size);
	sets = calloc(2 * words, sizeof(*sets));
	ranks = malloc(lost->size * sizeof(*ranks));
	status = sets && ranks ? shrink(lost, sets, sets + words, ranks, team)
			       : BCL_ERR_NOMEM;
	free(ranks);
	free(sets);
	return status;
}
