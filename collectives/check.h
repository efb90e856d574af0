/* SPDX-License-Identifier: MIT */
/*
 * With BCL_CHECK=on at the first member of bcl_team_world(), the members of a
 * team compare their calls before each operation: the operation, its lengths,
 * root, operator, type and distance. If the calls differ, the operation ends
 * with BCL_ERR_ARG at all members before a receive buffer is written, and the
 * team is lost. Each member that sees the difference logs it.
 *
 * Such an operation always runs by a schedule, even if there is nothing to
 * move. The schedule begins with the steps of bcl_check_build(): all members
 * gather a record of each call. Where lengths may differ from member to member,
 * each pair of members then exchanges what one sends and the other expects.
 */
#ifndef BCL_COLLECTIVES_CHECK_H
#define BCL_COLLECTIVES_CHECK_H

#include "collectives/team.h"

struct bcl_call;

/* True if the members of the team compare their calls. */
static inline bool bcl_check_wanted(const struct bcl_team *team)
{
	return team->basis.preferences.check && team->size > 1;
}

/* Add the steps that compare the call with the calls of the other members, to
 * an empty schedule. */
void bcl_check_build(struct bcl_schedule *schedule,
		     const struct bcl_call *call);

#endif
