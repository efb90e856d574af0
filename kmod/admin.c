// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Calls for administrators (bcl/card_device.h): all open cards, in order of
 * their ids, as far as the caller may see the cards, or change something.
 */
#include <linux/capability.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/siphash.h>

#include <net/net_namespace.h>

#include "host.h"
#include "pin.h"

static LIST_HEAD(cards);
static DEFINE_MUTEX(cards_mutex);
static struct bcl_device_fault everywhere; /* for cards to come */

u64 bcl_kmod_job_of(const u8 key[BCL_KEY_SIZE])
{
	static siphash_key_t secret;

	get_random_once(&secret, sizeof(secret));
	return siphash(key, BCL_KEY_SIZE, &secret);
}

void bcl_kmod_admin_add(struct bcl_kmod_host *host)
{
	struct bcl_kmod_host *next;

	mutex_lock(&cards_mutex);
	list_for_each_entry (next, &cards, known)
		if (next->id > host->id)
			break;
	list_add_tail(&host->known, &next->known);
	bcl_kmod_fault_set(&host->fault, &everywhere);
	mutex_unlock(&cards_mutex);
}

void bcl_kmod_admin_remove(struct bcl_kmod_host *host)
{
	down_write(&host->giving);
	mutex_lock(&cards_mutex);
	list_del(&host->known);
	mutex_unlock(&cards_mutex);
	up_write(&host->giving);
}

/*
 * The release of a pin may wait for the mmap lock of the card's process, and
 * the process can make that long. So cards_mutex is free meanwhile, and the
 * card stays in the list.
 */
void bcl_kmod_admin_give(const struct bcl_kmod_host *needy, bool of_user)
{
	struct bcl_kmod_host *host;

	mutex_lock(&cards_mutex);
	list_for_each_entry (host, &cards, known) {
		const bool process = host->mm == needy->mm;

		if (!process && !(of_user && host->user == needy->user))
			continue;
		if (!down_read_trylock(&host->giving))
			continue; /* the card ends */
		mutex_unlock(&cards_mutex);
		if (process)
			bcl_kmod_pins_give(host);
		else
			bcl_kmod_cache_give(host, ULONG_MAX);
		mutex_lock(&cards_mutex);
		up_read(&host->giving);
	}
	mutex_unlock(&cards_mutex);
}

/* ---- seeing ---- */

static bool may_change(const struct bcl_kmod_host *host)
{
	return ns_capable(host->net->user_ns, CAP_NET_ADMIN);
}

static bool may_see(const struct bcl_kmod_host *host)
{
	return uid_eq(current_uid(), bcl_kmod_user_id(host->user)) ||
	       may_change(host);
}

long bcl_kmod_admin_card(struct bcl_device_card *card)
{
	struct bcl_kmod_host *host;
	long status = BCL_ERR_EMPTY;

	mutex_lock(&cards_mutex);
	list_for_each_entry (host, &cards, known) {
		if (host->id <= card->card || !may_see(host))
			continue;
		bcl_kmod_enter(host);
		bcl_kmod_card_show(host, card);
		bcl_kmod_leave(host);
		status = BCL_OK;
		break;
	}
	mutex_unlock(&cards_mutex);
	return status;
}

/* The next node that the card knows, from this index on. */
static enum bcl_status next_peer(struct bcl_kmod_host *host,
				 struct bcl_device_node_info *node)
{
	enum bcl_status status = BCL_ERR_EMPTY;

	bcl_kmod_enter(host);
	for (; node->index < host->nodes_end; node->index++) {
		status = bcl_kmod_node_info(host, node);
		if (!status)
			break;
	}
	bcl_kmod_leave(host);
	return status ? BCL_ERR_EMPTY : BCL_OK;
}

long bcl_kmod_admin_peer(struct bcl_device_peer *peer)
{
	struct bcl_kmod_host *host;
	long status = BCL_ERR_ARG;

	mutex_lock(&cards_mutex);
	list_for_each_entry (host, &cards, known)
		if (host->id == peer->card && may_see(host))
			status = next_peer(host, &peer->node);
	mutex_unlock(&cards_mutex);
	return status;
}

/* ---- changing ---- */

/* The number of the card's nodes that were isolated, or let in again. */
static unsigned int isolate(struct bcl_kmod_host *host,
			    const struct bcl_device_isolate *asked)
{
	struct bcl_control control = {
		.op = asked->rejoin ? BCL_CTL_REJOIN : BCL_CTL_ISOLATE,
	};
	unsigned int i, n = 0;
	u32 result;

	bcl_kmod_enter(host);
	for (i = 0; i < host->nodes_end; i++) {
		if (host->node[i].shown.card != asked->peer)
			continue;
		control.node = i;
		n += !bcl_kmod_command(host, &control, &result);
	}
	bcl_kmod_leave(host);
	return n;
}

long bcl_kmod_admin_isolate(struct bcl_device_isolate *asked)
{
	struct bcl_kmod_host *host;

	if (!ns_capable(current->nsproxy->net_ns->user_ns, CAP_NET_ADMIN))
		return -EPERM;
	if (!asked->peer)
		return BCL_ERR_ARG;
	asked->cards = 0;
	mutex_lock(&cards_mutex);
	list_for_each_entry (host, &cards, known)
		if (may_change(host))
			asked->cards += isolate(host, asked);
	mutex_unlock(&cards_mutex);
	return asked->cards ? BCL_OK : BCL_ERR_ARG;
}

static bool is_plan(const struct bcl_device_fault *plan)
{
	unsigned int kind;

	for (kind = 0; kind < BCL_DEVICE_FAULTS; kind++)
		if (plan->chance[kind] > BCL_DEVICE_CERTAIN)
			return false;
	return true;
}

long bcl_kmod_admin_fault(const struct bcl_device_fault *plan)
{
	long status = plan->card ? BCL_ERR_ARG : BCL_OK;
	struct bcl_kmod_host *host;

	if (!is_plan(plan))
		return BCL_ERR_ARG;
	if (!plan->card && !capable(CAP_NET_ADMIN))
		return -EPERM;
	mutex_lock(&cards_mutex);
	list_for_each_entry (host, &cards, known) {
		if (plan->card && (host->id != plan->card || !may_see(host)))
			continue;
		status = may_change(host) ? BCL_OK : -EPERM;
		if (!status)
			bcl_kmod_fault_set(&host->fault, plan);
	}
	if (!plan->card)
		everywhere = *plan;
	mutex_unlock(&cards_mutex);
	return status;
}
