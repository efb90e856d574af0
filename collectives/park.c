/* SPDX-License-Identifier: MIT */
/*
 * Long waits of members of a node for each other: checks that the others live,
 * and sleeps. See park.h.
 */
#include "collectives/park.h"

#include "collectives/compare.h"
#include "collectives/group.h"
#include "collectives/loss.h"
#include "collectives/team.h"
#include "collectives/teams.h"
#include "env/charge.h"
#include "env/counters.h"
#include "transport/context.h"

enum {
	POLLS_PER_WATCH = 512,
	/* BCL_PEER_TIMEOUT divided by this: after such a wait a member connects
	 * to the awaited members, and tells its neighbours the operation
	 * (compare.h). */
	PATIENCE = 32,
	NAP = 1000000, /* ns, where no writer wakes the member */
	/* BCL_PEER_TIMEOUT divided by this: time between two audits, since a
	 * word in the segment may be wrong. */
	AUDITS = 8,
	SLEEP = 100000000, /* ns; then the member checks that the others live */
};

void bcl_park_init(struct bcl_node *node)
{
	if (node->env->charge)
		atomic_store_explicit(&node->sleepers->any, 1,
				      memory_order_relaxed);
}

/* A member may wait for long because another process of the same user has
 * overwritten a word of the segment. The out-of-band message makes each writer,
 * which may be elsewhere by now, write its words again. */
static void audit(struct bcl_team *team, const struct bcl_group *group)
{
	const struct bcl_adi_oob oob = { { BCL_TEAMS_AUDIT } };
	unsigned i;

	/* in virtual time one process has all the memory */
	if (!team->shares || team->node.env->virtual_time)
		return;
	bcl_count(team->counters, coll_audits);
	bcl_node_audit(&team->node);
	for (i = 0; i < group->size; i++)
		if (i != group->me)
			bcl_adi_oob_send(
				team->adi,
				bcl_team_job_rank(team,
						  bcl_group_rank(group, i)),
				&oob);
}

void bcl_park_watch(struct bcl_team *team, struct bcl_park *park)
{
	const struct bcl_env *env = bcl_adi_env(team->adi);
	uint64_t timeout = bcl_adi_context(team->adi)->config.peer_timeout;
	struct bcl_group group;
	struct bcl_peer *peer;
	uint64_t now;
	unsigned i;

	if (++park->polls % POLLS_PER_WATCH)
		return;
	now = env->now(env->world);
	if (!park->since)
		park->since = park->audited = now;
	if (now - park->since > timeout / PATIENCE)
		bcl_compare_tell(team);
	group = bcl_group_node(team);
	if (now - park->audited > timeout / AUDITS) {
		park->audited = now;
		audit(team, &group);
	}
	for (i = 0; i < group.size; i++) {
		unsigned rank =
			bcl_team_job_rank(team, bcl_group_rank(&group, i));
		enum bcl_status status;

		if (i == group.me)
			continue;
		/* a member learns of a death only from a connected peer */
		if (now - park->since > timeout / PATIENCE)
			bcl_adi_peer(team->adi, rank, &peer);
		status = bcl_adi_rank_status(team->adi, rank);
		if (status != BCL_OK)
			bcl_team_lose(team, status);
	}
}

/* ---- sleeping ---------------------------------------------------------- */

static void set_asleep(struct bcl_team *team, bool asleep)
{
	atomic_store_explicit(&team->node.sleepers->member[team->node.me],
			      asleep, memory_order_relaxed);
}

bool bcl_park_sleep(struct bcl_team *team, struct bcl_park *park)
{
	const struct bcl_env *env = bcl_adi_env(team->adi);

	if (!team->can_sleep) {
		bcl_adi_sleep(team->adi, NAP);
		return true;
	}
	if (!park->down) {
		park->down = true;
		set_asleep(team, true);
		/* pairs with the exchange in bcl_park_wake() */
		atomic_store_explicit(&team->node.sleepers->any, 1,
				      memory_order_release);
		env->barrier(env->world);
		return false;
	}
	bcl_count(team->counters, coll_sleeps);
	bcl_adi_sleep(team->adi, SLEEP);
	bcl_park_end(team, park);
	/* the awaited member may be dead by now: check soon */
	park->polls = POLLS_PER_WATCH - 1;
	return true;
}

void bcl_park_end(struct bcl_team *team, struct bcl_park *park)
{
	if (park->down)
		set_asleep(team, false);
	park->down = false;
}

void bcl_park_wake(struct bcl_team *team)
{
	const struct bcl_env *env = bcl_adi_env(team->adi);
	struct bcl_group group = bcl_group_node(team);
	struct bcl_sleepers *sleepers = team->node.sleepers;
	const struct bcl_adi_oob oob = { { BCL_TEAMS_WAKE } };
	unsigned i;

	if (env->charge) {
		env->charge->flag(env->world);
		return;
	}
	/* acquire: pairs with the release store of a member about to sleep */
	if (!atomic_exchange_explicit(&sleepers->any, 0, memory_order_acquire))
		return;
	for (i = 0; i < group.size; i++) {
		if (i == group.me ||
		    !atomic_load_explicit(&sleepers->member[i],
					  memory_order_relaxed))
			continue;
		bcl_count(team->counters, coll_wakes);
		bcl_adi_oob_send(
			team->adi,
			bcl_team_job_rank(team, bcl_group_rank(&group, i)),
			&oob);
	}
}
