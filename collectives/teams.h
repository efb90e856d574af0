/* SPDX-License-Identifier: MIT */
/*
 * All teams of a job in this process, the numbers handed out here, and the
 * names of teams in out-of-band messages.
 */
#ifndef BCL_COLLECTIVES_TEAMS_H
#define BCL_COLLECTIVES_TEAMS_H

#include <stdint.h>

#include "adi/internal.h"
#include "collectives/team.h"

enum {
	/* Losses recorded for teams that are not known here yet. */
	BCL_TEAMS_EARLY = 64,
	BCL_TEAMS_NAME = 44, /* bits of a name */
};

/* Word 0 of an out-of-band message holds a team's name and, above the name,
 * the status with which the team was lost, or this value: a comparison
 * (compare.h). */
#define BCL_TEAMS_COMPARE (UINT64_C(0xfffff) << BCL_TEAMS_NAME)
/* Only wakes a rank that sleeps. No team has this name. */
#define BCL_TEAMS_WAKE UINT64_C(0)
/* Makes the rank call bcl_node_audit(), since a member has waited long for
 * it. */
#define BCL_TEAMS_AUDIT UINT64_MAX

/* An agreement, at the beginning of the memory that it takes (agreement.h). */
struct bcl_agreements {
	struct bcl_agreements *next;
};

struct bcl_teams {
	struct bcl_adi_client client; /* first */
	struct bcl_team *teams;
	struct bcl_agreements *agreements; /* whose messages are not over */
	uint64_t numbers[BCL_TEAM_NUMBERS / 64 + 1]; /* bits: in use */
	uint16_t generation;
	uint64_t early[BCL_TEAMS_EARLY];
	unsigned nearly; /* losses ever recorded */
};

/* Get the job's object, made at the first call. NULL: no memory. Lock held. */
struct bcl_teams *bcl_teams_get(struct bcl_adi *adi);

/*
 * The name of a team in out-of-band messages: its number, its first member's
 * rank in the job, and the generation of the number. Never 0.
 */
uint64_t bcl_teams_name(unsigned number, unsigned rank, unsigned generation);

/* The name of a team while it is created from a parent with this id. The
 * parent's own name would not do: the parent may be lost already, and this loss
 * does not concern the new team. */
uint64_t bcl_teams_birth(uint64_t parent, unsigned id);

/* Get a number for a team whose first member is this rank. NOMEM: all numbers
 * are in use. */
enum bcl_status bcl_teams_number(struct bcl_teams *teams, unsigned *number,
				 unsigned *generation);
void bcl_teams_number_free(struct bcl_teams *teams, unsigned number);

static inline uint64_t bcl_teams_name_in(uint64_t news)
{
	return news & ((UINT64_C(1) << BCL_TEAMS_NAME) - 1);
}

/* From now on the team is found by its names. */
void bcl_teams_add(struct bcl_teams *teams, struct bcl_team *team);
/* A team has a new name, under which a loss may be recorded already. */
void bcl_teams_named(struct bcl_teams *teams, uint64_t name);
void bcl_teams_remove(struct bcl_teams *teams, struct bcl_team *team);

/* The memory of an agreement is freed with the job, unless the agreement is
 * forgotten before. */
void bcl_teams_keep(struct bcl_teams *teams, struct bcl_agreements *agreement);
void bcl_teams_forget(struct bcl_teams *teams,
		      struct bcl_agreements *agreement);

#endif
