/* SPDX-License-Identifier: MIT */
/*
 * A group: the ranks among which an algorithm runs, all in some order or one of
 * each node.
 */
#ifndef BCL_COLLECTIVES_GROUP_H
#define BCL_COLLECTIVES_GROUP_H

#include "base/base.h"
#include "collectives/layout.h"

struct bcl_team;

struct bcl_group {
	unsigned size, me;
	/* NULL: ranks 0, 1, 2, ... Otherwise ranks in the order of nodes, from
	 * `place` on; or, with `by_node`, of each node the member `place`
	 * places behind its first. */
	const struct bcl_layout *layout;
	unsigned place;
	bool by_node;
	/* In rooted operations the root acts for its node: index `replaced` of
	 * the group is the rank `replacement`. */
	unsigned replaced, replacement;
};

static inline unsigned bcl_group_rank(const struct bcl_group *group, unsigned i)
{
	bcl_assert(i < group->size);
	if (i == group->replaced)
		return group->replacement;
	if (!group->layout)
		return i;
	if (group->by_node)
		i = bcl_layout_first(group->layout, i);
	return bcl_layout_rank(group->layout, group->place + i);
}

/* All members by rank. */
struct bcl_group bcl_group_all(const struct bcl_team *team);
/* All members in the order of nodes. */
struct bcl_group bcl_group_ordered(const struct bcl_team *team);
/* The members of the own node. */
struct bcl_group bcl_group_node(const struct bcl_team *team);
/* The members that have the own member's place in their nodes, by node; for
 * nodes with the same number of members. */
struct bcl_group bcl_group_column(const struct bcl_team *team);
/* One member of each node, by node: the leader, or `root` for its own node.
 * `me` is the own node, also at a member that is not in the group. */
struct bcl_group bcl_group_leaders(const struct bcl_team *team, unsigned root);

#endif
