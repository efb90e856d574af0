/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Nodes: peers by card id. */
#ifndef NICFW_NODE_H
#define NICFW_NODE_H

#include <nicfw/card.h>

/* The states of a node are in node.c. */
struct nic_node {
	struct nic_link wanting; /* card->wanting: no memory for a connection */
	struct nic_link past;	 /* card->past: the index may be reused */
	struct nic_link flows;
	uint64_t expires; /* time when a node in card->wanting is given up */
	struct nic_conn *conn; /* in use or in its handshake, or NULL */
	/*
	 * Answered while `conn` is UP; takes its place when a PING proves it.
	 */
	struct nic_conn *candidate;
	uint64_t card;
	uint8_t key[BCL_KEY_SIZE]; /* of the handshake, in both directions */
	/*
	 * Of a node in use: 1 + index of the next node in the hash bucket; 0:
	 * none. Of a free node: index of the next free node, relative to the
	 * place behind this one, so that zeroed nodes form the list of free
	 * ones.
	 */
	uint32_t hashed;
	uint32_t messages; /* unfinished messages to the node */
	uint32_t replies;  /* of these messages, replies */
	/*
	 * Of the index: raised by each loss, and not reset when another node
	 * gets the index.
	 */
	uint32_t generation;
	uint8_t used;
	uint8_t state;	/* enum bcl_node_state */
	uint8_t status; /* enum bcl_status: not 0: requests are refused */
	/*
	 * enum bcl_status: completes requests that name an earlier generation.
	 */
	uint8_t lost;
	uint8_t rails; /* bit r: the host knows an address on rail r */
	uint8_t stays; /* was UP and did not end by BYE: keeps its index */
};

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
