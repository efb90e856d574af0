/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Channels of ports: a buffer that takes one message, or data that is offered
 * to peers, until the last of them has read the data.
 */
#include <nicfw/channel.h>

#include <nicfw/card.h>
#include <nicfw/message.h>
#include <nicfw/node.h>
#include <nicfw/port.h>

enum nic_outcome bcl_nic_channel_find(struct nic_port *port, uint32_t target,
				      bool reading, struct nic_channel **found)
{
	struct nic_channel *channel;
	int16_t age;

	if ((target & 0xffff) >= port->nchannels)
		return NIC_OUTCOME_NOPORT;
	channel = &port->channel[target & 0xffff];
	*found = channel;
	age = (int16_t)((target >> 16) - channel->generation);
	if (age < 0)
		return NIC_OUTCOME_NOPORT;
	if (age > 0 || !channel->armed || channel->filling ||
	    channel->reading != reading)
		return NIC_OUTCOME_REFUSED;
	return NIC_OUTCOME_OK;
}

/* ---- posting by the word: see bcl/card_abi.h ---- */

/* Tell the library whether it may post the channel by the word. */
static void show_again(struct nic_port *port, uint32_t number, uint32_t again)
{
	if (port->at.again)
		nic_store_before(&port->at.again[number], nic_host32(again));
}

static uint32_t postings_of(const struct nic_port *port, uint32_t number)
{
	return port->at.postings
		       ? nic_host32(nic_load_after(&port->at.postings[number]))
		       : 0;
}

/* Any process may have written to the word: the next posting adds 1. */
static bool is_posted_by_word(const struct nic_port *port, uint32_t number)
{
	return postings_of(port, number) == port->channel[number].posted + 1;
}

/* Only the host knows whether the memory of the last POST is as before. */
static bool has_memory(struct bcl_card *card, struct nic_port *port,
		       uint32_t number)
{
	struct bcl_completion entry = { .index = number,
					.kind = BCL_CQ_REPOST };

	if (!card->hal.repost ||
	    card->hal.repost(card->host, port->number, number))
		return true;
	port->channel[number].lapsed = 1;
	nic_count(card, reposts);
	nic_port_event(card, port, BCL_QUEUE_RECEIVES, &entry);
	return false;
}

bool bcl_nic_channel_repost(struct bcl_card *card, struct nic_port *port,
			    uint32_t target)
{
	uint32_t number = target & 0xffff;
	struct nic_channel *channel = &port->channel[number];

	if (!channel->again || channel->generation != target >> 16)
		return false;
	channel->again = 0;
	show_again(port, number, 0);
	if (channel->armed || !is_posted_by_word(port, number) ||
	    !has_memory(card, port, number))
		return false;
	nic_count(card, posted_again);
	channel->posted++;
	channel->again = 1;
	channel->armed = 1;
	return true;
}

void bcl_nic_channel_disarm(struct nic_port *port, uint32_t number)
{
	struct nic_channel *channel = &port->channel[number];

	channel->armed = 0;
	if (channel->again && !channel->lapsed)
		show_again(port, number, 1);
}

/* ---- offers ---- */

/*
 * The data that was offered has been read, or the offer is withdrawn. A peer
 * that still asks for it is told that it is gone. The next offer has the next
 * generation.
 */
static void end_offer(struct nic_channel *channel)
{
	channel->armed = 0;
	channel->generation++;
}

void bcl_nic_channel_read(const struct nic_message *reply)
{
	struct nic_channel *channel;

	if (!reply->cookie || !reply->port)
		return; /* not the last read of a channel */
	channel = &reply->port->channel[reply->index];
	bcl_assert(channel->reads && channel->last &&
		   channel->generation == reply->cookie - 1);
	channel->done = 1;
}

void bcl_nic_channel_release(struct bcl_card *card,
			     const struct nic_message *reply)
{
	struct bcl_completion entry = { .kind = BCL_CQ_READ };
	struct nic_channel *channel = &reply->port->channel[reply->index];

	bcl_assert(channel->armed && channel->reading && channel->reads);
	if (--channel->reads || !channel->done)
		return;
	end_offer(channel);
	entry.cookie = channel->cookie;
	entry.card = reply->node->card;
	entry.index = reply->index;
	entry.node = nic_node_index(card, reply->node);
	entry.src_port = reply->dst_port;
	nic_port_event(card, reply->port, BCL_QUEUE_RECEIVES, &entry);
}

/* ---- control calls ---- */

static struct nic_port *port_of(const struct bcl_card *card,
				const struct bcl_control *control)
{
	struct nic_port *port = NULL;

	if (control->channel.port <= 65535)
		port = nic_port_find(card, (uint16_t)control->channel.port);
	return port && control->channel.number < port->nchannels ? port : NULL;
}

enum bcl_status bcl_nic_channel_post(struct bcl_card *card,
				     const struct bcl_control *control)
{
	struct nic_port *port = port_of(card, control);
	struct nic_channel *channel;

	if (!port || control->channel.reading > 1 ||
	    (!control->channel.reading &&
	     control->channel.length > UINT32_MAX) ||
	    control->channel.offset + control->channel.length <
		    control->channel.offset)
		return BCL_ERR_ARG;
	channel = &port->channel[control->channel.number];
	if (channel->armed || channel->filling)
		return BCL_ERR_BUSY;
	bcl_assert(!channel->reads);
	channel->armed = 1;
	channel->last = 0;
	channel->done = 0;
	channel->reading = (uint8_t)control->channel.reading;
	channel->again =
		card->gather && !channel->reading && !control->channel.once;
	channel->posted = postings_of(port, control->channel.number);
	show_again(port, control->channel.number, 0);
	channel->generation = control->channel.generation;
	channel->handle = control->channel.handle;
	channel->offset = control->channel.offset;
	channel->length = control->channel.length;
	channel->cookie = control->channel.cookie;
	channel->card = control->channel.card;
	channel->card_port = (uint16_t)control->channel.card_port;
	if (port->refused)
		bcl_nic_port_tell_room(card, port);
	return BCL_OK;
}

enum bcl_status bcl_nic_channel_unpost(struct bcl_card *card,
				       const struct bcl_control *control)
{
	struct nic_port *port = port_of(card, control);
	struct nic_channel *channel;

	if (!port)
		return BCL_ERR_ARG;
	channel = &port->channel[control->channel.number];
	if (channel->filling || (channel->armed && channel->reads))
		return BCL_ERR_BUSY;
	if (channel->armed && channel->reading)
		end_offer(channel);
	else if (channel->armed)
		bcl_nic_channel_disarm(port, control->channel.number);
	else if (is_posted_by_word(port, control->channel.number))
		channel->posted++;
	else
		return BCL_ERR_EMPTY;
	return BCL_OK;
}
