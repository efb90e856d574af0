/* SPDX-License-Identifier: MIT */
/*
 * The loss of a team, and the way by which members learn of it. Each member
 * that learns of the loss tells its neighbours, the members 1, 2, 4, ... places
 * before and after. So every live member of the team hears of the loss, unless
 * as many members have died at once as a member has neighbours.
 */
#ifndef BCL_COLLECTIVES_LOSS_H
#define BCL_COLLECTIVES_LOSS_H

#include <stdbool.h>
#include <stdint.h>

#include <bcl/status.h>

struct bcl_team;
struct bcl_teams;

/*
 * The team depends on something that was lost: all its operations end with the
 * status, here and, as the members tell each other, everywhere. Does nothing if
 * the team is lost already. Lock held.
 */
void bcl_team_lose(struct bcl_team *team, enum bcl_status status);

/* The same; takes the lock. */
void bcl_team_fail(struct bcl_team *team, enum bcl_status status);

/*
 * The caller fails before the caller's side of a new team exists. The creation
 * of the team, which has the name `birth` until then, fails at the other
 * members, too, with the status. ranks: the n members, in the parent. Takes the
 * lock.
 */
void bcl_team_unborn(struct bcl_team *parent, const unsigned *ranks, unsigned n,
		     uint64_t birth, enum bcl_status status);

/* Word 0 of an out-of-band message says that a team is lost: lose all teams
 * here that have the name in it. Returns false if there is none. Lock held. */
bool bcl_loss_hear(struct bcl_teams *teams, uint64_t news);

#endif
