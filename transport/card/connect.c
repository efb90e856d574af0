/* SPDX-License-Identifier: MIT */
/* Peers and the nodes they are on. */
#include "transport/card/inside.h"

#include <stdio.h>
#include <string.h>

#include "transport/log.h"

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
		const struct bcl_wire_address *own =
			&host->rails[r].rail->address;
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

static void up(struct bcl_peer *peer, const struct bcl_card_node *node)
{
	const struct bcl_card_host *host = bcl_card_host_of(peer->port);
	char why[96] = "card:";
	unsigned r;

	for (r = 0; r < host->nrails; r++)
		if (node->known & 1 << r)
			snprintf(why + strlen(why), sizeof(why) - strlen(why),
				 " %s/%s", host->rails[r].rail->kind->name,
				 host->rails[r].rail->interface);
	peer->path = NULL;
	bcl_peer_up(peer, &bcl_card_path_ops, why);
}

void bcl_card_accept(struct bcl_peer *peer, uint32_t node)
{
	struct bcl_card_host *host = bcl_card_host_of(peer->port);

	bcl_card_lock(host);
	peer->node = node;
	peer->life = host->nodes[node].life;
	up(peer, &host->nodes[node]);
	bcl_card_unlock(host);
}

enum bcl_status bcl_card_connect(struct bcl_peer *peer)
{
	struct bcl_card_host *host = bcl_card_host_of(peer->port);
	struct bcl_wire_address wires[BCL_RAILS_MAX] = { 0 };
	struct bcl_control control = { .op = BCL_CTL_CONNECT };
	enum bcl_status status = BCL_ERR_NORAIL;
	uint32_t index = 0;
	unsigned r;

	control.connect.card = peer->address.card;
	control.connect.rails = match(host, &peer->address, wires);
	if (!control.connect.rails)
		return BCL_ERR_NORAIL;
	bcl_card_lock(host);
	host->connecting = wires;
	status = bcl_card_command(host, &control, &index);
	host->connecting = NULL;
	if (!status) {
		struct bcl_card_node *node = &host->nodes[index];

		if (node->card != peer->address.card) {
			node->card = peer->address.card;
			node->known = 0;
		}
		for (r = 0; r < host->nrails; r++)
			if (control.connect.rails & ~node->known & 1u << r) {
				node->address[r] = wires[r];
				node->known |= (uint8_t)(1 << r);
			}
		peer->node = index;
		peer->life = node->life;
		if (node->state == BCL_NODE_UP)
			up(peer, node);
		else
			peer->path = (void *)&calling;
	}
	bcl_card_unlock(host);
	return status;
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
	uint32_t now;

	for (peer = port->peers; peer; peer = peer->next) {
		struct bcl_card_node node;

		if (peer->ops != &bcl_card_path_ops && peer->path != &calling)
			continue;
		bcl_card_lock(host);
		node = host->nodes[peer->node];
		now = atomic_load_explicit(&host->changes,
					   memory_order_relaxed);
		bcl_card_unlock(host);
		if (now != changes)
			return told;
		if (node.life != peer->life) {
			bcl_card_abandon(peer);
			bcl_peer_lose(peer, node.lost);
			lose_offers(peer);
			told = true;
		} else if (peer->path == &calling &&
			   node.state == BCL_NODE_UP) {
			up(peer, &node);
			told = true;
		}
	}
	port->card->changes = changes;
	return told;
}

static enum bcl_status command_node(struct bcl_peer *peer, uint32_t op)
{
	struct bcl_card_host *host = bcl_card_host_of(peer->port);
	const struct bcl_control control = { .op = op, .node = peer->node };
	enum bcl_status status;
	uint32_t result;

	bcl_card_lock(host);
	status = bcl_card_command(host, &control, &result);
	bcl_card_unlock(host);
	return status;
}

enum bcl_status bcl_card_isolate(struct bcl_peer *peer)
{
	return command_node(peer, BCL_CTL_ISOLATE);
}

enum bcl_status bcl_card_rejoin(struct bcl_peer *peer)
{
	return command_node(peer, BCL_CTL_REJOIN);
}
