/* SPDX-License-Identifier: MIT */
/*
 * Members that call operations differently: with other lengths, or others.
 * What they send one another shows it where it meets; but lengths decide by
 * which algorithm an operation runs, and by two of them members may wait for
 * what nobody sends. So who waits for long tells its neighbours in the team
 * what it is in, and who has called something else in its place loses the team.
 */
#ifndef BCL_COLLECTIVES_COMPARE_H
#define BCL_COLLECTIVES_COMPARE_H

#include <stdbool.h>
#include <stdint.h>

#include "adi/internal.h"

struct bcl_team;

/* An operation of the team has waited for long; the next call of it, the
 * second, the fourth, and so on are told. True: something was sent. Lock held.
 */
bool bcl_compare_tell(struct bcl_team *team);

/* A rank of the job, a member, has told so. Lock held. */
void bcl_compare_hear(struct bcl_team *team, unsigned rank,
		      const struct bcl_adi_oob *oob);

/* Another member of the node gives another length to what the own one does in
 * the operation of this number (node.h). Lock held. */
void bcl_compare_node(struct bcl_team *team, unsigned sequence, size_t length);

#endif
