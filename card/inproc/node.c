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
		node->shown.known = 0;
		node->proved = 0;
		node->nways = 0;
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

/* ---- ways ---- */

static unsigned rail_of(const struct bcl_inproc *host,
			const struct bcl_host_way *way)
{
	return host->ends[way->end].number;
}

static unsigned count_ways(const struct bcl_inproc *host,
			   const struct bcl_inproc_node *node, unsigned rail)
{
	unsigned w, n = 0;

	for (w = 0; w < node->nways; w++)
		n += rail_of(host, &node->way[w]) == rail;
	return n;
}

/* The n-th way of the rail. The caller knows that there is one. */
static const struct bcl_host_way *way_of(const struct bcl_inproc *host,
					 const struct bcl_inproc_node *node,
					 unsigned rail, unsigned n)
{
	const struct bcl_host_way *way = node->way;

	for (;; way++)
		if (rail_of(host, way) == rail && !n--)
			return way;
}

/* Remember the ways to the node for the next HELLO frames. The address where
 * the node was reached before stays the first to try. */
static void take_ways(const struct bcl_inproc *host,
		      struct bcl_inproc_node *node,
		      const struct bcl_address *address,
		      const struct bcl_host_way *ways, unsigned n)
{
	unsigned w, rail;

	memcpy(node->wire, address->wire, sizeof(node->wire));
	memcpy(node->way, ways, n * sizeof(*ways));
	node->nways = (uint8_t)n;
	node->refused = 0;
	for (w = 0; w < n; w++) {
		rail = rail_of(host, &ways[w]);
		node->turn[rail] = 0;
		if (node->shown.known & 1u << rail)
			continue;
		node->shown.known |= (uint8_t)(1u << rail);
		node->address[rail] = node->wire[ways[w].wire];
		node->end[rail] = ways[w].end;
	}
}

struct bcl_inproc_target bcl_inproc_hello_to(const struct bcl_inproc *host,
					     struct bcl_inproc_node *node,
					     unsigned rail)
{
	unsigned ways = count_ways(host, node, rail);
	unsigned turn = node->turn[rail]++;
	const struct bcl_host_way *way;

	if (!ways || !turn)
		return (struct bcl_inproc_target){ &node->address[rail],
						   node->end[rail] };
	way = way_of(host, node, rail, turn % ways);
	return (struct bcl_inproc_target){ &node->wire[way->wire], way->end };
}

static bool leads_to(const struct bcl_inproc_node *node, unsigned w,
		     unsigned end, const struct bcl_wire_address *address)
{
	return node->way[w].end == end &&
	       !memcmp(&node->wire[node->way[w].wire], address,
		       sizeof(*address));
}

bool bcl_inproc_refused(const struct bcl_inproc *host,
			struct bcl_inproc_node *node, unsigned end,
			const struct bcl_wire_address *address)
{
	unsigned rail = host->ends[end].number, w;
	bool all = false;

	if (!(node->shown.known & 1u << rail))
		return false;
	if (node->proved & 1u << rail)
		return node->end[rail] == end &&
		       !memcmp(&node->address[rail], address, sizeof(*address));
	for (w = 0; w < node->nways; w++)
		if (leads_to(node, w, end, address)) {
			all = true;
			node->refused |= 1ull << w;
		}
	for (w = 0; w < node->nways; w++)
		all &= rail_of(host, &node->way[w]) != rail ||
		       node->refused >> w & 1;
	return all;
}

/* ---- connecting ---- */

static uint32_t rails_of(const struct bcl_inproc *host,
			 const struct bcl_host_way *ways, unsigned n)
{
	uint32_t rails = 0;

	while (n--)
		rails |= 1u << rail_of(host, &ways[n]);
	return rails;
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
		.connect = { .card = address->card,
			     .rails = rails_of(host, ways, n) },
	};
	struct bcl_inproc_node *node, called = { .nways = 0 };
	enum bcl_status status;

	memcpy(control.connect.key, address->key, BCL_KEY_SIZE);
	take_ways(host, &called, address, ways, n);
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
			take_ways(host, node, address, ways, n);
		*result = node->shown;
	}
	bcl_inproc_unlock(host, NULL);
	return status;
}

/* The copy of the node's state for the program. */
static struct bcl_host_node copy_node_state(const struct bcl_inproc *host,
					    const struct bcl_inproc_node *node)
{
	struct bcl_host_node result = node->shown;
	unsigned r;

	for (r = 0; r < host->nrails; r++)
		if (result.known & 1u << r)
			result.ends |= (uint8_t)(1u << node->end[r]);
	return result;
}

uint32_t bcl_inproc_node(struct bcl_host *base, uint32_t index,
			 struct bcl_host_node *node)
{
	struct bcl_inproc *host = bcl_inproc_of(base);
	uint32_t changes;

	*node = (struct bcl_host_node){ 0 };
	bcl_inproc_lock(host, NULL);
	if (index < host->nnodes) /* else no memory for an entry */
		*node = copy_node_state(host, &host->nodes[index]);
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
