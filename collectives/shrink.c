/* SPDX-License-Identifier: MIT */
/*
 * Teams of the members that outlive a loss. The survivors agree on the dead,
 * make a team without them, and agree whether all of them have it. If a further
 * member has died meanwhile the survivors begin again: a member whose part of
 * the creation failed by a death knows the death, and votes for it. So a round
 * without a team costs a member, and the rounds end.
 */
#include <stdlib.h>

#include "collectives/agreement.h"
#include "collectives/team.h"

enum {
	HAS_IT = 1,
	MAY_RETRY = 2, /* no member failed but by a death */
};

enum bcl_status bcl_team_agree(struct bcl_team *team, uint64_t *flags)
{
	enum bcl_status status = bcl_team_usable(team);

	if (status != BCL_OK)
		return status;
	return flags ? bcl_agreement_run(team, flags) : BCL_ERR_ARG;
}

/* Make a team without the dead. `ranks` has room for all members. */
static enum bcl_status make_survivors(struct bcl_team *lost, unsigned *ranks,
				      struct bcl_team **team)
{
	unsigned ids = BCL_TEAM_IDS_ALL - BCL_TEAM_IDS_SPLIT;
	unsigned id = BCL_TEAM_IDS_SPLIT + lost->shrinks++ % ids;
	unsigned n = 0, i;

	for (i = 0; i < lost->size; i++)
		if (!bcl_members_has(lost->dead, i))
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

/* One round. Returns OK, or why there is no team and no further round. NULL in
 * *team: another round is due. */
static enum bcl_status try(struct bcl_team *lost, unsigned *ranks,
			   struct bcl_team **team)
{
	unsigned dead = bcl_members_count(lost->dead, lost->size);
	struct bcl_team *survivors = NULL;
	uint64_t flags = judge(make_survivors(lost, ranks, &survivors));
	enum bcl_status status = bcl_agreement_run(lost, &flags);
	bool more = bcl_members_count(lost->dead, lost->size) > dead;

	*team = NULL;
	if (status == BCL_OK && flags & HAS_IT && !more) {
		*team = survivors;
		return BCL_OK;
	}
	drop_team(survivors);
	if (status != BCL_OK)
		return status;
	if (!(flags & MAY_RETRY))
		return BCL_ERR_NOMEM;
	return more ? BCL_OK : BCL_ERR_UNREACHABLE;
}

static enum bcl_status shrink(struct bcl_team *lost, unsigned *ranks,
			      struct bcl_team **team)
{
	uint64_t flags = ranks ? MAY_RETRY : 0;
	enum bcl_status status = bcl_agreement_run(lost, &flags);
	struct bcl_team *survivors = NULL;

	if (status == BCL_OK && !(flags & MAY_RETRY))
		status = BCL_ERR_NOMEM;
	while (status == BCL_OK && !survivors)
		status = try(lost, ranks, &survivors);
	if (status == BCL_OK)
		*team = survivors;
	return status;
}

enum bcl_status bcl_team_shrink(struct bcl_team *lost, struct bcl_team **team)
{
	enum bcl_status status = bcl_team_usable(lost);
	unsigned *ranks;

	if (status != BCL_OK)
		return status;
	if (!team)
		return BCL_ERR_ARG;
	ranks = malloc(lost->size * sizeof(*ranks));
	status = shrink(lost, ranks, team);
	free(ranks);
	return status;
}
