/* SPDX-License-Identifier: MIT */
/*
 * Loses teams, and tells other members of it. See loss.h.
 */
#include "collectives/loss.h"

#include "collectives/attached.h"
#include "collectives/teams.h"
#include "env/counters.h"

static uint64_t news_of(uint64_t name, enum bcl_status status)
{
	return name | (uint64_t)status << BCL_TEAMS_NAME;
}

/* ranks: of the members, in the team; NULL: all members of the team. */
static void tell_member(struct bcl_team *team, const unsigned *ranks,
			unsigned member, uint64_t news)
{
	const struct bcl_adi_oob oob = { { news } };
	unsigned rank = ranks ? ranks[member] : member;

	bcl_adi_oob_send(team->adi, bcl_team_job_rank(team, rank), &oob);
}

/* me: the caller's place among the n members. */
static void tell_neighbours(struct bcl_team *team, const unsigned *ranks,
			    unsigned n, unsigned me, uint64_t news)
{
	unsigned distance;

	for (distance = 1; distance < n; distance *= 2) {
		unsigned after = (me + distance) % n;
		unsigned before = (me + n - distance) % n;

		tell_member(team, ranks, after, news);
		if (before != after)
			tell_member(team, ranks, before, news);
	}
}

static void tell_name(struct bcl_team *team, uint64_t name)
{
	uint64_t news = news_of(name, team->lost);

	tell_neighbours(team, NULL, team->size, team->rank, news);
	bcl_loss_hear(team->teams, news);
}

void bcl_team_lose(struct bcl_team *team, enum bcl_status status)
{
	struct bcl_schedule *schedule;
	struct bcl_team *child;

	if (team->lost != BCL_OK)
		return;
	team->lost = status;
	bcl_attached_withdraw(team);
	bcl_count(team->counters, coll_teams_lost);
	if (team->name)
		tell_name(team, team->name);
	if (team->birth)
		tell_name(team, team->birth);
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

void bcl_team_unborn(struct bcl_team *parent, const unsigned *ranks, unsigned n,
		     uint64_t birth, enum bcl_status status)
{
	unsigned me = 0;

	while (ranks[me] != parent->rank)
		me++;
	bcl_adi_lock(parent->adi);
	tell_neighbours(parent, ranks, n, me, news_of(birth, status));
	bcl_adi_unlock(parent->adi);
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
