/* SPDX-License-Identifier: MIT */
/* The path of a peer: the port's own, shared memory or the card, whichever
 * reaches the peer. The choice is made when the program opens the peer, and
 * again when a path has ended. */
#include <stdio.h>

#include "transport/card/card.h"
#include "transport/internal.h"
#include "transport/shm/shm.h"

void bcl_peer_try_card(struct bcl_peer *peer, const char *why)
{
	struct bcl_context *context = peer->port->context;
	enum bcl_status status;

	snprintf(peer->why, sizeof(peer->why), "%s", why);
	if (peer->address.host == context->host)
		bcl_count(peer->port->counters, core_peers_fallback);
	if (peer->address.card == context->card_id)
		status = BCL_ERR_UNREACHABLE;
	else
		status =
			context->card ? bcl_host_connect(peer) : BCL_ERR_NORAIL;
	if (!status) {
		peer->port->network.used = true;
		return;
	}
	bcl_log(&context->config, BCL_LOG_ERROR, "peer",
		"port %u: no path to %016llx/%u: %s; card: %s",
		peer->port->number, (unsigned long long)peer->address.card,
		peer->number, why,
		peer->address.card == context->card_id
			? "it does not reach a port of the same process"
		: context->card ? bcl_strstatus(status)
				: context->no_card);
	bcl_peer_lose(peer, status);
}

void bcl_peer_connect(struct bcl_peer *peer)
{
	struct bcl_port *port = peer->port;
	struct bcl_context *context = port->context;
	const char *why;

	bcl_peer_connecting(peer);
	if (peer->address.card == context->card_id &&
	    peer->number == port->number)
		bcl_peer_up(peer, &bcl_self_ops, "");
	else if (peer->address.host != context->host)
		bcl_peer_try_card(peer, "another node");
	else if ((why = port->shm ? bcl_shm_connect(peer) : port->shm_why))
		bcl_peer_try_card(peer, why);
}

enum bcl_status bcl_peer_open(struct bcl_port *port, const void *blob,
			      size_t length, struct bcl_peer **result)
{
	enum bcl_status status = bcl_port_usable(port);
	struct bcl_address address;
	struct bcl_peer *peer;

	if (status)
		return status;
	if (!blob || !result)
		return BCL_ERR_ARG;
	bcl_presence(port->context);
	bcl_port_rouse(port);
	status = bcl_address_unpack(blob, length, &address);
	if (status == BCL_ERR_VERSION)
		bcl_log(&port->context->config, BCL_LOG_ERROR, "peer",
			"port %u: a peer's address has version %u, which bcl "
			"%s does not read: all ranks need the same library",
			port->number, *(const uint8_t *)blob, bcl_version());
	if (status)
		return status;
	if (address.host != port->context->host && !port->context->card) {
		bcl_log(&port->context->config, BCL_LOG_ERROR, "peer",
			"port %u: %016llx/%u is on another node, and here is "
			"no network: %s",
			port->number, (unsigned long long)address.card,
			address.number, port->context->no_card);
		return BCL_ERR_NORAIL;
	}
	if (address.card == port->context->card_id &&
	    address.number == port->number)
		status = bcl_self_open(port);
	if (status)
		return status;
	peer = bcl_peer_find(port, address.card, address.number, true);
	if (!peer)
		return BCL_ERR_NOMEM;
	if (bcl_peer_opened(peer, &address))
		bcl_peer_connect(peer);
	*result = peer;
	return BCL_OK;
}

/* ---- the node of a peer ---- */

enum bcl_status bcl_node_isolate(struct bcl_peer *peer)
{
	enum bcl_status status = bcl_peer_usable(peer);

	if (status)
		return status;
	if (peer->ops->path != BCL_PATH_CARD)
		return BCL_ERR_UNSUPPORTED;
	return bcl_host_isolate(peer);
}

enum bcl_status bcl_node_rejoin(struct bcl_peer *peer)
{
	enum bcl_status status = bcl_peer_usable(peer);

	if (status)
		return status;
	/* also for a lost peer, which has no path any more */
	if (peer->node == BCL_NODE_NONE)
		return BCL_ERR_UNSUPPORTED;
	return bcl_host_rejoin(peer);
}
