// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The host's knowledge of nodes, the ways to nodes, and connecting to nodes; as
 * card/inproc/node.c. */
#include <linux/nospec.h>

#include "host.h"

struct bcl_kmod_node *bcl_kmod_node_make(struct bcl_kmod_host *host, u32 index,
					 u64 card)
{
	struct bcl_kmod_node *node = &host->node[index];

	if (index >= BCL_KMOD_NODES)
		return NULL;
	if (node->shown.card != card) {
		/* The core gave the index to another node. */
		node->shown.card = card;
		node->shown.known = 0;
		node->nways = 0;
	}
	return node;
}

/* ---- ways ---- */

static unsigned int rail_of(const struct bcl_kmod_host *host,
			    const struct bcl_kmod_way *way)
{
	return host->end[way->end].rail;
}

static unsigned int count_ways(const struct bcl_kmod_host *host,
			       const struct bcl_kmod_node *node,
			       unsigned int rail)
{
	unsigned int w, n = 0;

	for (w = 0; w < node->nways; w++)
		n += rail_of(host, &node->way[w]) == rail;
	return n;
}

/* The n-th way of the rail. The caller knows that the way exists. */
static const struct bcl_kmod_way *way_of(const struct bcl_kmod_host *host,
					 const struct bcl_kmod_node *node,
					 unsigned int rail, unsigned int n)
{
	const struct bcl_kmod_way *way = node->way;

	for (;; way++)
		if (rail_of(host, way) == rail && !n--)
			return way;
}

/*
 * The first HELLO goes to the address where the node was reached, or to the
 * likely one; then each way has its turn.
 */
const struct bcl_kmod_address *
bcl_kmod_hello_to(const struct bcl_kmod_host *host, struct bcl_kmod_node *node,
		  unsigned int rail, unsigned int *end)
{
	unsigned int ways = count_ways(host, node, rail);
	unsigned int turn = node->turn[rail]++;
	const struct bcl_kmod_way *way;

	if (!ways || !turn) {
		*end = node->end[rail];
		return &node->address[rail];
	}
	way = way_of(host, node, rail, turn % ways);
	*end = way->end;
	return &node->wire[way->wire];
}

/* The address where the node was reached before stays the first to try. */
static void take_ways(const struct bcl_kmod_host *host,
		      struct bcl_kmod_node *node,
		      const struct bcl_device_connect *connect)
{
	unsigned int w, rail;

	for (w = 0; w < connect->nwires; w++)
		memcpy(&node->wire[w], connect->wire[w].bytes,
		       sizeof(node->wire[w]));
	node->nways = connect->nways;
	for (w = 0; w < node->nways; w++) {
		node->way[w] = (struct bcl_kmod_way){
			.end = array_index_nospec(connect->way[w].end,
						  BCL_DEVICE_ENDS),
			.wire = array_index_nospec(connect->way[w].wire,
						   BCL_DEVICE_ENDS),
		};
		rail = rail_of(host, &node->way[w]);
		node->turn[rail] = 0;
		if (node->shown.known & 1u << rail)
			continue;
		node->shown.known |= 1u << rail;
		node->address[rail] = node->wire[node->way[w].wire];
		node->end[rail] = node->way[w].end;
	}
}

/* ---- connecting ---- */

static bool is_well_formed(const struct bcl_kmod_host *host,
			   const struct bcl_device_connect *connect)
{
	unsigned int w;

	if (connect->nwires > BCL_DEVICE_ENDS ||
	    connect->nways > BCL_DEVICE_WAYS)
		return false;
	for (w = 0; w < connect->nways; w++) {
		unsigned int end = connect->way[w].end;
		unsigned int wire = connect->way[w].wire;

		if (end >= host->nends || !host->end[end].interface ||
		    wire >= connect->nwires ||
		    connect->wire[wire].kind != BCL_WIRE_PACKET ||
		    connect->wire[wire].length !=
			    sizeof(struct bcl_kmod_address))
			return false;
	}
	return true;
}

static u32 rails_of(const struct bcl_kmod_host *host,
		    const struct bcl_device_connect *connect)
{
	unsigned int w;
	u32 rails = 0;

	for (w = 0; w < connect->nways; w++)
		rails |= 1u << host->end[connect->way[w].end].rail;
	return rails;
}

long bcl_kmod_connect(struct bcl_kmod_host *host,
		      struct bcl_device_connect *connect)
{
	struct bcl_control control = {
		.op = BCL_CTL_CONNECT,
		.connect = { .card = connect->card },
	};
	struct bcl_kmod_node *node, *called;
	enum bcl_status status;
	u32 index = 0;

	if (!is_well_formed(host, connect))
		return -EINVAL;
	called = kzalloc(sizeof(*called), GFP_KERNEL);
	if (!called)
		return BCL_ERR_NOMEM;
	memcpy(control.connect.key, connect->key, BCL_KEY_SIZE);
	bcl_kmod_enter(host);
	control.connect.rails = rails_of(host, connect);
	take_ways(host, called, connect);
	host->connecting = called;
	status = bcl_kmod_command(host, &control, &index);
	host->connecting = NULL;
	if (!status) {
		node = bcl_kmod_node_make(host, index, connect->card);
		if (node && connect->nways)
			take_ways(host, node, connect);
		connect->index = index;
	}
	bcl_kmod_leave(host);
	kfree(called);
	return status;
}

long bcl_kmod_node_show(struct bcl_kmod_host *host,
			struct bcl_device_node *node)
{
	const u32 index = node->index, known = bcl_kmod_node_index(index);
	const struct bcl_kmod_node *own;
	unsigned int r;

	bcl_kmod_enter(host);
	*node = (struct bcl_device_node){ 0 };
	if (known != BCL_NODE_NONE) {
		own = &host->node[known];
		*node = own->shown;
		for (r = 0; r < BCL_RAILS_MAX; r++)
			if (node->known & 1 << r)
				node->ends |= 1 << own->end[r];
	}
	node->index = index;
	node->changes = host->news->changes;
	bcl_kmod_leave(host);
	return node->card ? BCL_OK : BCL_ERR_ARG;
}
