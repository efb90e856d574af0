// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Ends of rails: the interfaces by which peers reach a card. The kernel tells
 * of each change of an interface. A rail is up if one of its ends is, and its
 * frames fit all ends in use.
 */
#include <linux/etherdevice.h>
#include <linux/if_arp.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>

#include "host.h"

enum {
	PREFIX = sizeof(struct bcl_ether_prefix),
	MTU_MIN = 576,
	ADDRESS = 7, /* bytes, of BCL_WIRE_PACKET */
};

/* All hosts with ends. Taken after the rtnl lock. */
static LIST_HEAD(hosts);
static DEFINE_MUTEX(hosts_mutex);

/* ---- rails ---- */

/* Returns true if state or frames of the rail have changed. */
static bool measure_rail(struct bcl_kmod_host *host, unsigned int r)
{
	u32 up = 0, mtu = U32_MAX;
	unsigned int e;
	bool changed;

	for (e = 0; e < host->nends; e++) {
		const struct bcl_kmod_end *own = &host->end[e];

		if (!own->interface || own->rail != r)
			continue;
		up |= (u32)own->up << e;
		if (own->used)
			mtu = min(mtu, own->mtu);
	}
	changed = up != host->rail[r].up || mtu != host->rail[r].mtu;
	host->rail[r].up = up;
	host->rail[r].mtu = mtu;
	return changed && mtu != U32_MAX;
}

void bcl_kmod_ends_tell(struct bcl_kmod_host *host)
{
	unsigned int r;
	u32 result;

	host->grown = false;
	for (r = 0; r < BCL_RAILS_MAX; r++) {
		struct bcl_control control = {
			.op = BCL_CTL_RAIL,
			.rail = { .number = r,
				  .burst = BCL_KMOD_BURST,
				  .window = BCL_KMOD_WINDOW,
				  .small = 1,
				  .bulk = 1 },
		};

		if (!measure_rail(host, r))
			continue;
		control.rail.up = host->rail[r].up != 0;
		control.rail.mtu = host->rail[r].mtu;
		bcl_kmod_command(host, &control, &result);
	}
}

/* ---- interfaces ---- */

/* An interface whose frames are too short counts as down, and keeps its mtu. */
static void measure_end(struct bcl_kmod_end *own)
{
	u32 mtu = own->dev->mtu;

	own->up = netif_running(own->dev) && netif_carrier_ok(own->dev) &&
		  mtu >= MTU_MIN;
	if (mtu >= MTU_MIN)
		own->mtu = min_t(u32, (mtu - PREFIX) & ~7u, BCL_FRAME_MAX);
	ether_addr_copy(own->address.mac, own->dev->dev_addr);
}

static void end_changed(struct bcl_kmod_host *host, struct bcl_kmod_end *own,
			unsigned long event)
{
	struct net_device *gone = NULL;

	bcl_kmod_enter(host);
	if (event == NETDEV_UNREGISTER) {
		gone = own->dev;
		WRITE_ONCE(own->dev, NULL);
		own->up = false;
	} else {
		measure_end(own);
	}
	bcl_kmod_ends_tell(host);
	bcl_kmod_leave(host);
	if (gone)
		dev_put(gone);
}

/* Under the rtnl lock. */
static int device_changed(struct notifier_block *block, unsigned long event,
			  void *arg)
{
	const struct net_device *dev = netdev_notifier_info_to_dev(arg);
	struct bcl_kmod_host *host;
	unsigned int e;

	switch (event) {
	case NETDEV_UP:
	case NETDEV_DOWN:
	case NETDEV_CHANGE:
	case NETDEV_CHANGEMTU:
	case NETDEV_CHANGEADDR:
	case NETDEV_UNREGISTER:
		break;
	default:
		return NOTIFY_DONE;
	}
	mutex_lock(&hosts_mutex);
	list_for_each_entry (host, &hosts, listed)
		for (e = 0; e < host->nends; e++)
			if (host->end[e].dev == dev)
				end_changed(host, &host->end[e], event);
	mutex_unlock(&hosts_mutex);
	return NOTIFY_DONE;
}

static struct notifier_block changes = {
	.notifier_call = device_changed,
};

int bcl_kmod_ends_init(void)
{
	return register_netdevice_notifier(&changes);
}

void bcl_kmod_ends_exit(void)
{
	unregister_netdevice_notifier(&changes);
}

/* ---- opening and closing ---- */

/* Returns 0, or the reason why the end cannot be used. */
static int open_end(struct bcl_kmod_host *host, struct bcl_kmod_end *own,
		    const struct bcl_device_end *asked)
{
	struct net_device *dev;

	if (asked->rail >= BCL_RAILS_MAX)
		return EINVAL;
	if (asked->kind != BCL_WIRE_PACKET)
		return EPROTONOSUPPORT;
	dev = __dev_get_by_index(host->net, asked->interface);
	if (!dev)
		return ENODEV;
	if (dev->type != ARPHRD_ETHER && dev->type != ARPHRD_LOOPBACK)
		return EPFNOSUPPORT;
	if (dev->mtu < MTU_MIN)
		return EMSGSIZE;
	if (!netif_running(dev))
		return ENETDOWN;
	*own = (struct bcl_kmod_end){
		.dev = dev,
		.interface = asked->interface,
		.rail = array_index_nospec(asked->rail, BCL_RAILS_MAX),
		.address = { .hint = BCL_KMOD_NO_HINT },
		.used = true,
	};
	dev_hold(dev);
	measure_end(own);
	return 0;
}

/* Only the first end of a rail is in use before a node is reached by another.
 */
static void choose_first(struct bcl_kmod_host *host, unsigned int n)
{
	unsigned int e;

	for (e = 0; e < n; e++)
		if (host->end[e].interface &&
		    host->end[e].rail == host->end[n].rail)
			host->end[n].used = false;
}

unsigned int bcl_kmod_ends_open(struct bcl_kmod_host *host,
				struct bcl_device_open *open)
{
	unsigned int e, good = 0;

	rtnl_lock();
	mutex_lock(&hosts_mutex);
	for (e = 0; e < open->nends; e++) {
		open->end[e].refused =
			open_end(host, &host->end[e], &open->end[e]);
		if (open->end[e].refused)
			continue;
		choose_first(host, e);
		good++;
	}
	/* Release: pairs with end_of(). */
	smp_store_release(&host->nends, open->nends);
	list_add(&host->listed, &hosts);
	mutex_unlock(&hosts_mutex);
	rtnl_unlock();
	return good;
}

void bcl_kmod_ends_close(struct bcl_kmod_host *host)
{
	unsigned int e;

	mutex_lock(&hosts_mutex);
	list_del_init(&host->listed);
	mutex_unlock(&hosts_mutex);
	for (e = 0; e < host->nends; e++)
		if (host->end[e].dev)
			dev_put(host->end[e].dev);
}

void bcl_kmod_ends_show(const struct bcl_kmod_host *host,
			struct bcl_device_open *open)
{
	unsigned int e;

	for (e = 0; e < host->nends; e++) {
		const struct bcl_kmod_end *own = &host->end[e];
		struct bcl_device_end *end = &open->end[e];

		end->mtu = own->mtu;
		end->up = own->up;
		if (!own->interface)
			continue;
		end->length = ADDRESS;
		memset(end->address, 0, sizeof(end->address));
		memcpy(end->address, &own->address, ADDRESS);
	}
}
