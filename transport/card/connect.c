/* SPDX-License-Identifier: MIT */
/* Peers and the nodes they are on. */
#include "transport/card/inside.h"

/* How good a peer's address is for a rail of ours: 0, not at all. */
static unsigned fit(const struct bcl_wire_address *own,
		    const struct bcl_wire_address *other)
{
	unsigned same = 0;

	if (own->kind != other->kind)
		return 0;
	/* More leading bytes in common: more likely the same network. */
	while (same < 16 && own->bytes[same] == other->bytes[same])
		same++;
	return 1 + same;
}

/* For each rail the peer's address that fits best; each used once. */
static uint32_t match(const struct bcl_card_host *host,
		      const struct bcl_address *address,
		      struct bcl_wire_address wires[BCL_RAILS_MAX])
{
	uint32_t rails = 0, used = 0;
	unsigned r, w;

	for (r = 0; r < host->nrails; r++) {
		const struct bcl_wire_address *own = &host->rail[r].address;
		unsigned best = 0, which = 0;

		for (w = 0; w < address->nwires; w++) {
			unsigned good = fit(own, &address->wire[w]);

			if (good > best && !(used & 1u << w)) {
				best = good;
				which = w;
			}
		}
		if (!best)
			continue;
		used |= 1u << which;
		rails |= 1u << r;
		wires[r] = address->wire[which];
	}
	return rails;
}

/* Stands in peer->path while the card connects to the peer's node. */
static const char calling;

static void up(struct bcl_peer *peer)
{
	peer->path = NULL;
	bcl_peer_up(peer, &bcl_card_path_ops, "the peer asked for it");
}

void bcl_card_accept(struct bcl_peer *peer, uint32_t index)
{
	static const struct bcl_wire_address nowhere[BCL_RAILS_MAX];
	struct bcl_card_host *host = bcl_card_host_of(peer->port);
	struct bcl_card_node node;

	host->ops->node(host, index, &node);
	/* Lost since, or lost before and connected anew by the peer alone: the
	 * card refuses requests for it until it is asked to connect. */
	if (node.state == BCL_NODE_LOST && node.card == peer->address.card)
		host->ops->connect(host, &peer->address, 0, nowhere, &index,
				   &node);
	peer->node = index;
	peer->life = node.life;
	up(peer);
	if (node.state == BCL_NODE_LOST || node.state == BCL_NODE_ISOLATED ||
	    node.card != peer->address.card) {
		peer->life--; /* what came is told, then the loss */
		peer->port->card->changes--;
	}
}

enum bcl_status bcl_card_connect(struct bcl_peer *peer)
{
	struct bcl_card_host *host = bcl_card_host_of(peer->port);
	struct bcl_wire_address wires[BCL_RAILS_MAX] = { 0 };
	uint32_t rails = match(host, &peer->address, wires);
	struct bcl_card_node node;
	enum bcl_status status;

	if (!rails)
		return BCL_ERR_NORAIL;
	status = host->ops->connect(host, &peer->address, rails, wires,
				    &peer->node, &node);
	if (status)
		return status;
	peer->life = node.life;
	if (node.state == BCL_NODE_UP)
		up(peer);
	else
		peer->path = (void *)&calling;
	return BCL_OK;
}

/* Nobody will read what was offered to a peer that is lost. */
static void lose_offers(struct bcl_peer *peer)
{
	struct bcl_card_port *queues = peer->port->card;
	unsigned i;

	for (i = 0; i < queues->noffers; i++) {
		unsigned number = queues->nchannels + i;
		const struct bcl_card_channel *offer =
			&queues->channels[number];
		const struct bcl_event event = {
			.kind = BCL_EVENT_READ,
			.status = peer->lost,
			.peer = peer,
			.cookie = offer->cookie,
		};

		if (offer->posted && offer->peer == peer &&
		    !bcl_card_unoffer(peer->port, number))
			bcl_event_push(peer->port, &event);
	}
}

bool bcl_card_report(struct bcl_port *port, uint32_t changes)
{
	struct bcl_card_host *host = bcl_card_host_of(port);
	struct bcl_peer *peer;
	bool told = false;

	for (peer = port->peers; peer; peer = peer->next) {
		struct bcl_card_node node;

		if (peer->ops != &bcl_card_path_ops && peer->path != &calling)
			continue;
		if (host->ops->node(host, peer->node, &node) != changes)
			return told;
		if (node.life != peer->life) {
			bcl_card_abandon(peer);
			bcl_peer_lose(peer, node.lost);
			lose_offers(peer);
			told = true;
		} else if (peer->path == &calling &&
			   node.state == BCL_NODE_UP) {
			up(peer);
			told = true;
		}
	}
	port->card->changes = changes;
	return told;
}

static enum bcl_status command_node(struct bcl_peer *peer, uint32_t op)
{
	const struct bcl_control control = { .op = op, .node = peer->node };
	struct bcl_card_host *host = bcl_card_host_of(peer->port);
	struct bcl_card_node node;

	host->ops->node(host, peer->node, &node);
	if (node.card != peer->address.card)
		return BCL_ERR_DEAD; /* another has its place by now */
	return bcl_card_command(peer->port, &control);
}

enum bcl_status bcl_card_isolate(struct bcl_peer *peer)
{
	return command_node(peer, BCL_CTL_ISOLATE);
}

enum bcl_status bcl_card_rejoin(struct bcl_peer *peer)
{
	return command_node(peer, BCL_CTL_REJOIN);
}
