/* SPDX-License-Identifier: MIT */
/* Peers of the card path and the nodes on which they are: connecting a peer,
 * accepting a peer that called, reporting losses of nodes to peers. */
#include "transport/card/inside.h"

#include "env/log.h"
#include "transport/event.h"

/*
 * True if the card has finished connecting to the node, as far as the state
 * tells. CLOSED counts, too: between two looks there was a connection, which
 * ended in good order or gave its memory to another node. The next message
 * starts a new handshake, and its completion tells the result.
 */
static bool has_connected(const struct bcl_host_node *node)
{
	return node->state == BCL_NODE_UP || node->state == BCL_NODE_CLOSED;
}

static void bring_up_peer(struct bcl_peer *peer)
{
	peer->path = NULL;
	peer->calling = false;
	bcl_peer_up(peer, &bcl_host_path_ops, "the peer asked for it");
}

void bcl_host_accept(struct bcl_peer *peer, uint32_t index)
{
	struct bcl_host *host = bcl_host_of(peer->port);
	struct bcl_host_node node;

	host->ops->node(host, index, &node);
	/*
	 * The node was lost after the message came, or was lost before and only
	 * the peer connected again. In both cases the card refuses requests for
	 * the node until the library asks the card to connect.
	 */
	if (node.state == BCL_NODE_LOST && node.card == peer->address.card)
		host->ops->connect(host, &peer->address, NULL, 0, &index,
				   &node);
	peer->node = index;
	peer->generation = node.generation;
	bring_up_peer(peer);
	if (node.state == BCL_NODE_LOST || node.state == BCL_NODE_ISOLATED ||
	    node.card != peer->address.card) {
		peer->generation--; /* report the messages, then the loss */
		peer->port->card->changes--;
	}
}

/* No address of the peer was reached: log the numbers of addresses, and the
 * lines about all rails, used or not. */
static void tell_ways(const struct bcl_peer *peer)
{
	const struct bcl_context *context = peer->port->context;
	const struct bcl_host *host = context->card;
	unsigned i;

	bcl_log(&context->config, BCL_LOG_WARN, "card",
		"no way from our %u addresses to the %u of %016llx/%u",
		host->nends, peer->address.nwires,
		(unsigned long long)peer->address.card, peer->number);
	for (i = 0; i < host->nlines; i++)
		bcl_log(&context->config, BCL_LOG_WARN, "card", "%s",
			host->line[i]);
}

enum bcl_status bcl_host_connect(struct bcl_peer *peer)
{
	struct bcl_host *host = bcl_host_of(peer->port);
	struct bcl_host_way ways[BCL_HOST_WAYS];
	unsigned n = bcl_host_ways(peer->port->context, &peer->address, ways);
	struct bcl_host_node node;
	enum bcl_status status;

	if (!n) {
		tell_ways(peer);
		return BCL_ERR_NORAIL;
	}
	status = host->ops->connect(host, &peer->address, ways, n, &peer->node,
				    &node);
	if (status)
		return status;
	peer->generation = node.generation;
	if (has_connected(&node))
		bring_up_peer(peer);
	else
		peer->calling = true;
	return BCL_OK;
}

/* A lost peer will not read its offers. */
static void lose_offers(struct bcl_peer *peer)
{
	struct bcl_host_port *queues = peer->port->card;
	unsigned i;

	for (i = 0; i < queues->noffers; i++) {
		unsigned number = queues->nchannels + i;
		const struct bcl_host_channel *offer =
			&queues->channels[number];
		const struct bcl_event event = {
			.kind = BCL_EVENT_READ,
			.status = peer->lost,
			.peer = peer,
			.cookie = offer->cookie,
		};

		if (offer->posted && offer->peer == peer &&
		    !bcl_host_unoffer(peer->port, number))
			bcl_event_push(peer->port, &event);
	}
}

bool bcl_host_report(struct bcl_port *port, uint32_t changes)
{
	struct bcl_host *host = bcl_host_of(port);
	struct bcl_peer *peer;
	bool told = false;

	for (peer = port->peers; peer; peer = peer->next) {
		struct bcl_host_node node;

		if (peer->ops != &bcl_host_path_ops && !peer->calling)
			continue;
		if (host->ops->node(host, peer->node, &node) != changes)
			return told;
		if (node.generation != peer->generation) {
			bcl_host_abandon(peer);
			peer->calling = false;
			if (node.lost == BCL_ERR_UNREACHABLE)
				tell_ways(peer);
			bcl_peer_lose(peer, node.lost);
			lose_offers(peer);
			told = true;
		} else if (peer->calling && has_connected(&node)) {
			bring_up_peer(peer);
			told = true;
		}
	}
	port->card->changes = changes;
	return told;
}

static enum bcl_status command_node(struct bcl_peer *peer, uint32_t op)
{
	const struct bcl_control control = { .op = op, .node = peer->node };
	struct bcl_host *host = bcl_host_of(peer->port);
	struct bcl_host_node node;

	host->ops->node(host, peer->node, &node);
	if (node.card != peer->address.card)
		return BCL_ERR_DEAD; /* another node has the index by now */
	return bcl_host_command(peer->port, &control);
}

enum bcl_status bcl_host_isolate(struct bcl_peer *peer)
{
	return command_node(peer, BCL_CTL_ISOLATE);
}

enum bcl_status bcl_host_rejoin(struct bcl_peer *peer)
{
	return command_node(peer, BCL_CTL_REJOIN);
}
