/* SPDX-License-Identifier: MIT */
/*
 * The inside of a team.
 *
 * A team is named by the rank of its first member in the job and a number
 * which that member hands out; messages carry the number in their context,
 * the rank and the operation's number in their tag.
 *
 * The job's lock (adi/internal.h) protects the schedules and the node
 * segment's state; the rest is constant after creation.
 */
#ifndef BCL_COLLECTIVES_TEAM_H
#define BCL_COLLECTIVES_TEAM_H

#include <bcl/coll.h>

#include "collectives/calls.h"
#include "collectives/node.h"
#include "collectives/schedule.h"
#include "collectives/select.h"
#include "collectives/layout.h"
#include "transport/env/process.h"

enum {
	/* Teams that one rank can be the first member of at a time; one more
	 * number serves bcl_team_world(). */
	BCL_TEAM_NUMBERS = 2047,
	BCL_TEAM_IDS = 1024,
	BCL_TEAM_RUNNING_MAX = 1024, /* operations of a team at a time */

	/* Tags: the first member's rank, then 15 bits: the operation's number
	 * or, with a bit before it, the id of a team in creation. */
	BCL_TEAM_TAG_RANK = 1 << 15,
	BCL_TEAM_TAG_CREATE = 1 << 14,
	BCL_TEAM_TAG_GRANT = 1 << 13, /* of a window, not a message to it */
	BCL_TEAM_TAG_SEQUENCE = (1 << 13) - 1,
};

struct bcl_teams; /* all of a job in this process: teams.h */

struct bcl_team {
	struct bcl_adi *adi;
	struct bcl_counter_page *counters;
	struct bcl_teams *teams;
	struct bcl_team *next;
	uint32_t fork_generation; /* a forked child has another */
	unsigned rank, size;
	uint32_t *ranks;		  /* in the job; NULL: as in the team */
	unsigned context, tag;		  /* of its messages: tag | sequence */
	unsigned sequence, sequence_mask; /* of the next operation */
	/*
	 * Its name in the news (teams.h), 0 as long as it has none; and, until
	 * all have joined, the one that it has among those who make it.
	 */
	uint64_t name, birth;
	unsigned my_node, my_member;
	struct bcl_layout layout;
	struct bcl_choices choices;
	/* Less than so many bytes go through the node's flag lines alone. */
	size_t brief[BCL_OPERATIONS];
	enum bcl_status lost;	/* why it is of no use any more */
	struct bcl_calls calls; /* since all have joined */
	/* The operation that was told last as one that waits, and how often it
	 * was to be (compare.h). */
	unsigned stalled, stalls;

	bool shares;	/* has a segment */
	bool can_sleep; /* its members can (park.h) */
	struct bcl_node node;
	uint64_t tickets; /* turns in the segment given out */
	uint64_t turn;	  /* whose it is */
	unsigned direct;  /* operations that went past the engine */
	unsigned polls; /* looks at a flag between two turns of it, or yields */
	struct bcl_memory *segment;    /* the leader's */
	struct bcl_peer *segment_peer; /* the others': whose it is */
	unsigned char segment_key[BCL_KEY_MAX];

	struct bcl_schedule *running, **running_last; /* the oldest first */
	struct bcl_schedule *idle;
	unsigned nrunning;
};

/* ARG: there is none; FORKED: it is the parent's. */
static inline enum bcl_status bcl_team_usable(const struct bcl_team *team)
{
	if (__builtin_expect(!team, 0))
		return BCL_ERR_ARG;
	return __builtin_expect(team->fork_generation != bcl_fork_generation(),
				0)
		       ? BCL_ERR_FORKED
		       : BCL_OK;
}

/* In the job. */
static inline unsigned bcl_team_job_rank(const struct bcl_team *team,
					 unsigned rank)
{
	return team->ranks ? team->ranks[rank] : rank;
}

/*
 * The ranks among which an algorithm runs: all in some order, or one per
 * node.
 */
struct bcl_group {
	unsigned size, me;
	/* The order is that of nodes, from a place on; or one of each node, so
	 * many places behind its first. NULL: 0, 1, 2, ... */
	const struct bcl_layout *layout;
	unsigned place;
	bool by_node;
	/* In rooted operations the root speaks for its node. */
	unsigned replaced, replacement;
};

static inline unsigned bcl_group_rank(const struct bcl_group *group, unsigned i)
{
	if (i == group->replaced)
		return group->replacement;
	if (!group->layout)
		return i;
	if (group->by_node)
		i = bcl_layout_first(group->layout, i);
	return bcl_layout_rank(group->layout, group->place + i);
}

/* By rank. */
struct bcl_group bcl_group_all(const struct bcl_team *team);
/* By node. */
struct bcl_group bcl_group_ordered(const struct bcl_team *team);
/* The members of the own node. */
struct bcl_group bcl_group_node(const struct bcl_team *team);
/* Those that have the own member's place in their nodes, by node, where all
 * have as many members. */
struct bcl_group bcl_group_column(const struct bcl_team *team);
/* One per node, by node; `root` for its own. Only for those who are in it. */
struct bcl_group bcl_group_leaders(const struct bcl_team *team, unsigned root);

/*
 * Something was lost on which the team depends: all its operations end with
 * the status, here and, as the news spreads, everywhere. Lock held.
 */
void bcl_team_lose(struct bcl_team *team, enum bcl_status status);

/* Which algorithms the team uses: for tests, the same at all members. */
enum bcl_status bcl_team_force(struct bcl_team *team,
			       enum bcl_operation operation, const char *name);

#endif
