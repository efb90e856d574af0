/* SPDX-License-Identifier: MIT */
/*
 * The groups of a team: all members, a node, a column, the leaders. See
 * group.h.
 */
#include "collectives/group.h"

#include "collectives/team.h"

struct bcl_group bcl_group_all(const struct bcl_team *team)
{
	return (struct bcl_group){
		.size = team->size,
		.me = team->rank,
		.replaced = UINT32_MAX,
	};
}

struct bcl_group bcl_group_ordered(const struct bcl_team *team)
{
	return (struct bcl_group){
		.size = team->size,
		.me = bcl_layout_place(&team->layout, team->rank),
		.layout = &team->layout,
		.replaced = UINT32_MAX,
	};
}

struct bcl_group bcl_group_node(const struct bcl_team *team)
{
	const struct bcl_layout *layout = &team->layout;

	return (struct bcl_group){
		.size = bcl_layout_members(layout, team->my_node),
		.me = team->my_member,
		.layout = layout,
		.place = bcl_layout_first(layout, team->my_node),
		.replaced = UINT32_MAX,
	};
}

struct bcl_group bcl_group_column(const struct bcl_team *team)
{
	return (struct bcl_group){
		.size = team->layout.nnodes,
		.me = team->my_node,
		.layout = &team->layout,
		.place = team->my_member,
		.by_node = true,
		.replaced = UINT32_MAX,
	};
}

struct bcl_group bcl_group_leaders(const struct bcl_team *team, unsigned root)
{
	return (struct bcl_group){
		.size = team->layout.nnodes,
		.me = team->my_node,
		.layout = &team->layout,
		.by_node = true,
		.replaced = bcl_layout_node(&team->layout, root),
		.replacement = root,
	};
}
