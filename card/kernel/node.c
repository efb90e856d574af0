/* SPDX-License-Identifier: MIT */
/* Nodes of a card in the kernel: connecting, and what the card knows. See
 * kernel.h. */
#include "card/kernel/kernel.h"

#include <string.h>

#include "wire/address.h"

enum bcl_status bcl_kernel_connect(struct bcl_host *base,
				   const struct bcl_address *address,
				   const struct bcl_host_way *ways, unsigned n,
				   uint32_t *index, struct bcl_host_node *node)
{
	const struct bcl_kernel *host = bcl_kernel_of(base);
	struct bcl_device_connect call = {
		.card = address->card,
		.nwires = address->nwires,
		.nways = n,
	};
	enum bcl_status status;
	unsigned i;

	memcpy(call.key, address->key, sizeof(call.key));
	memcpy(call.wire, address->wire, sizeof(call.wire));
	for (i = 0; i < n; i++) {
		call.way[i].end = host->end_of[ways[i].end];
		call.way[i].wire = ways[i].wire;
	}
	status = bcl_kernel_call(host, BCL_DEVICE_CONNECT, "CONNECT", &call);
	if (status)
		return status;
	*index = call.index;
	bcl_kernel_node(base, call.index, node);
	/* The node was lost after CONNECT. The library shall find this loss, so
	 * it gets the generation that the node had before. */
	if (node->state == BCL_NODE_LOST || node->state == BCL_NODE_ISOLATED)
		node->generation--;
	return BCL_OK;
}

/* The ends of the card, by the library's numbers. */
static uint8_t shown_ends(const struct bcl_kernel *host, unsigned ends)
{
	unsigned shown = 0, e;

	for (e = 0; e < host->base.nends; e++)
		shown |= (ends >> host->end_of[e] & 1) << e;
	return (uint8_t)shown;
}

uint32_t bcl_kernel_node(struct bcl_host *base, uint32_t index,
			 struct bcl_host_node *node)
{
	const struct bcl_kernel *host = bcl_kernel_of(base);
	struct bcl_device_node call = { .index = index };

	*node = (struct bcl_host_node){ 0 };
	/* If the card has no entry it sets `changes` all the same. */
	if (!bcl_kernel_call(host, BCL_DEVICE_NODE, "NODE", &call))
		*node = (struct bcl_host_node){
			.card = call.card,
			.generation = call.generation,
			.state = call.state,
			.lost = call.lost,
			.known = call.known,
			.ends = shown_ends(host, call.ends),
		};
	return call.changes;
}

enum bcl_status bcl_kernel_node_info(struct bcl_host *base, uint32_t index,
				     struct bcl_node_info *info)
{
	struct bcl_device_node_info call = { .index = index };
	enum bcl_status status = bcl_kernel_call(
		bcl_kernel_of(base), BCL_DEVICE_NODE_INFO, "NODE_INFO", &call);

	if (status)
		return status;
	*info = (struct bcl_node_info){
		.card = call.info.card,
		.state = call.info.state,
		.status = call.info.status,
		.rails = call.info.rails,
		.messages_queued = call.info.messages_queued,
		.rtt = call.info.rtt,
		.last_heard = call.info.last_heard,
		.frames_sent = call.info.frames_sent,
		.frames_received = call.info.frames_received,
		.retransmitted = call.info.retransmitted,
	};
	return BCL_OK;
}
