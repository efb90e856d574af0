/* SPDX-License-Identifier: MIT */
/*
 * All teams of a job in this process: the numbers handed out here, and the
 * way of the news that a team is lost, which every member that learns it
 * passes on to those 1, 2, 4, ... places before and after itself: whoever of
 * the team lives hears it, unless that many have died at once.
 */
#ifndef BCL_COLLECTIVES_TEAMS_H
#define BCL_COLLECTIVES_TEAMS_H

#include <stdint.h>

#include "adi/internal.h"
#include "collectives/team.h"

enum {
	/* News of teams that are not known here yet. */
	BCL_TEAMS_EARLY = 64,
};

/* What a notice says, beside a team's name: why it is lost, which is a status,
 * or what is compared (compare.h). */
#define BCL_TEAMS_COMPARE (UINT64_C(0xfffff) << 44)
/* For a rank that sleeps: only that it gets up. No team is so named. */
#define BCL_TEAMS_WAKE UINT64_C(0)
/* Likewise, that it calls bcl_node_audit(): what waits for it has waited for
 * long. */
#define BCL_TEAMS_AUDIT UINT64_MAX

struct bcl_teams {
	struct bcl_adi_client client; /* first */
	struct bcl_team *teams;
	uint64_t numbers[BCL_TEAM_NUMBERS / 64 + 1]; /* bits: in use */
	uint16_t generation;
	uint64_t early[BCL_TEAMS_EARLY];
	unsigned nearly; /* ever kept */
};

/* The job's, made when first asked for; NULL: no memory. Lock held. */
struct bcl_teams *bcl_teams_get(struct bcl_adi *adi);

/*
 * What a team is called in the news: its number, its first member's rank in
 * the job, and which of the teams so named it is.
 */
uint64_t bcl_teams_name(unsigned number, unsigned rank, unsigned generation);

/* What a team of this id is called while it is made out of a parent, which may
 * be lost already: that is no news of those who make another. */
uint64_t bcl_teams_birth(uint64_t parent, unsigned id);

/* A number for a team whose first member is here. NOMEM: all are in use. */
enum bcl_status bcl_teams_number(struct bcl_teams *teams, unsigned *number,
				 unsigned *generation);
void bcl_teams_number_free(struct bcl_teams *teams, unsigned number);

/* A team is known here by its names from now on. */
void bcl_teams_add(struct bcl_teams *teams, struct bcl_team *team);
/* It has got another name, under which it may be lost already. */
void bcl_teams_named(struct bcl_teams *teams, struct bcl_team *team);
void bcl_teams_remove(struct bcl_teams *teams, struct bcl_team *team);

/* Tell the neighbours that it is lost. */
void bcl_teams_tell(struct bcl_team *team);

#endif
