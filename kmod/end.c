// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Ends of rails: the interfaces by which peers reach a card. The kernel tells
 * of each change of an interface. A rail is up if one of its ends is, and its
 * frames fit all ends in use. Packets of each kind of end are in ether.c and
 * udp.c.
 */
#include <linux/netdevice.h>
#include <linux/nospec.h>
#include <linux/rtnetlink.h>

#include "end.h"

static const struct bcl_kmod_kind *const kinds[] = {
	[BCL_WIRE_UDP4] = &bcl_kmod_udp,
	[BCL_WIRE_UDP6] = &bcl_kmod_udp,
	[BCL_WIRE_PACKET] = &bcl_kmod_ether,
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

/* An interface whose packets are too short counts as down, and keeps its mtu.
 */
void bcl_kmod_end_measure(struct bcl_kmod_end *own)
{
	u32 mtu = own->dev->mtu;

	own->barred = !bcl_kmod_interface_permitted(own->dev);
	own->up = netif_running(own->dev) && netif_carrier_ok(own->dev) &&
		  mtu >= BCL_KMOD_MTU_MIN && !own->barred;
	if (mtu >= BCL_KMOD_MTU_MIN)
		own->mtu = min_t(u32, own->kind->measure(own, mtu) & ~7u,
				 BCL_FRAME_MAX);
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
		bcl_kmod_end_measure(own);
	}
	bcl_kmod_ends_tell(host);
	bcl_kmod_leave(host);
	if (gone)
		dev_put(gone);
}

void bcl_kmod_ends_measure(void)
{
	struct bcl_kmod_host *host;
	unsigned int e;

	mutex_lock(&hosts_mutex);
	list_for_each_entry (host, &hosts, listed)
		for (e = 0; e < host->nends; e++)
			if (host->end[e].dev)
				end_changed(host, &host->end[e], NETDEV_CHANGE);
	mutex_unlock(&hosts_mutex);
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

static const struct bcl_kmod_kind *kind_of(const struct bcl_wire_address *asked)
{
	return asked->kind < ARRAY_SIZE(kinds)
		       ? kinds[array_index_nospec(asked->kind,
						  ARRAY_SIZE(kinds))]
		       : NULL;
}

static void stop_end(struct bcl_kmod_end *own)
{
	if (own->kind && own->kind->stop)
		own->kind->stop(own);
}

static void close_end(struct bcl_kmod_end *own)
{
	if (own->kind && own->kind->close)
		own->kind->close(own);
	if (own->dev)
		dev_put(own->dev);
	memset(own, 0, sizeof(*own));
}

/* Returns 0, or the reason why the end cannot be used. Without the rtnl lock,
 * as a socket may need a module of the kernel. */
static int open_end(struct bcl_kmod_host *host, struct bcl_kmod_end *own,
		    const struct bcl_device_end *asked)
{
	const struct bcl_kmod_kind *kind = kind_of(&asked->address);
	struct net_device *dev;
	int error;

	if (asked->rail >= BCL_RAILS_MAX)
		return EINVAL;
	if (!kind)
		return EPROTONOSUPPORT;
	dev = dev_get_by_index(host->net, asked->interface);
	if (!dev)
		return ENODEV;
	*own = (struct bcl_kmod_end){
		.kind = kind,
		.dev = dev,
		.interface = asked->interface,
		.rail = array_index_nospec(asked->rail, BCL_RAILS_MAX),
		.address = { .kind = asked->address.kind,
			     .length = bcl_wire_length(asked->address.kind) },
	};
	if (dev->mtu < BCL_KMOD_MTU_MIN)
		error = EMSGSIZE;
	else if (!netif_running(dev))
		error = ENETDOWN;
	else
		error = kind->open(host, own, &asked->address);
	if (error) {
		dev_put(dev);
		memset(own, 0, sizeof(*own));
	}
	return error;
}

/* Only the first end of a rail is in use before a node is reached by another.
 */
static bool is_first(const struct bcl_kmod_host *host, unsigned int n)
{
	unsigned int e;

	for (e = 0; e < n; e++)
		if (host->end[e].interface &&
		    host->end[e].rail == host->end[n].rail)
			return false;
	return true;
}

/* Under the rtnl lock. Returns 0, or the reason why the end cannot be used. */
static int begin_end(struct bcl_kmod_host *host, unsigned int e)
{
	struct bcl_kmod_end *own = &host->end[e];
	int error = 0;

	if (own->dev->reg_state != NETREG_REGISTERED)
		error = ENODEV;
	else if (!bcl_kmod_interface_permitted(own->dev))
		error = EACCES;
	if (error) {
		stop_end(own);
		close_end(own);
		return error;
	}
	own->used = is_first(host, e);
	bcl_kmod_end_measure(own);
	return 0;
}

unsigned int bcl_kmod_ends_open(struct bcl_kmod_host *host,
				struct bcl_device_open *open)
{
	unsigned int e, good = 0;

	for (e = 0; e < open->nends; e++)
		open->end[e].refused =
			open_end(host, &host->end[e], &open->end[e]);
	rtnl_lock();
	mutex_lock(&hosts_mutex);
	for (e = 0; e < open->nends; e++) {
		if (!open->end[e].refused)
			open->end[e].refused = begin_end(host, e);
		good += !open->end[e].refused;
	}
	/* Release: pairs with bcl_kmod_arrived(). */
	smp_store_release(&host->nends, open->nends);
	list_add(&host->listed, &hosts);
	mutex_unlock(&hosts_mutex);
	rtnl_unlock();
	return good;
}

void bcl_kmod_ends_stop(struct bcl_kmod_host *host)
{
	unsigned int e;

	mutex_lock(&hosts_mutex);
	list_del_init(&host->listed);
	mutex_unlock(&hosts_mutex);
	for (e = 0; e < host->nends; e++)
		stop_end(&host->end[e]);
}

void bcl_kmod_ends_close(struct bcl_kmod_host *host)
{
	unsigned int e;

	for (e = 0; e < host->nends; e++)
		close_end(&host->end[e]);
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
		if (own->interface)
			end->address = own->address;
	}
}
