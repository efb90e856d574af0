/* SPDX-License-Identifier: MIT */
/* What the host knows of nodes, and connecting to them. */
#include "transport/card/inproc/inproc.h"

#include <string.h>

enum {
	FEW = 8, /* nodes, to begin with */
};

/* The card gives the lowest free index, so there is no gap to speak of. */
static bool make_room(struct bcl_inproc *host, uint32_t index)
{
	const struct bcl_env *env = host->env;
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
		/* The index belongs to another node now. */
		node->shown.card = card;
		node->shown.known = 0;
	}
	return node;
}

static void disconnect(struct bcl_inproc *host, uint32_t index)
{
	const struct bcl_control control = {
		.op = BCL_CTL_DISCONNECT,
		.node = index,
	};
	uint32_t result;

	bcl_inproc_command(host, &control, &result);
}

enum bcl_status
bcl_inproc_connect(struct bcl_card_host *base,
		   const struct bcl_address *address, uint32_t rails,
		   const struct bcl_wire_address wires[BCL_RAILS_MAX],
		   uint32_t *index, struct bcl_card_node *result)
{
	struct bcl_inproc *host = bcl_inproc_of(base);
	struct bcl_control control = {
		.op = BCL_CTL_CONNECT,
		.connect = { .card = address->card, .rails = rails },
	};
	struct bcl_inproc_node *node;
	enum bcl_status status;
	unsigned r;

	memcpy(control.connect.key, address->key, BCL_KEY_SIZE);
	bcl_inproc_lock(host, NULL);
	host->connecting = wires;
	status = bcl_inproc_command(host, &control, index);
	host->connecting = NULL;
	if (!status) {
		node = bcl_inproc_node_make(host, *index, address->card);
		if (!node) {
			disconnect(host, *index);
			status = BCL_ERR_NOMEM;
		}
	}
	if (!status) {
		for (r = 0; r < host->nrails; r++)
			if (rails & ~node->shown.known & 1u << r) {
				node->address[r] = wires[r];
				node->shown.known |= (uint8_t)(1 << r);
			}
		*result = node->shown;
	}
	bcl_inproc_unlock(host, NULL);
	return status;
}

uint32_t bcl_inproc_node(struct bcl_card_host *base, uint32_t index,
			 struct bcl_card_node *node)
{
	struct bcl_inproc *host = bcl_inproc_of(base);
	uint32_t changes;

	*node = (struct bcl_card_node){ 0 };
	bcl_inproc_lock(host, NULL);
	if (index < host->nnodes) /* else there was no memory to know it */
		*node = host->nodes[index].shown;
	changes =
		atomic_load_explicit(&host->base.changes, memory_order_relaxed);
	bcl_inproc_unlock(host, NULL);
	return changes;
}

enum bcl_status bcl_inproc_node_info(struct bcl_card_host *base, uint32_t index,
				     struct bcl_node_info *info)
{
	struct bcl_inproc *host = bcl_inproc_of(base);
	enum bcl_status status;

	bcl_inproc_lock(host, NULL);
	status = bcl_card_node_info(host->card, index, info);
	bcl_inproc_unlock(host, NULL);
	return status;
}
