/* SPDX-License-Identifier: MIT */
/* The host's knowledge of nodes, the ways to nodes, and connecting to nodes.
 * See inproc.h. */
#include "card/inproc/inproc.h"

#include <string.h>

enum {
	FEW = 8, /* entries at first */
};

/* The card gives the lowest free index, so nearly all entries are in use. */
static bool make_room(struct bcl_inproc *host, uint32_t index)
{
	const struct bcl_env *env = host->setup.env;
	uint32_t n = host->nnodes ? host->nnodes : FEW;
	struct bcl_inproc_node *nodes;

	while (n <= index)
		n *= 2;
	nodes = env->allocate(env->world, n * sizeof(*nodes));
	if (!nodes)
		return false;
	if (host->nnodes) {
		memcpy(nodes, host->nodes, host->nnodes * sizeof(*nodes));
		env->release(env->world, host->nodes,
			     host->nnodes * sizeof(*nodes));
	}
	host->nodes = nodes;
	host->nnodes = n;
	return true;
}

struct bcl_inproc_node *bcl_inproc_node_make(struct bcl_inproc *host,
					     uint32_t index, uint64_t card)
{
	struct bcl_inproc_node *node;

	if (index >= host->nnodes && !make_room(host, index))
		return NULL;
	node = &host->nodes[index];
	if (node->shown.card != card) {
		/* The card gave the index to another node. */
		node->shown.card = card;
		bcl_ways_forget(&node->ways);
	}
	return node;
}

static void disconnect_node(struct bcl_inproc *host, uint32_t index)
{
	const struct bcl_control control = {
		.op = BCL_CTL_DISCONNECT,
		.node = index,
	};
	uint32_t result;

	bcl_inproc_command(host, &control, &result);
}

/* ---- connecting ---- */

static void take_ways(const struct bcl_inproc *host, struct bcl_ways *to,
		      const struct bcl_address *address,
		      const struct bcl_host_way *ways, unsigned n)
{
	unsigned w;

	bcl_ways_begin(to, address->wire, address->nwires);
	for (w = 0; w < n; w++)
		bcl_ways_add(to, ways[w], host->ends[ways[w].end].number);
}

/* The copy of the node's state for the program. */
static struct bcl_host_node copy_node_state(const struct bcl_inproc_node *node)
{
	struct bcl_host_node result = node->shown;

	result.known = node->ways.known;
	result.ends = bcl_ways_ends(&node->ways);
	return result;
}

enum bcl_status bcl_inproc_connect(struct bcl_host *base,
				   const struct bcl_address *address,
				   const struct bcl_host_way *ways, unsigned n,
				   uint32_t *index,
				   struct bcl_host_node *result)
{
	struct bcl_inproc *host = bcl_inproc_of(base);
	struct bcl_control control = {
		.op = BCL_CTL_CONNECT,
		.connect = { .card = address->card },
	};
	struct bcl_ways called = { .nways = 0 };
	struct bcl_inproc_node *node;
	enum bcl_status status;

	memcpy(control.connect.key, address->key, BCL_KEY_SIZE);
	take_ways(host, &called, address, ways, n);
	control.connect.rails = called.known;
	bcl_inproc_lock(host, NULL);
	host->connecting = &called;
	status = bcl_inproc_command(host, &control, index);
	host->connecting = NULL;
	if (!status) {
		node = bcl_inproc_node_make(host, *index, address->card);
		if (!node) {
			disconnect_node(host, *index);
			status = BCL_ERR_NOMEM;
		}
	}
	if (!status) {
		if (n)
			take_ways(host, &node->ways, address, ways, n);
		*result = copy_node_state(node);
	}
	bcl_inproc_unlock(host, NULL);
	return status;
}

uint32_t bcl_inproc_node(struct bcl_host *base, uint32_t index,
			 struct bcl_host_node *node)
{
	struct bcl_inproc *host = bcl_inproc_of(base);
	uint32_t changes;

	*node = (struct bcl_host_node){ 0 };
	bcl_inproc_lock(host, NULL);
	if (index < host->nnodes) /* else no memory for an entry */
		*node = copy_node_state(&host->nodes[index]);
	changes = atomic_load_explicit(&host->changes, memory_order_relaxed);
	bcl_inproc_unlock(host, NULL);
	return changes;
}

enum bcl_status bcl_inproc_node_info(struct bcl_host *base, uint32_t index,
				     struct bcl_node_info *info)
{
	struct bcl_inproc *host = bcl_inproc_of(base);
	enum bcl_status status;

	bcl_inproc_lock(host, NULL);
	status = bcl_card_node_info(host->card, index, info);
	bcl_inproc_unlock(host, NULL);
	return status;
}
