/* SPDX-License-Identifier: MIT */
/*
 * Intra-node phases of collective operations: through the node's segment, or by
 * messages if memory cannot be shared or an element is longer than a chunk.
 */
#include "collectives/builders.h"

enum {
	/* Bytes that pass through the members at a time. With longer parts each
	 * member waits longer for the member before it. */
	PART = 6144,
};

static unsigned member_of(const struct bcl_team *team, unsigned rank)
{
	const struct bcl_layout *layout = &team->layout;

	return bcl_layout_place(layout, rank) -
	       bcl_layout_first(layout, team->my_node);
}

/* True if the node has a segment that can do the operation. */
static bool shares(const struct bcl_team *team, enum bcl_node_kind kind,
		   const struct bcl_reduction *reduction)
{
	return team->shares && bcl_node_able(&team->node, kind, reduction);
}

bool bcl_intranode_pipelines(const struct bcl_team *team,
			     const struct bcl_reduction *reduction)
{
	return shares(team, BCL_NODE_REDUCE, reduction);
}

void bcl_intranode_broadcast(struct bcl_schedule *schedule, unsigned root,
			     void *buffer, size_t length)
{
	const struct bcl_team *team = schedule->team;
	struct bcl_group group = bcl_group_node(team);
	unsigned member = member_of(team, root);

	if (shares(team, BCL_NODE_BROADCAST, NULL))
		bcl_step_node(schedule, BCL_NODE_BROADCAST, member, buffer,
			      buffer, length, NULL);
	else
		bcl_build_broadcast_tree(schedule, &group, member, buffer,
					 length, 1);
}

void bcl_intranode_broadcast_piece(struct bcl_schedule *schedule, unsigned root,
				   void *buffer, size_t length)
{
	unsigned char *part = buffer;
	size_t most;

	for (; length; part += most, length -= most) {
		most = bcl_min_size(length, PART);
		bcl_intranode_broadcast(schedule, root, part, most);
	}
}

void bcl_intranode_reduce(struct bcl_schedule *schedule, unsigned root,
			  const void *send, void *receive, size_t length,
			  const struct bcl_reduction *reduction)
{
	const struct bcl_team *team = schedule->team;
	struct bcl_group group = bcl_group_node(team);
	unsigned member = member_of(team, root);

	if (shares(team, BCL_NODE_REDUCE, reduction))
		bcl_step_node(schedule, BCL_NODE_REDUCE, member, send, receive,
			      length, reduction);
	else
		bcl_build_reduce_tree(schedule, &group, member, send, receive,
				      length, reduction, 1);
}

void bcl_intranode_reduce_piece(struct bcl_schedule *schedule, unsigned root,
				const void *send, void *receive, size_t length,
				const struct bcl_reduction *reduction)
{
	const unsigned char *from = send;
	unsigned char *to = receive;
	size_t element = reduction->element, begin, end;
	unsigned n = (unsigned)((length + PART - 1) / PART), i;

	for (i = 0; i < n; i++) {
		begin = bcl_block_begin(length, element, n, i);
		end = bcl_block_begin(length, element, n, i + 1);
		if (end > begin)
			bcl_step_node(schedule, BCL_NODE_REDUCE_CHAIN,
				      member_of(schedule->team, root),
				      from + begin, to ? to + begin : NULL,
				      end - begin, reduction);
	}
}

void bcl_intranode_gather(struct bcl_schedule *schedule, unsigned root,
			  const void *send, size_t length, void *receive)
{
	const struct bcl_team *team = schedule->team;
	struct bcl_group group = bcl_group_node(team);
	unsigned member = member_of(team, root);

	if (shares(team, BCL_NODE_GATHER, NULL))
		bcl_step_node(schedule, BCL_NODE_GATHER, member, send, receive,
			      length, NULL);
	else
		bcl_build_gather_direct(schedule, &group, member, send, receive,
					length);
}

void bcl_intranode_scatter(struct bcl_schedule *schedule, unsigned root,
			   const void *send, void *receive, size_t length)
{
	const struct bcl_team *team = schedule->team;
	struct bcl_group group = bcl_group_node(team);
	unsigned member = member_of(team, root);

	if (shares(team, BCL_NODE_SCATTER, NULL))
		bcl_step_node(schedule, BCL_NODE_SCATTER, member, send, receive,
			      length, NULL);
	else
		bcl_build_scatter_direct(schedule, &group, member, send,
					 receive, length);
}

void bcl_intranode_alltoall(struct bcl_schedule *schedule, const void *send,
			    void *receive, size_t length)
{
	const struct bcl_team *team = schedule->team;
	struct bcl_group group = bcl_group_node(team);
	const unsigned char *from = send;
	unsigned char *to = receive;
	unsigned i;

	if (shares(team, BCL_NODE_ALLTOALL, NULL)) {
		bcl_step_node(schedule, BCL_NODE_ALLTOALL, 0, send, receive,
			      length, NULL);
		return;
	}
	for (i = 0; i < group.size; i++, from += length, to += length) {
		unsigned rank = bcl_group_rank(&group, i);

		if (i == group.me) {
			bcl_step_copy(schedule, to, from, length);
			continue;
		}
		bcl_step_send(schedule, rank, from, length);
		bcl_step_receive(schedule, rank, to, length);
	}
	bcl_step_round(schedule);
}

void bcl_intranode_reduce_scatter(struct bcl_schedule *schedule,
				  const void *send, void *receive,
				  size_t length,
				  const struct bcl_reduction *reduction)
{
	const struct bcl_team *team = schedule->team;
	struct bcl_group group = bcl_group_node(team);
	const unsigned char *from = send;
	unsigned char *to = receive;
	size_t element = reduction->element, begin, end;
	unsigned i;

	if (group.size == 1 || !shares(team, BCL_NODE_REDUCE, reduction)) {
		begin = bcl_block_begin(length, element, group.size, group.me);
		bcl_build_reduce_scatter(schedule, &group, send, to + begin,
					 length, reduction);
		return;
	}
	for (i = 0; i < group.size; i++) {
		begin = bcl_block_begin(length, element, group.size, i);
		end = bcl_block_begin(length, element, group.size, i + 1);
		if (end > begin)
			bcl_step_node(schedule, BCL_NODE_REDUCE, i,
				      from + begin, to + begin, end - begin,
				      reduction);
	}
}

void bcl_intranode_reduce_blocks(struct bcl_schedule *schedule,
				 const void *send, void *receive, size_t length,
				 const struct bcl_reduction *reduction)
{
	const struct bcl_team *team = schedule->team;
	struct bcl_group group = bcl_group_node(team);

	if (group.size > 1 && shares(team, BCL_NODE_REDUCE_SCATTER, reduction))
		bcl_step_node(schedule, BCL_NODE_REDUCE_SCATTER, 0, send,
			      receive, length, reduction);
	else
		bcl_build_reduce_scatter(schedule, &group, send, receive,
					 group.size * length, reduction);
}

void bcl_intranode_gather_slices(struct bcl_schedule *schedule, void *buffer,
				 size_t length, size_t element)
{
	const struct bcl_team *team = schedule->team;
	struct bcl_group group = bcl_group_node(team);
	unsigned char *slices = buffer;
	unsigned i;

	if (!shares(team, BCL_NODE_BROADCAST, NULL)) {
		bcl_build_ring(schedule, &group, 0, buffer, length, element);
		return;
	}
	for (i = 0; i < group.size; i++) {
		size_t begin = bcl_block_begin(length, element, group.size, i);
		size_t end =
			bcl_block_begin(length, element, group.size, i + 1);

		if (end > begin)
			bcl_step_node(schedule, BCL_NODE_BROADCAST, i,
				      slices + begin, slices + begin,
				      end - begin, NULL);
	}
}
