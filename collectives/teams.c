/* SPDX-License-Identifier: MIT */
/*
 * The teams of a job in this process, and the out-of-band messages about them:
 * losses, comparisons, wake-ups, audits. See teams.h.
 */
#include "collectives/teams.h"

#include <stdlib.h>

#include "collectives/compare.h"
#include "collectives/loss.h"

enum {
	NAME_RANK = 12, /* bits below the rank: the number */
	NAME_GENERATION = 28,
};

uint64_t bcl_teams_name(unsigned number, unsigned rank, unsigned generation)
{
	return number | (uint64_t)rank << NAME_RANK |
	       (uint64_t)generation << NAME_GENERATION;
}

uint64_t bcl_teams_birth(uint64_t parent, unsigned id)
{
	/* A hash, which is most probably no team's name: numbers of teams are
	 * small, and generations seldom many. */
	uint64_t mixed =
		(parent * BCL_TEAM_IDS_ALL + id) * UINT64_C(0x9e3779b97f4a7c15);

	return mixed >> (64 - BCL_TEAMS_NAME) | 1;
}

static void compare(struct bcl_teams *teams, unsigned rank,
		    const struct bcl_adi_oob *oob)
{
	uint64_t name = oob->word[0] & ~BCL_TEAMS_COMPARE;
	struct bcl_team *team = teams->teams;

	while (team && team->name != name)
		team = team->next;
	if (team)
		bcl_compare_hear(team, rank, oob);
}

static void hear(struct bcl_adi_client *client, unsigned rank,
		 const struct bcl_adi_oob *oob)
{
	struct bcl_teams *teams = (struct bcl_teams *)client;
	uint64_t news = oob->word[0];
	struct bcl_team *team;

	if (news == BCL_TEAMS_AUDIT)
		for (team = teams->teams; team; team = team->next)
			if (team->shares)
				bcl_node_audit(&team->node);
	if (news == BCL_TEAMS_WAKE || news == BCL_TEAMS_AUDIT)
		return;
	if ((news & BCL_TEAMS_COMPARE) == BCL_TEAMS_COMPARE)
		compare(teams, rank, oob);
	else if (!bcl_loss_hear(teams, news))
		teams->early[teams->nearly++ % BCL_TEAMS_EARLY] = news;
}

/* The engine has waited long for operations of teams. */
static bool wait_long(struct bcl_adi_client *client)
{
	struct bcl_teams *teams = (struct bcl_teams *)client;
	struct bcl_team *team;
	bool told = false;

	for (team = teams->teams; team; team = team->next)
		if (team->running)
			told |= bcl_compare_tell(team);
	return told;
}

static void close_teams(struct bcl_adi_client *client)
{
	struct bcl_teams *teams = (struct bcl_teams *)client;
	struct bcl_agreements *agreement;

	while ((agreement = teams->agreements)) {
		teams->agreements = agreement->next;
		free(agreement);
	}
	free(teams);
}

struct bcl_teams *bcl_teams_get(struct bcl_adi *adi)
{
	struct bcl_adi_client **client = bcl_adi_client(adi);
	struct bcl_teams *teams;

	if (*client)
		return (struct bcl_teams *)*client;
	teams = calloc(1, sizeof(*teams));
	if (!teams)
		return NULL;
	teams->client.oob = hear;
	teams->client.wait = wait_long;
	teams->client.close = close_teams;
	*client = &teams->client;
	return teams;
}

enum bcl_status bcl_teams_number(struct bcl_teams *teams, unsigned *number,
				 unsigned *generation)
{
	unsigned i;

	for (i = 0; i < BCL_TEAM_NUMBERS; i++) {
		uint64_t bit = 1ull << i % 64;

		if (teams->numbers[i / 64] & bit)
			continue;
		teams->numbers[i / 64] |= bit;
		*number = i;
		/* never 0, so that no name is 0 */
		if (!++teams->generation)
			teams->generation = 1;
		*generation = teams->generation;
		return BCL_OK;
	}
	return BCL_ERR_NOMEM;
}

void bcl_teams_number_free(struct bcl_teams *teams, unsigned number)
{
	teams->numbers[number / 64] &= ~(1ull << number % 64);
}

void bcl_teams_add(struct bcl_teams *teams, struct bcl_team *team)
{
	team->next = teams->teams;
	teams->teams = team;
}

void bcl_teams_named(struct bcl_teams *teams, uint64_t name)
{
	unsigned i, n = teams->nearly;

	for (i = n > BCL_TEAMS_EARLY ? n - BCL_TEAMS_EARLY : 0; i < n; i++) {
		uint64_t news = teams->early[i % BCL_TEAMS_EARLY];

		if (bcl_teams_name_in(news) == name)
			bcl_loss_hear(teams, news);
	}
}

void bcl_teams_remove(struct bcl_teams *teams, struct bcl_team *team)
{
	struct bcl_team **link = &teams->teams;

	while (*link != team) {
		bcl_assert(*link);
		link = &(*link)->next;
	}
	*link = team->next;
}

void bcl_teams_keep(struct bcl_teams *teams, struct bcl_agreements *agreement)
{
	agreement->next = teams->agreements;
	teams->agreements = agreement;
}

void bcl_teams_forget(struct bcl_teams *teams, struct bcl_agreements *agreement)
{
	struct bcl_agreements **link = &teams->agreements;

	while (*link != agreement) {
		bcl_assert(*link);
		link = &(*link)->next;
	}
	*link = agreement->next;
}
