/* SPDX-License-Identifier: MIT */
/*
 * Loses teams, and tells other members of it. See loss.h.
 */
#include "collectives/loss.h"

#include "collectives/teams.h"
#include "env/counters.h"

static void tell_neighbours(struct bcl_team *team, uint64_t name)
{
	uint64_t news = name | (uint64_t)team->lost << BCL_TEAMS_NAME;
	const struct bcl_adi_oob oob = { { news } };
	unsigned n = team->size, distance;

	for (distance = 1; distance < n; distance *= 2) {
		unsigned after = (team->rank + distance) % n;
		unsigned before = (team->rank + n - distance) % n;

		bcl_adi_oob_send(team->adi, bcl_team_job_rank(team, after),
				 &oob);
		if (before != after)
			bcl_adi_oob_send(team->adi,
					 bcl_team_job_rank(team, before), &oob);
	}
	bcl_loss_hear(team->teams, news);
}

void bcl_team_lose(struct bcl_team *team, enum bcl_status status)
{
	struct bcl_schedule *schedule;
	struct bcl_team *child;

	if (team->lost != BCL_OK)
		return;
	team->lost = status;
	bcl_count(team->counters, coll_teams_lost);
	if (team->name)
		tell_neighbours(team, team->name);
	if (team->birth)
		tell_neighbours(team, team->birth);
	for (schedule = team->running; schedule; schedule = schedule->next)
		bcl_adi_schedule_fail(&schedule->engine, status);
	for (child = team->teams->teams; child; child = child->next)
		if (child->parent == team)
			bcl_team_lose(child, status);
}

void bcl_team_fail(struct bcl_team *team, enum bcl_status status)
{
	bcl_adi_lock(team->adi);
	bcl_team_lose(team, status);
	bcl_adi_unlock(team->adi);
}

bool bcl_loss_hear(struct bcl_teams *teams, uint64_t news)
{
	enum bcl_status status = (enum bcl_status)(news >> BCL_TEAMS_NAME);
	uint64_t name = bcl_teams_name_in(news);
	struct bcl_team *team;
	bool found = false;

	for (team = teams->teams; team; team = team->next) {
		if (team->name != name && team->birth != name)
			continue;
		bcl_team_lose(team, status);
		found = true;
	}
	return found;
}
