/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Nodes: peers by card id. */
#ifndef NICFW_NODE_H
#define NICFW_NODE_H

#include <nicfw/objects.h>

static inline uint32_t nic_node_index(const struct bcl_card *card,
				      const struct nic_node *node)
{
	return (uint32_t)(node - card->node);
}

static inline struct nic_node *nic_node_at(const struct bcl_card *card,
					   uint32_t index)
{
	if (index >= card->config.max_nodes || !card->node[index].used)
		return NULL;
	return &card->node[index];
}

struct nic_node *bcl_nic_node_find(const struct bcl_card *card, uint64_t id);
struct nic_node *bcl_nic_node_make(struct bcl_card *card, uint64_t id);
void bcl_nic_node_free(struct bcl_card *card, struct nic_node *node);
/* Put the node into card->past if nothing needs its index. */
void bcl_nic_node_rest(struct bcl_card *card, struct nic_node *node);
void bcl_nic_node_set(struct bcl_card *card, struct nic_node *node,
		      enum bcl_node_state state, enum bcl_status status);
/*
 * The connection and the messages of the node have ended: each request of the
 * generation that ends here completes with `status`.
 */
void bcl_nic_node_lost(struct bcl_card *card, struct nic_node *node,
		       enum bcl_node_state state, enum bcl_status status);

#endif
