/* SPDX-License-Identifier: MIT */
/*
 * Posted channels: the sender sends its offer in a message, and the message
 * waits at the receiver until the channel is posted.
 */
#include "transport/shm/leave.h"
#include "transport/shm/message.h"
#include "transport/shm/port.h"

enum {
	/* Claims that channels leave for rendezvous, so that messages for a
	 * channel that is never posted do not block other transfers. */
	LEAVE = BCL_CLAIMS / 2,
};

enum bcl_status bcl_posted_send(struct bcl_connection *c, unsigned channel,
				const void *buffer, size_t length,
				uint64_t cookie)
{
	struct bcl_large_tables *t = bcl_large_use(c);
	enum bcl_status status;
	struct bcl_token token;

	if (!t)
		return BCL_ERR_NOMEM;
	if (t->channels_out >= LEAVE)
		return BCL_ERR_AGAIN;
	status = bcl_offer_make(c, BCL_OFFER_CHANNEL, buffer, length, cookie,
				&token);
	if (status)
		return status;
	status = bcl_pair_send(&c->pair, BCL_SHM_CHANNEL, channel, &token,
			       sizeof(token));
	if (status)
		bcl_offer_withdraw(c, &token);
	return status;
}

static void start_pull(struct bcl_posted *posted)
{
	struct bcl_connection *c = posted->connection;
	struct bcl_port *port = c->shm->port;
	struct bcl_channel *channel;
	struct bcl_pull_request request = {
		.kind = BCL_PULL_CHANNEL,
		.channel = posted->channel,
	};
	enum bcl_status status;

	posted->waits = false;
	status = bcl_channel_claim(port, posted->channel, &posted->waiter,
				   &channel);
	if (status == BCL_ERR_AGAIN) {
		posted->waits = true;
		return;
	}
	if (status) {
		bcl_pull_refuse(c, &posted->token, status);
		return;
	}
	request.buffer = channel->buffer;
	request.length = posted->token.length < channel->length
				 ? posted->token.length
				 : channel->length;
	status = bcl_pull_begin(c, &posted->token, &request);
	if (!status)
		return;
	bcl_channel_done(port, posted->channel, c->pair.peer, 0, status);
	bcl_pull_refuse(c, &posted->token, status);
}

static void channel_posted(struct bcl_channel_waiter *waiter)
{
	start_pull((struct bcl_posted *)waiter);
}

bool bcl_posted_take(struct bcl_connection *c, uint64_t immediate,
		     const void *payload, size_t length)
{
	struct bcl_large_tables *t = bcl_large_use(c);
	struct bcl_posted *posted;
	struct bcl_token token;

	if (!t || length != sizeof(token) || immediate > UINT16_MAX)
		return false;
	/* the sender hears END and gives the offer up */
	if (bcl_leave_has_begun(c))
		return true;
	memcpy(&token, payload, sizeof(token));
	if (token.card != c->card || token.number != c->number ||
	    token.slot >= BCL_CLAIMS || t->pulls[token.slot].kind ||
	    t->posted[token.slot].waits)
		return false;
	posted = &t->posted[token.slot];
	*posted = (struct bcl_posted){
		.waiter.posted = channel_posted,
		.connection = c,
		.token = token,
		.channel = (uint16_t)immediate,
	};
	start_pull(posted);
	return true;
}

void bcl_posted_end(struct bcl_connection *c)
{
	struct bcl_large_tables *t = c->large.tables;
	unsigned i;

	for (i = 0; t && i < BCL_CLAIMS; i++) {
		if (t->posted[i].waits)
			bcl_channel_forget(&t->posted[i].waiter);
		t->posted[i].waits = false;
	}
}
