// SPDX-License-Identifier: MIT OR GPL-2.0-only
/* What a card shows of itself: to its process, and to administrators. */
#include <linux/netdevice.h>
#include <linux/pid.h>
#include <linux/uidgid.h>

#include "host.h"

void bcl_kmod_counters_show(const struct bcl_kmod_host *host,
			    struct bcl_device_counters *counters)
{
	*counters = host->count;
	memcpy(counters->card, bcl_card_counters(host->card),
	       sizeof(counters->card));
	counters->not_sent += READ_ONCE(host->not_taken);
	counters->queue_full = READ_ONCE(host->queue_full);
	counters->over_limit = READ_ONCE(host->over_limit);
}

enum bcl_status bcl_kmod_node_info(const struct bcl_kmod_host *host,
				   struct bcl_device_node_info *node)
{
	struct bcl_node_info info;
	enum bcl_status status = bcl_card_node_info(
		host->card, bcl_kmod_node_index(node->index), &info);

	if (status)
		return status;
	node->info.card = info.card;
	node->info.rtt = info.rtt;
	node->info.last_heard = info.last_heard;
	node->info.frames_sent = info.frames_sent;
	node->info.frames_received = info.frames_received;
	node->info.retransmitted = info.retransmitted;
	node->info.state = info.state;
	node->info.status = info.status;
	node->info.rails = info.rails;
	node->info.messages_queued = info.messages_queued;
	return BCL_OK;
}

static void show_interfaces(const struct bcl_kmod_host *host,
			    struct bcl_device_card *card)
{
	unsigned int e;

	card->nends = host->nends;
	for (e = 0; e < host->nends; e++) {
		const struct bcl_kmod_end *own = &host->end[e];

		card->end[e].rail = own->rail;
		card->end[e].up = own->up;
		card->end[e].barred = own->barred;
		if (own->dev)
			strscpy(card->end[e].interface, own->dev->name,
				sizeof(card->end[e].interface));
	}
}

void bcl_kmod_card_show(struct bcl_kmod_host *host,
			struct bcl_device_card *card)
{
	unsigned int i;

	BUILD_BUG_ON(ARRAY_SIZE(host->seat) > ARRAY_SIZE(card->port));
	*card = (struct bcl_device_card){
		.card = host->id,
		.job = (u32)host->job,
		.user = from_kuid_munged(current_user_ns(),
					 bcl_kmod_user_id(host->user)),
		.process = pid_vnr(host->process),
		.peers = host->npeers,
		.waiting = skb_queue_len_lockless(&host->in),
	};
	for (i = 0; i < BCL_KMOD_SEATS; i++)
		if (host->seat[i].number)
			card->port[card->nports++] = host->seat[i].number;
	show_interfaces(host, card);
	bcl_kmod_counters_show(host, &card->counters);
	bcl_kmod_fault_show(&host->fault, &card->fault, card->struck);
}
