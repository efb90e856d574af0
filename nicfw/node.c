/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Nodes: peers by card id.
 *
 *  state       event                               next
 *  CLOSED      request, CONNECT                    CONNECTING
 *              HELLO of the node, proved           UP
 *  CONNECTING  handshake done                      UP
 *              no answer, refused, no memory       LOST
 *  UP          silence, RESET, evidence, new       LOST
 *              incarnation
 *              parted (nothing was outstanding)    CLOSED
 *  LOST        CONNECT                             CONNECTING, or UP if the
 *                                                  node connected meanwhile
 *  any         ISOLATE                             ISOLATED
 *  ISOLATED    REJOIN                              CLOSED
 *  LOST,       the index is needed for another     LOST, then forgotten
 *  CLOSED
 *
 * When all indices are taken, the index of a node that is lost, has sent BYE or
 * was never UP goes to another node, beginning with the node that left first. A
 * node that was parked because it was idle keeps its index, as programs may
 * send to it again.
 *
 * While a node is LOST or ISOLATED its status completes each request. Later
 * this status completes the requests that were submitted before, as they name
 * the earlier generation.
 */
#include <nicfw/node.h>

#include <nicfw/card.h>
#include <nicfw/flow.h>

static uint32_t *bucket_of(const struct bcl_card *card, uint64_t id)
{
	uint32_t hash = (uint32_t)id ^ (uint32_t)(id >> 32);

	return &card->node_buckets[(hash ^ hash >> 16) & card->node_mask];
}

struct nic_node *bcl_nic_node_find(const struct bcl_card *card, uint64_t id)
{
	uint32_t at = *bucket_of(card, id);

	while (at && card->node[at - 1].card != id)
		at = card->node[at - 1].hashed;
	return at ? &card->node[at - 1] : NULL;
}

/* True if nothing needs the node's index any more. */
static bool rests(const struct nic_node *node)
{
	return !node->conn && node->messages == 0 &&
	       nic_list_empty(&node->wanting) &&
	       (node->state == BCL_NODE_LOST ||
		(node->state == BCL_NODE_CLOSED && !node->stays));
}

void bcl_nic_node_rest(struct bcl_card *card, struct nic_node *node)
{
	if (nic_list_empty(&node->past) && rests(node))
		nic_list_append(&card->past, &node->past);
}

/* All indices are taken: free the one whose node left first. */
static void reclaim(struct bcl_card *card)
{
	struct nic_node *node;
	struct nic_flow *flow;

	while ((node = nic_list_first(&card->past, struct nic_node, past))) {
		nic_list_remove(&node->past);
		if (!rests(node))
			continue;
		nic_count(card, forgotten);
		while ((flow = nic_list_first(&node->flows, struct nic_flow,
					      in_node)))
			bcl_nic_flow_free(card, flow);
		/*
		 * The host may still name the node: tell it that the node is
		 * gone.
		 */
		bcl_nic_node_lost(card, node, BCL_NODE_LOST, BCL_ERR_DEAD);
		bcl_nic_node_free(card, node);
		node->lost = BCL_ERR_DEAD;
		return;
	}
}

struct nic_node *bcl_nic_node_make(struct bcl_card *card, uint64_t id)
{
	struct nic_node *node;
	uint32_t index;

	if (card->free_node == card->config.max_nodes)
		reclaim(card);
	index = card->free_node;
	if (index == card->config.max_nodes)
		return NULL;
	node = &card->node[index];
	card->free_node = index + 1 + node->hashed;
	nic_list_init(&node->wanting);
	nic_list_init(&node->past);
	nic_list_init(&node->flows);
	node->conn = NULL;
	node->candidate = NULL;
	node->card = id;
	memcpy(node->key, card->config.key, BCL_KEY_SIZE);
	node->hashed = *bucket_of(card, id);
	*bucket_of(card, id) = index + 1;
	node->messages = 0;
	node->replies = 0;
	node->used = 1;
	node->state = BCL_NODE_CLOSED;
	node->status = BCL_OK;
	node->rails = 0;
	node->stays = 0;
	bcl_nic_node_rest(card, node);
	return node;
}

void bcl_nic_node_free(struct bcl_card *card, struct nic_node *node)
{
	uint32_t index = nic_node_index(card, node), *at;

	bcl_assert(!node->conn && !node->candidate && node->messages == 0 &&
		   node->replies == 0 && nic_list_empty(&node->flows));
	for (at = bucket_of(card, node->card); *at != index + 1;
	     at = &card->node[*at - 1].hashed)
		;
	*at = node->hashed;
	nic_list_remove(&node->wanting);
	nic_list_remove(&node->past);
	node->used = 0;
	node->generation++;
	node->lost = BCL_ERR_CANCELLED;
	node->hashed = card->free_node - (index + 1);
	card->free_node = index;
}

void bcl_nic_node_set(struct bcl_card *card, struct nic_node *node,
		      enum bcl_node_state state, enum bcl_status status)
{
	node->state = (uint8_t)state;
	node->status = (uint8_t)status;
	card->hal.node(card->host, nic_node_index(card, node), node->card,
		       node->generation, state, status);
	bcl_nic_node_rest(card, node);
}

void bcl_nic_node_lost(struct bcl_card *card, struct nic_node *node,
		       enum bcl_node_state state, enum bcl_status status)
{
	nic_list_remove(&node->wanting);
	node->generation++;
	node->lost = (uint8_t)status;
	bcl_nic_node_set(card, node, state, status);
}
