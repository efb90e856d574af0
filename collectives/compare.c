/* SPDX-License-Identifier: MIT */
/*
 * Compares the calls of a team's members while they wait for long, and loses
 * the team if the calls differ. See compare.h.
 */
#include "collectives/compare.h"

#include <stdio.h>

#include "collectives/group.h"
#include "collectives/loss.h"
#include "collectives/team.h"
#include "collectives/teams.h"
#include "env/counters.h"
#include "env/log.h"
#include "transport/context.h"

enum {
	TRACE = BCL_CALLS_TRACE, /* bits below the operation's number */
};

/* The oldest operation that is not over: one that the engine carries on, or the
 * operation in which this rank waits. */
static unsigned oldest(const struct bcl_team *team)
{
	return team->running ? team->running->sequence : team->sequence - 1;
}

/* True if the call is still recorded. */
static bool keeps(const struct bcl_team *team, unsigned sequence)
{
	unsigned before = team->sequence - sequence;

	return before > 0 && before <= BCL_CALLS_KEPT;
}

static void tell_neighbour(struct bcl_team *team, unsigned rank,
			   unsigned sequence)
{
	unsigned i = sequence % BCL_CALLS_KEPT;
	struct bcl_adi_oob oob = {
		.word = {
			team->name | BCL_TEAMS_COMPARE,
			(uint64_t)sequence << TRACE |
				(uint32_t)team->calls.trace[i],
			team->calls.call[i],
		},
	};

	bcl_adi_oob_send(team->adi, bcl_team_job_rank(team, rank), &oob);
}

bool bcl_compare_tell(struct bcl_team *team)
{
	unsigned n = team->size, sequence = oldest(team);
	unsigned after = (team->rank + 1) % n;
	unsigned before = (team->rank + n - 1) % n;

	/* members are not in step while the team is created */
	if (team->lost != BCL_OK || team->birth || !keeps(team, sequence))
		return false;
	if (team->stalled != sequence)
		team->stalls = 0;
	team->stalled = sequence;
	team->stalls++;
	if (team->stalls & (team->stalls - 1))
		return false;
	bcl_count(team->counters, coll_compared);
	tell_neighbour(team, after, sequence);
	if (before != after)
		tell_neighbour(team, before, sequence);
	return true;
}

static void lose_team(struct bcl_team *team)
{
	bcl_count(team->counters, coll_differ);
	bcl_team_lose(team, BCL_ERR_TRUNCATED);
}

void bcl_compare_hear(struct bcl_team *team, unsigned rank,
		      const struct bcl_adi_oob *oob)
{
	const struct bcl_config *config = &bcl_adi_context(team->adi)->config;
	unsigned sequence = (unsigned)(oob->word[1] >> TRACE);
	unsigned i = sequence % BCL_CALLS_KEPT;
	uint64_t call = team->calls.call[i], theirs = oob->word[2];

	if (team->lost != BCL_OK || team->birth || !keeps(team, sequence) ||
	    (uint32_t)team->calls.trace[i] == (uint32_t)oob->word[1])
		return;
	if (call != theirs)
		bcl_log(config, BCL_LOG_WARN, "coll",
			"rank %u calls %s with %llu bytes where rank %u calls "
			"%s with %llu",
			rank, bcl_calls_name(theirs), bcl_calls_length(theirs),
			bcl_team_job_rank(team, team->rank),
			bcl_calls_name(call), bcl_calls_length(call));
	else
		bcl_log(config, BCL_LOG_WARN, "coll",
			"before %s with %llu bytes ranks %u and %u have called "
			"an operation with different lengths, or different "
			"operations",
			bcl_calls_name(call), bcl_calls_length(call), rank,
			bcl_team_job_rank(team, team->rank));
	lose_team(team);
}

void bcl_compare_node(struct bcl_team *team, unsigned sequence,
		      const struct bcl_node_op *op)
{
	const struct bcl_node *node = &team->node;
	struct bcl_group group = bcl_group_node(team);
	unsigned other = bcl_group_rank(&group, node->differs - 1);
	char theirs[32] = "other";

	if (node->theirs != UINT64_MAX)
		snprintf(theirs, sizeof(theirs), "%llu",
			 (unsigned long long)node->theirs);
	bcl_log(&bcl_adi_context(team->adi)->config, BCL_LOG_WARN, "coll",
		"rank %u gives %s bytes to %s where rank %u gives %zu: ranks "
		"call one operation with different lengths, or different "
		"operations",
		bcl_team_job_rank(team, other), theirs,
		bcl_calls_name(team->calls.call[sequence % BCL_CALLS_KEPT]),
		bcl_team_job_rank(team, team->rank),
		bcl_node_bytes(op, node->differs - 1));
	lose_team(team);
}
