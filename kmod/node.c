// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* The host's knowledge of nodes, and connecting to nodes. */
#include <linux/nospec.h>

#include "host.h"

struct bcl_kmod_node *bcl_kmod_node_make(struct bcl_kmod_host *host, u32 index,
					 u64 card)
{
	struct bcl_kmod_node *node = &host->node[index];

	if (index >= BCL_KMOD_NODES)
		return NULL;
	if (index >= host->nodes_end)
		WRITE_ONCE(host->nodes_end, index + 1);
	if (node->shown.card != card) {
		/* The core gave the index to another node. */
		node->shown.card = card;
		bcl_ways_forget(&node->ways);
	}
	return node;
}

/* ---- the user's peers ---- */

static bool is_alive(const struct bcl_kmod_node *node)
{
	return node->shown.state == BCL_NODE_CONNECTING ||
	       node->shown.state == BCL_NODE_UP;
}

void bcl_kmod_node_count(struct bcl_kmod_host *host, struct bcl_kmod_node *node)
{
	bool counts = is_alive(node);

	if (counts == node->charged)
		return;
	node->charged = counts;
	if (counts) {
		host->npeers++;
		bcl_kmod_charge_anyway(host->user, BCL_KMOD_PEERS);
	} else {
		host->npeers--;
		bcl_kmod_discharge(host->user, BCL_KMOD_PEERS, 1);
	}
}

bool bcl_kmod_may_meet(const struct bcl_kmod_host *host, u64 card)
{
	unsigned int i;

	if (!bcl_kmod_is_full(host->user, BCL_KMOD_PEERS))
		return true;
	for (i = 0; i < READ_ONCE(host->nodes_end); i++)
		if (host->node[i].charged && host->node[i].shown.card == card)
			return true;
	return false;
}

/* ---- connecting ---- */

static bool is_well_formed(const struct bcl_kmod_host *host,
			   const struct bcl_device_connect *connect)
{
	unsigned int w;

	if (connect->nwires > BCL_WIRES_MAX || connect->nways > BCL_DEVICE_WAYS)
		return false;
	for (w = 0; w < connect->nways; w++) {
		unsigned int end = connect->way[w].end;
		unsigned int wire = connect->way[w].wire;
		const struct bcl_wire_address *to;

		if (end >= host->nends || !host->end[end].interface ||
		    wire >= connect->nwires)
			return false;
		to = &connect->wire[wire];
		if (to->kind != host->end[end].address.kind ||
		    to->length != bcl_wire_length(to->kind))
			return false;
	}
	return true;
}

static void take_ways(const struct bcl_kmod_host *host, struct bcl_ways *ways,
		      const struct bcl_device_connect *connect)
{
	unsigned int w;

	BUILD_BUG_ON((int)BCL_DEVICE_WAYS > BCL_HOST_WAYS);
	bcl_ways_begin(ways, connect->wire, connect->nwires);
	for (w = 0; w < connect->nways; w++) {
		const struct bcl_host_way way = {
			array_index_nospec(connect->way[w].end,
					   BCL_DEVICE_ENDS),
			array_index_nospec(connect->way[w].wire, BCL_WIRES_MAX),
		};

		bcl_ways_add(ways, way, host->end[way.end].rail);
	}
}

long bcl_kmod_connect(struct bcl_kmod_host *host,
		      struct bcl_device_connect *connect)
{
	struct bcl_control control = {
		.op = BCL_CTL_CONNECT,
		.connect = { .card = connect->card },
	};
	struct bcl_kmod_node *node;
	struct bcl_ways *called;
	long status = -EDQUOT;
	u32 index = 0;

	if (!is_well_formed(host, connect))
		return -EINVAL;
	called = kzalloc(sizeof(*called), GFP_KERNEL);
	if (!called)
		return BCL_ERR_NOMEM;
	memcpy(control.connect.key, connect->key, BCL_KEY_SIZE);
	take_ways(host, called, connect);
	control.connect.rails = called->known;
	bcl_kmod_enter(host);
	host->connecting = called;
	if (bcl_kmod_may_meet(host, connect->card))
		status = bcl_kmod_command(host, &control, &index);
	host->connecting = NULL;
	if (!status) {
		node = bcl_kmod_node_make(host, index, connect->card);
		if (node && connect->nways)
			take_ways(host, &node->ways, connect);
		connect->index = index;
	}
	bcl_kmod_leave(host);
	kfree(called);
	return status;
}

/* ---- what the network refused ---- */

void bcl_kmod_nodes_refused(struct bcl_kmod_host *host, unsigned int end,
			    const struct bcl_wire_address *address)
{
	const unsigned int rail = host->end[end].rail;
	struct bcl_card_next next;
	u32 i;

	bcl_kmod_enter(host);
	for (i = 0; i < host->nodes_end; i++) {
		struct bcl_kmod_node *node = &host->node[i];

		if (!is_alive(node) ||
		    !bcl_ways_refused(&node->ways, rail, end, address))
			continue;
		bcl_card_node_gone(host->card, i, rail, BCL_ERR_DEAD,
				   ktime_get_ns(), BCL_KMOD_BUDGET, &next);
		bcl_kmod_wants(host, &next);
	}
	bcl_kmod_leave(host);
}

long bcl_kmod_node_show(struct bcl_kmod_host *host,
			struct bcl_device_node *node)
{
	const u32 index = node->index, known = bcl_kmod_node_index(index);
	const struct bcl_kmod_node *own;

	bcl_kmod_enter(host);
	*node = (struct bcl_device_node){ 0 };
	if (known != BCL_NODE_NONE) {
		own = &host->node[known];
		*node = own->shown;
		node->known = own->ways.known;
		node->ends = bcl_ways_ends(&own->ways);
	}
	node->index = index;
	node->changes = host->news->changes;
	bcl_kmod_leave(host);
	return node->card ? BCL_OK : BCL_ERR_ARG;
}
