/* SPDX-License-Identifier: MIT */
/*
 * The library posts a channel by its word while a message comes: either the
 * card sees the word and takes the message, or the library sees that the
 * message was refused, and makes the call that tells the sender:
 * nicfw/channel.c, card/queues.c.
 */
#include <string.h>

#include "card/inproc/inproc.h"
#include "nicfw/channel.h"
#include "nicfw/port.h"
#include "tests/weak/weak.h"
#include "transport/card/inside.h"
#include "transport/channel.h"

enum {
	NUMBER = 7, /* of the port */
	ENTRIES = 2,
};

/* Of the card, under the lock. */
static struct bcl_card card;
static struct nic_port nic;
static struct nic_channel armed;
static unsigned postings_seen;

/* Shared by card and port. */
static struct bcl_completion receives[ENTRIES];
static uint32_t again, postings;
static _Atomic uint32_t told; /* the sender: that the channel is posted */

/* Of the port. */
static uint8_t buffer[8];
static struct bcl_channel channel;
static struct bcl_host_channel record;
static struct bcl_host_port queues;
static struct bcl_port port = { .number = NUMBER,
				.card = &queues,
				.channels = &channel };

/* ---- the card in this process ---- */

static struct bcl_inproc host;
static struct bcl_context context;

static const struct bcl_env env = { .yield = weak_yield,
				    .barrier = weak_barrier };

void bcl_nic_port_tell_room(struct bcl_card *of, struct nic_port *to)
{
	(void)of;
	to->refused = 0;
	atomic_fetch_or_explicit(&told, 1, memory_order_acq_rel);
}

static enum bcl_status control(struct bcl_host *base,
			       struct bcl_host_seat *seat,
			       const struct bcl_control *call)
{
	enum bcl_status status;

	bcl_inproc_lock(bcl_inproc_of(base), seat);
	status = call->op == BCL_CTL_POST ? bcl_nic_channel_post(&card, call)
					  : bcl_nic_channel_unpost(&card, call);
	bcl_inproc_unlock(bcl_inproc_of(base), seat);
	return status;
}

static const struct bcl_host_ops ops = { .control = control };

/* ---- before each execution: the channel had a message ---- */

static void set_up(void)
{
	memset(&card, 0, sizeof(card));
	memset(&nic, 0, sizeof(nic));
	card.gather = 1;
	card.ports[NUMBER] = &nic;
	nic_list_init(&card.news);
	nic_list_init(&nic.news);
	nic.number = NUMBER;
	nic.nreceives = ENTRIES;
	nic.nchannels = 1;
	nic.channel = &armed;
	nic.at.receives = receives;
	nic.at.again = &again;
	nic.at.postings = &postings;
	armed = (struct nic_channel){ .again = 1 };
	memset(receives, 0, sizeof(receives));
	again = 1;
	postings = 0;
	told = 0;
	postings_seen = 0;
	channel = (struct bcl_channel){ .buffer = buffer,
					.length = sizeof(buffer) };
	record = (struct bcl_host_channel){ .posted = false };
	queues = (struct bcl_host_port){ .channels = &record, .nchannels = 1 };
	queues.postings = (void *)&postings;
	queues.again = (void *)&again;
	host.base.ops = &ops;
	host.setup.env = &env;
	host.lock = BCL_INPROC_FREE;
	context.card = &host.base;
	port.context = &context;
}

/* ---- the threads ---- */

/* A message comes. True: the channel takes it. */
static bool message_comes(void)
{
	struct nic_channel *found;
	bool taken;

	bcl_inproc_lock(&host, NULL);
	taken = bcl_nic_channel_find(&nic, 0, false, &found) ==
			NIC_OUTCOME_OK ||
		bcl_nic_channel_repost(&card, &nic, 0);
	if (taken) {
		postings_seen++;
		bcl_nic_channel_disarm(&nic, 0);
	} else {
		nic.refused = 1;
	}
	bcl_inproc_unlock(&host, NULL);
	return taken;
}

/* The sender repeats a message that was refused when it is told to. */
static void send_one(void)
{
	if (message_comes())
		return;
	weak_until(atomic_load_explicit(&told, memory_order_acquire));
	weak_assert(message_comes());
}

static void post_one(void)
{
	weak_assert(bcl_host_post(&port, 0, buffer, sizeof(buffer)) == BCL_OK);
	weak_assert(record.posted);
}

/* One posting takes one message. */
static void check(void)
{
	weak_assert(postings_seen == 1);
	weak_assert(!armed.armed && armed.posted == postings);
	weak_assert(!message_comes());
}

int main(void)
{
	static const struct weak_test tests[] = {
		{ "a message comes while its channel is posted",
		  set_up,
		  { send_one, post_one },
		  check },
		{ .name = NULL },
	};

	return weak_main(tests);
}
