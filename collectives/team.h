/* SPDX-License-Identifier: MIT */
/*
 * The inside of a team.
 *
 * A team is named by the rank of its first member in the job and by a number
 * that this member hands out, or that comes from the id of bcl_team_derive().
 * Messages carry the number in their context; their tag carries the rank and
 * the operation's number.
 *
 * The job's lock (adi/internal.h) protects the schedules and the node segment's
 * state. All else is constant after creation.
 */
#ifndef BCL_COLLECTIVES_TEAM_H
#define BCL_COLLECTIVES_TEAM_H

#include <sys/types.h>

#include <bcl/coll.h>

#include "base/base.h"
#include "collectives/calls.h"
#include "collectives/layout.h"
#include "collectives/node.h"
#include "collectives/schedule.h"
#include "collectives/select.h"
#include "env/process.h"

enum {
	/* Teams at a time with the same first member; one more number serves
	 * bcl_team_world(). */
	BCL_TEAM_NUMBERS = 2047,
	/* Ids of teams in creation: first the caller's, then those of split.c,
	 * then those of shrink.c. */
	BCL_TEAM_IDS = 1024,
	BCL_TEAM_IDS_SPLIT = 4096,
	BCL_TEAM_IDS_ALL = 8192,
	/* Numbers of derived teams are BCL_TEAM_DERIVED + id. */
	BCL_TEAM_DERIVED = BCL_TEAM_NUMBERS + 1,
	BCL_TEAM_DERIVED_IDS = 2047,
	BCL_TEAM_RUNNING_MAX = 1024, /* operations of a team at a time */
	/* Agreements of a team whose messages are under way. */
	BCL_TEAM_AGREEMENTS = 64,

	/* A tag: the first member's rank, then 15 bits: the operation's number
	 * or, with a bit before it, the id of a team in creation. */
	BCL_TEAM_TAG_RANK = 1 << 15,
	BCL_TEAM_TAG_CREATE = 1 << 14,
	BCL_TEAM_TAG_GRANT = 1 << 13, /* grants a window; not data */
	BCL_TEAM_TAG_SEQUENCE = (1 << 13) - 1,
	/* No team in creation grants a window. */
	BCL_TEAM_TAG_AGREE = BCL_TEAM_TAG_CREATE | BCL_TEAM_TAG_GRANT,
};

struct bcl_teams; /* all teams of a job in this process: teams.h */

struct bcl_team {
	struct bcl_adi *adi;
	struct bcl_counter_page *counters;
	struct bcl_teams *teams;
	struct bcl_team *next;
	uint32_t fork_generation; /* a forked child has another one */
	unsigned rank, size;
	uint32_t *ranks;       /* ranks in the job; NULL: as in the team */
	unsigned context, tag; /* of messages: tag | sequence */
	unsigned sequence, sequence_mask; /* of the next operation */
	/*
	 * The team's name in out-of-band messages (teams.h), 0 as long as there
	 * is none. birth: until all members have joined, the name among the
	 * members that create the team; then 0.
	 */
	uint64_t name, birth;
	/* Until all members have joined: the team whose loss is the loss of
	 * this team, too; or NULL. */
	const struct bcl_team *parent;
	unsigned splits, shrinks; /* teams made by split.c and by shrink.c */
	unsigned agreements;	  /* begun */
	/* Members that are dead by the last agreement (agreement.h); NULL:
	 * there was none. */
	uint64_t *dead;
	unsigned my_node, my_member;
	struct bcl_layout layout;
	struct bcl_basis basis; /* of the choices */
	struct bcl_choices choices;
	/* Operations with fewer bytes go through the node's flag lines
	 * alone. */
	size_t brief[BCL_OPERATIONS];
	enum bcl_status lost;	/* not OK: lost, and why */
	struct bcl_calls calls; /* since all members have joined */
	/* The operation of the last bcl_compare_tell(), and the number of calls
	 * for this operation (compare.h). */
	unsigned stalled, stalls;

	bool shares;	/* the node has a segment */
	bool can_sleep; /* all members of the node can sleep (park.h) */
	struct bcl_node node;
	uint64_t tickets; /* tickets for the segment given out */
	uint64_t turn;	  /* the ticket that has its turn */
	unsigned direct;  /* operations past the engine */
	unsigned polls;	  /* looks at a flag between two turns of the engine, or
			     yields */
	/* Of the members, where all members are on one node and may attach to
	 * all (attached.h); or NULL. */
	pid_t *processes;
	struct bcl_memory *segment;    /* at the leader */
	struct bcl_peer *segment_peer; /* at the others: the leader */
	unsigned char segment_key[BCL_KEY_MAX];

	struct bcl_schedule *running, **running_last; /* the oldest first */
	struct bcl_schedule *idle;
	unsigned nrunning;
	struct bcl_persistent *persistent; /* operations of the team */
};

/* ARG: there is no team; FORKED: the team is the parent process's. */
static inline enum bcl_status bcl_team_usable(const struct bcl_team *team)
{
	if (bcl_unlikely(!team))
		return BCL_ERR_ARG;
	return bcl_unlikely(team->fork_generation != bcl_fork_generation())
		       ? BCL_ERR_FORKED
		       : BCL_OK;
}

/*
 * As bcl_team_create(), with an id of up to BCL_TEAM_IDS_ALL - 1. bound: if the
 * parent is lost before all members have joined, the new team is lost, too; a
 * member that fails without the others loses the parent. Not bound, with an id
 * that is not the caller's: such a member tells the others, and the creation
 * fails at all.
 */
enum bcl_status bcl_team_make(struct bcl_team *parent, const unsigned *ranks,
			      unsigned n, unsigned id, bool bound,
			      struct bcl_team **team);

/* The rank of a member in the job. */
static inline unsigned bcl_team_job_rank(const struct bcl_team *team,
					 unsigned rank)
{
	return team->ranks ? team->ranks[rank] : rank;
}

/*
 * create.c: the members of a new team agree on its name, its layout, the
 * segments of its nodes and its algorithms. hosts: NULL if the members must
 * exchange them. *refused: no number is left for the team, and all members hear
 * so.
 */
enum bcl_status bcl_team_join(struct bcl_team *team, const uint64_t *hosts,
			      bool *refused);
void bcl_team_leave_segment(struct bcl_team *team);

/* create.c: sets the layout of a derived team, and its choices on the basis of
 * the parent. Sends nothing. NOMEM. */
enum bcl_status bcl_team_settle(struct bcl_team *team, const uint64_t *hosts,
				const struct bcl_basis *basis);

/* Make the team use the algorithm with this name; for tests, called alike at
 * all members. */
enum bcl_status bcl_team_force(struct bcl_team *team,
			       enum bcl_operation operation, const char *name);

#endif
