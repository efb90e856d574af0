/* SPDX-License-Identifier: MIT */
/*
 * Detects members that call operations differently: another operation, or one
 * with another length. Members often see the difference in the data that they
 * exchange. But the length decides which algorithm runs, and with two
 * algorithms a member may wait for a message that no member sends. So a member
 * that waits for long tells its neighbours in the team about the operation in
 * which the member waits. If a neighbour has made a different call with the
 * same sequence number, the neighbour loses the team.
 */
#ifndef BCL_COLLECTIVES_COMPARE_H
#define BCL_COLLECTIVES_COMPARE_H

#include <stdbool.h>
#include <stdint.h>

#include "adi/internal.h"

struct bcl_node_op;
struct bcl_team;

/* To be called repeatedly while an operation of the team waits for long. The
 * first, second, fourth, eighth, ... call for one operation tells the
 * neighbours. Returns true if a message was sent. Lock held. */
bool bcl_compare_tell(struct bcl_team *team);

/* A member, given by its rank in the job, has told of its operation. Loses the
 * team if the own call, or any call before, was different. Lock held. */
void bcl_compare_hear(struct bcl_team *team, unsigned rank,
		      const struct bcl_adi_oob *oob);

/* node.differs says that another member of the node gives a different length to
 * the operation with this sequence number. Logs both lengths and loses the
 * team. op: the own member's. Lock held. */
void bcl_compare_node(struct bcl_team *team, unsigned sequence,
		      const struct bcl_node_op *op);

#endif
