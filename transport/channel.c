/* SPDX-License-Identifier: MIT */
/*
 * Posted channels of a port, for all paths. Every path may fill a posted
 * channel; the first message claims the channel. The card has its own copy of
 * the posting, so another path has to take the posting back from the card
 * before it fills the buffer.
 */
#include "transport/card/card.h"
#include "transport/internal.h"

enum bcl_status bcl_channels_open(struct bcl_port *port)
{
	const struct bcl_env *env = port->context->env;

	port->channels = env->allocate(
		env->world, port->nchannels * sizeof(*port->channels));
	if (!port->channels)
		return BCL_ERR_NOMEM;
	for (unsigned i = 0; i < port->nchannels; i++)
		port->channels[i].last = &port->channels[i].first;
	return BCL_OK;
}

void bcl_channels_close(struct bcl_port *port)
{
	const struct bcl_env *env = port->context->env;

	if (port->channels)
		env->release(env->world, port->channels,
			     port->nchannels * sizeof(*port->channels));
}

static void call_waiter(struct bcl_channel *channel)
{
	struct bcl_channel_waiter *waiter = channel->first;

	if (!waiter)
		return;
	channel->first = waiter->next;
	if (!channel->first)
		channel->last = &channel->first;
	waiter->next = NULL;
	waiter->posted(waiter);
}

enum bcl_status bcl_post(struct bcl_port *port, unsigned number, void *buffer,
			 size_t length, uint64_t cookie)
{
	enum bcl_status status = bcl_port_usable(port);
	struct bcl_channel *channel;

	if (status)
		return status;
	if (number >= port->nchannels || bcl_nowhere(buffer, length))
		return BCL_ERR_ARG;
	bcl_presence(port->context);
	channel = &port->channels[number];
	if (channel->state != BCL_CHANNEL_FREE)
		return BCL_ERR_BUSY;
	status = bcl_event_reserve(port);
	if (!status && port->card)
		status = bcl_host_post(port, number, buffer, length);
	if (status)
		return status;
	channel->state = BCL_CHANNEL_POSTED;
	channel->buffer = buffer;
	channel->length = length;
	channel->cookie = cookie;
	call_waiter(channel);
	return BCL_OK;
}

enum bcl_status bcl_unpost(struct bcl_port *port, unsigned number)
{
	enum bcl_status status = bcl_port_usable(port);
	struct bcl_channel *channel;

	if (status)
		return status;
	if (number >= port->nchannels)
		return BCL_ERR_ARG;
	bcl_presence(port->context);
	channel = &port->channels[number];
	if (channel->state == BCL_CHANNEL_FREE)
		return BCL_ERR_ARG;
	if (channel->state == BCL_CHANNEL_CLAIMED)
		return BCL_ERR_BUSY;
	if (port->card)
		status = bcl_host_unpost(port, number);
	if (!status)
		channel->state = BCL_CHANNEL_FREE;
	return status;
}

enum bcl_status bcl_channel_claim(struct bcl_port *port, unsigned number,
				  struct bcl_channel_waiter *waiter,
				  struct bcl_channel **claimed)
{
	struct bcl_channel *channel;

	if (number >= port->nchannels)
		return BCL_ERR_NOPORT;
	channel = &port->channels[number];
	if (channel->state == BCL_CHANNEL_POSTED &&
	    (!port->card || !bcl_host_unpost(port, number))) {
		channel->state = BCL_CHANNEL_CLAIMED;
		*claimed = channel;
		return BCL_OK;
	}
	bcl_count(port->counters, core_channel_waits);
	waiter->port = port;
	waiter->channel = number;
	waiter->next = NULL;
	*channel->last = waiter;
	channel->last = &waiter->next;
	return BCL_ERR_AGAIN;
}

void bcl_channel_forget(struct bcl_channel_waiter *waiter)
{
	struct bcl_channel *channel = &waiter->port->channels[waiter->channel];
	struct bcl_channel_waiter **place = &channel->first;

	while (*place && *place != waiter)
		place = &(*place)->next;
	if (!*place)
		return;
	*place = waiter->next;
	if (!*place)
		channel->last = place;
}

void bcl_channel_done(struct bcl_port *port, unsigned number,
		      struct bcl_peer *peer, uint64_t length,
		      enum bcl_status status)
{
	struct bcl_channel *channel = &port->channels[number];
	const struct bcl_event event = {
		.kind = BCL_EVENT_CHANNEL,
		.status = status,
		.peer = peer,
		.cookie = channel->cookie,
		.length = length,
	};

	bcl_assert(number < port->nchannels &&
		   channel->state == BCL_CHANNEL_CLAIMED);
	channel->state = BCL_CHANNEL_FREE;
	bcl_event_push(port, &event);
}

void bcl_channel_filled(struct bcl_port *port, struct bcl_event *event)
{
	bcl_assert(event->immediate < port->nchannels);
	port->channels[event->immediate].state = BCL_CHANNEL_FREE;
	event->immediate = 0;
}
