/* SPDX-License-Identifier: MIT */
/*
 * Teams from the first call to the last: makes, names to the job, cancels and
 * frees them, and answers questions about them. See team.h.
 */
#include "collectives/team.h"

#include <stdlib.h>

#include "collectives/call.h"
#include "collectives/loss.h"
#include "collectives/persistent.h"
#include "collectives/teams.h"
#include "env/counters.h"
#include "transport/context.h"

static void destroy(struct bcl_team *team)
{
	bcl_team_leave_segment(team);
	bcl_persistent_part(team);
	bcl_schedule_drain(team);
	bcl_layout_fini(&team->layout);
	free(team->ranks);
	free(team->dead);
	free(team);
}

/* A team to be created under a context and a tag. ranks: the team takes the
 * memory over; NULL: all ranks of the job. */
static struct bcl_team *team_new(struct bcl_adi *adi, uint32_t *ranks,
				 unsigned size, unsigned rank, unsigned context,
				 unsigned tag, uint64_t birth)
{
	struct bcl_team *team = calloc(1, sizeof(*team));

	if (!team) {
		free(ranks);
		return NULL;
	}
	*team = (struct bcl_team){
		.adi = adi,
		.fork_generation = bcl_fork_generation(),
		.counters = bcl_adi_counters(adi),
		.ranks = ranks,
		.size = size,
		.rank = rank,
		.context = context,
		.tag = tag,
		.birth = birth,
	};
	bcl_adi_lock(adi);
	team->teams = bcl_teams_get(adi);
	if (team->teams)
		bcl_teams_add(team->teams, team);
	bcl_adi_unlock(adi);
	if (!team->teams) {
		destroy(team);
		return NULL;
	}
	return team;
}

/* Create the team. hosts: NULL if the members must exchange them. */
static enum bcl_status create(struct bcl_team *team, const uint64_t *hosts)
{
	bool refused = false;
	enum bcl_status status = bcl_team_join(team, hosts, &refused);

	bcl_adi_lock(team->adi);
	if (status == BCL_OK) {
		bcl_count(team->counters, coll_teams);
		/* Members alone on a node ran fewer operations so far. */
		team->sequence = 0;
		team->calls = (struct bcl_calls){ 0 };
		team->sequence_mask = BCL_TEAM_TAG_SEQUENCE;
		team->birth = 0;
		team->parent = NULL;
	} else {
		if (!refused)
			bcl_team_lose(team, status);
		bcl_teams_remove(team->teams, team);
	}
	bcl_adi_unlock(team->adi);
	if (status != BCL_OK)
		destroy(team);
	return status;
}

enum bcl_status bcl_team_world(struct bcl_adi *adi, struct bcl_team **team)
{
	struct bcl_team *world;
	enum bcl_status status;

	if (!adi || !team)
		return BCL_ERR_ARG;
	status = bcl_context_usable(bcl_adi_context(adi));
	if (status == BCL_OK)
		status = bcl_preferences_check(&bcl_adi_context(adi)->config);
	if (status != BCL_OK)
		return status;
	world = team_new(adi, NULL, bcl_adi_size(adi), bcl_adi_rank(adi),
			 BCL_ADI_CONTEXT_COLLECTIVE + BCL_TEAM_NUMBERS, 0,
			 bcl_teams_name(BCL_TEAM_NUMBERS, 0, 0));
	if (!world)
		return BCL_ERR_NOMEM;
	status = create(world, NULL);
	if (status == BCL_OK)
		*team = world;
	return status;
}

/* The members of a new team: ranks in the job, nodes, and the caller's rank. */
struct members {
	uint32_t *in_job;
	uint64_t *hosts;
	unsigned me;
};

/* ARG: a rank is no member of the parent or is there twice, or the own rank is
 * not there. */
static enum bcl_status find_members(const struct bcl_team *parent,
				    const unsigned *ranks, unsigned n,
				    struct members *members)
{
	unsigned char *seen = calloc(parent->size, 1);
	enum bcl_status status = BCL_OK;
	unsigned i;

	if (!seen)
		return BCL_ERR_NOMEM;
	members->me = n;
	for (i = 0; i < n; i++) {
		if (ranks[i] >= parent->size || seen[ranks[i]]) {
			status = BCL_ERR_ARG;
			break;
		}
		seen[ranks[i]] = 1;
		if (ranks[i] == parent->rank)
			members->me = i;
		members->in_job[i] = bcl_team_job_rank(parent, ranks[i]);
		members->hosts[i] = bcl_layout_node(&parent->layout, ranks[i]);
	}
	free(seen);
	return members->me == n ? BCL_ERR_ARG : status;
}

/* Looks up the members in the parent. The caller frees both arrays. */
static enum bcl_status get_members(const struct bcl_team *parent,
				   const unsigned *ranks, unsigned n,
				   struct members *members)
{
	enum bcl_status status = BCL_ERR_NOMEM;

	members->in_job = malloc(n * sizeof(*members->in_job));
	members->hosts = malloc(n * sizeof(*members->hosts));
	if (members->in_job && members->hosts)
		status = find_members(parent, ranks, n, members);
	if (status == BCL_OK)
		return BCL_OK;
	free(members->in_job);
	free(members->hosts);
	*members = (struct members){ 0 };
	return status;
}

/* If the parent is lost, or will be before all members have joined, so is the
 * new team. */
static void bind_to(struct bcl_team *team, struct bcl_team *parent)
{
	bcl_adi_lock(team->adi);
	team->parent = parent;
	if (parent->lost != BCL_OK)
		bcl_team_lose(team, parent->lost);
	bcl_adi_unlock(team->adi);
}

/* Another member may have failed before this member begins. The caller's ids do
 * not come here, since callers may use an id again after a failure. */
static void hear_early(struct bcl_team *team)
{
	bcl_adi_lock(team->adi);
	bcl_teams_named(team->teams, team->birth);
	bcl_adi_unlock(team->adi);
}

/* The new team, not created yet. NULL: no memory. */
static struct bcl_team *new_child(struct bcl_team *parent,
				  const struct members *members, unsigned n,
				  unsigned id)
{
	struct bcl_team *child = team_new(
		parent->adi, members->in_job, n, members->me, parent->context,
		parent->tag | BCL_TEAM_TAG_CREATE | id,
		bcl_teams_birth(parent->name, id));

	if (child && id >= BCL_TEAM_IDS)
		hear_early(child);
	return child;
}

enum bcl_status bcl_team_make(struct bcl_team *parent, const unsigned *ranks,
			      unsigned n, unsigned id, bool bound,
			      struct bcl_team **team)
{
	struct members members = { 0 };
	enum bcl_status status = get_members(parent, ranks, n, &members);
	struct bcl_team *child = NULL;

	if (status == BCL_OK) {
		child = new_child(parent, &members, n, id);
		status = child ? BCL_OK : BCL_ERR_NOMEM;
	}
	if (child) {
		if (bound)
			bind_to(child, parent);
		status = create(child, members.hosts);
		if (status == BCL_OK)
			*team = child;
	} else if (bound) {
		bcl_team_fail(parent, status);
	} else if (id >= BCL_TEAM_IDS) {
		bcl_team_unborn(parent, ranks, n,
				bcl_teams_birth(parent->name, id), status);
	}
	free(members.hosts);
	return status;
}

enum bcl_status bcl_team_create(struct bcl_team *parent, const unsigned *ranks,
				unsigned n, unsigned id, struct bcl_team **team)
{
	enum bcl_status status = bcl_team_usable(parent);

	if (status != BCL_OK)
		return status;
	if (!ranks || !n || n > parent->size || id >= BCL_TEAM_IDS || !team)
		return BCL_ERR_ARG;
	return bcl_team_make(parent, ranks, n, id, false, team);
}

_Static_assert(BCL_ADI_CONTEXT_COLLECTIVE + BCL_TEAM_DERIVED +
			       BCL_TEAM_DERIVED_IDS ==
		       BCL_ADI_CONTEXT_CLOSE,
	       "derived teams have the last contexts");

/* Stands for the generation in the name of a derived team: teams of other
 * members that have the id later most probably have another name. */
static unsigned hash_members(const struct bcl_team *team)
{
	uint32_t hash = team->size;
	unsigned i;

	for (i = 0; i < team->size; i++)
		hash = (hash ^ team->ranks[i]) * UINT32_C(0x9e3779b1);
	return hash >> 16 | 1;
}

/* Makes a team known under the name that its members derive. */
static void name_derived(struct bcl_team *team)
{
	unsigned number = team->context - BCL_ADI_CONTEXT_COLLECTIVE;

	bcl_adi_lock(team->adi);
	team->sequence_mask = BCL_TEAM_TAG_SEQUENCE;
	team->name = bcl_teams_name(number, team->ranks[0], hash_members(team));
	bcl_teams_named(team->teams, team->name);
	bcl_count(team->counters, coll_teams);
	bcl_adi_unlock(team->adi);
}

enum bcl_status bcl_team_derive(struct bcl_team *parent, const unsigned *ranks,
				unsigned n, unsigned id, struct bcl_team **team)
{
	enum bcl_status status = bcl_team_usable(parent);
	struct members members;
	struct bcl_team *child;

	if (status != BCL_OK)
		return status;
	if (!ranks || !n || n > parent->size || id >= BCL_TEAM_DERIVED_IDS ||
	    !team)
		return BCL_ERR_ARG;
	status = get_members(parent, ranks, n, &members);
	if (status != BCL_OK)
		return status;
	child = team_new(parent->adi, members.in_job, n, members.me,
			 BCL_ADI_CONTEXT_COLLECTIVE + BCL_TEAM_DERIVED + id,
			 members.in_job[0] * BCL_TEAM_TAG_RANK, 0);
	status = child ? bcl_team_settle(child, members.hosts, &parent->basis)
		       : BCL_ERR_NOMEM;
	free(members.hosts);
	if (status == BCL_OK) {
		name_derived(child);
		*team = child;
	} else if (child) {
		bcl_adi_lock(child->adi);
		bcl_teams_remove(child->teams, child);
		bcl_adi_unlock(child->adi);
		destroy(child);
	}
	return status;
}

enum bcl_status bcl_team_cancel(struct bcl_team *team)
{
	enum bcl_status status = bcl_team_usable(team);

	if (status != BCL_OK)
		return status;
	bcl_team_fail(team, BCL_ERR_CANCELLED);
	return BCL_OK;
}

void bcl_team_free(struct bcl_team *team)
{
	unsigned number;

	if (bcl_team_usable(team) != BCL_OK)
		return;
	number = team->context - BCL_ADI_CONTEXT_COLLECTIVE;
	/* after the barrier no member uses the segment or the name */
	if (number < BCL_TEAM_DERIVED)
		bcl_barrier(team);
	bcl_adi_lock(team->adi);
	/* operations of a lost team end by themselves */
	while (team->nrunning)
		bcl_adi_turn(team->adi);
	bcl_teams_remove(team->teams, team);
	/* Messages of a lost team may still arrive, so its number is not used
	 * again. */
	if (team->rank == 0 && team->lost == BCL_OK &&
	    number < BCL_TEAM_DERIVED)
		bcl_teams_number_free(team->teams, number);
	bcl_adi_unlock(team->adi);
	destroy(team);
}

/* ---- queries ------------------------------------------------------------ */

unsigned bcl_team_rank(const struct bcl_team *team)
{
	return team ? team->rank : 0;
}

unsigned bcl_team_size(const struct bcl_team *team)
{
	return team ? team->size : 0;
}

void bcl_team_node(const struct bcl_team *team, unsigned rank, unsigned *node,
		   unsigned *members)
{
	if (!team || rank >= team->size || !node || !members)
		return;
	*node = bcl_layout_node(&team->layout, rank);
	*members = bcl_layout_members(&team->layout, *node);
}

enum bcl_status bcl_team_force(struct bcl_team *team,
			       enum bcl_operation operation, const char *name)
{
	const struct bcl_algorithm *algorithm =
		bcl_algorithm_find(operation, name, strlen(name));
	struct bcl_model model;
	enum bcl_status status;

	if (!algorithm)
		return BCL_ERR_ARG;
	bcl_model_init(&model, team);
	status = bcl_choices_force(&team->choices, &model, operation, algorithm,
				   0);
	bcl_call_prepare(team);
	return status;
}
