/* SPDX-License-Identifier: MIT */
/* A rail over UDP: opening, watching and closing, and the limits of the rail.
 * See udp.h. */
#include "wire/udp.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <bcl/wire.h>

#include "env/log.h"
#include "wire/interface.h"

static void set_limits(struct bcl_udp *udp, uint32_t mtu)
{
	struct bcl_rail_limits *limits = &udp->rail.limits;
	socklen_t length = sizeof(int);
	int buffer = 0;

	if (mtu > udp->path_mtu)
		mtu = udp->path_mtu;
	mtu -= udp->headers;
	if (mtu > BCL_FRAME_MAX)
		mtu = BCL_FRAME_MAX;
	limits->mtu = mtu & ~7u;
	limits->burst = BCL_UDP_BURST_BYTES / limits->mtu;
	if (limits->burst > BCL_UDP_BURST_FRAMES)
		limits->burst = BCL_UDP_BURST_FRAMES;
	/* The kernel counts its own headers and doubles the requested size. */
	getsockopt(udp->rail.fd, SOL_SOCKET, SO_RCVBUF, &buffer, &length);
	limits->window = (uint32_t)buffer / 3 * 2;
	if (limits->window > BCL_UDP_WINDOW_MAX)
		limits->window = BCL_UDP_WINDOW_MAX;
	limits->bulk = true;
}

static bool udp_check(struct bcl_rail *rail, bool *up)
{
	struct bcl_udp *udp = (struct bcl_udp *)rail;
	uint32_t before = rail->limits.mtu, mtu;

	if (udp->env->now(udp->env->world) >= udp->path_until)
		udp->path_mtu = UINT32_MAX;
	if (!bcl_interface_state(rail->fd, udp->scope, up, &mtu))
		return false;
	if (mtu < BCL_UDP_MTU_MIN) {
		*up = false;
		return false;
	}
	set_limits(udp, mtu);
	if (rail->limits.mtu != before)
		bcl_udp_cut_none(udp);
	return rail->limits.mtu != before;
}

static void udp_close(struct bcl_rail *rail)
{
	struct bcl_udp *udp = (struct bcl_udp *)rail;

	bcl_udp_stage_close(udp);
	bcl_udp_sockets_close(udp);
	udp->env->release(udp->env->world, udp, udp->size);
}

static struct bcl_rail *open_rail(const struct bcl_env *env,
				  const struct bcl_config *config,
				  const struct bcl_interface *interface,
				  const struct bcl_choice *choice, char why[96])
{
	const struct bcl_ip *ip = &interface->address[choice->address];
	size_t size = sizeof(struct bcl_udp) + BCL_UDP_BATCH * BCL_UDP_SLOT;
	struct bcl_udp *udp = env->allocate(env->world, size);
	uint32_t mtu = 0;
	char text[64];
	bool up;

	bcl_ip_print(ip, interface->name, text);
	if (!udp) {
		snprintf(why, 96, "udp: %s: no memory", text);
		bcl_log(config, BCL_LOG_WARN, "udp", "%s", why);
		return NULL;
	}
	udp->env = env;
	udp->config = config;
	udp->size = size;
	udp->flat = (uint8_t *)(udp + 1);
	udp->scope = interface->index;
	udp->path_mtu = UINT32_MAX;
	udp->rail = (struct bcl_rail){
		.kind = &bcl_rail_udp,
		.stage = bcl_udp_stage,
		.transmit = bcl_udp_transmit,
		.receive = bcl_udp_receive,
		.check = udp_check,
		.close = udp_close,
	};
	strcpy(udp->rail.interface, interface->name);
	if (!bcl_udp_sockets_open(udp, ip) ||
	    !bcl_interface_state(udp->rail.fd, interface->index, &up, &mtu) ||
	    mtu < BCL_UDP_MTU_MIN) {
		if (mtu && mtu < BCL_UDP_MTU_MIN)
			snprintf(why, 96, "udp: %.46s: MTU %u, it takes %d",
				 text, mtu, BCL_UDP_MTU_MIN);
		else
			snprintf(why, 96, "udp: %.46s: %s", text,
				 bcl_log_reason(errno));
		bcl_log(config, BCL_LOG_WARN, "udp", "%s", why);
		bcl_udp_sockets_close(udp);
		env->release(env->world, udp, size);
		return NULL;
	}
	set_limits(udp, mtu);
	snprintf(udp->rail.about, sizeof(udp->rail.about),
		 "%.46s: %s; %s segmentation offload", text, choice->reason,
		 udp->segment && udp->join ? "with" : "without");
	return &udp->rail;
}

/* Report the addresses that exceed the number of ends of a card. */
static void tell_left(const struct bcl_config *config,
		      const struct bcl_interface *list,
		      const struct bcl_choice *choices, unsigned n,
		      char why[96])
{
	unsigned length, i;
	char text[64];

	length = (unsigned)snprintf(why, 96, "udp: not used, being too many:");
	for (i = 0; i < n && length < 96; i++) {
		const struct bcl_interface *own = &list[choices[i].interface];

		bcl_ip_print(&own->address[choices[i].address], own->name,
			     text);
		length += (unsigned)snprintf(why + length, 96 - length, "%s %s",
					     i ? "," : "", text);
	}
	bcl_log(config, BCL_LOG_INFO, "udp", "%s", why);
}

static unsigned open_chosen(const struct bcl_env *env,
			    const struct bcl_config *config,
			    const struct bcl_interfaces *all,
			    struct bcl_rail **rails, unsigned max, char why[96])
{
	struct bcl_choice choices[BCL_CHOICES_MAX];
	unsigned n = 0, opened = 0, i;
	char word[64];

	if (bcl_interfaces_choose(all->list, all->n, config->net,
				  config->node[0], choices, BCL_CHOICES_MAX, &n,
				  word))
		bcl_log(config, BCL_LOG_WARN, "udp",
			"BCL_NET: no address that is up fits \"%s\"; it takes "
			"interfaces, and networks such as 10.0.0.0/8: \"ip "
			"address\" lists yours",
			word);
	if (!n)
		snprintf(why, 96, "udp: no interface with an address is up");
	for (i = 0; i < n && opened < max; i++) {
		rails[opened] =
			open_rail(env, config, &all->list[choices[i].interface],
				  &choices[i], why);
		opened += rails[opened] != NULL;
	}
	if (max && i < n)
		tell_left(config, all->list, choices + i, n - i, why);
	return opened;
}

static unsigned udp_open(const struct bcl_env *env,
			 const struct bcl_config *config, uint64_t card,
			 struct bcl_rail **rails, unsigned max, char why[96])
{
	struct bcl_interfaces all;
	unsigned opened;

	(void)card;
	*why = 0;
	if (!bcl_config_listed(config->rails, "udp")) {
		snprintf(why, 96, "udp: not in BCL_RAILS");
		return 0;
	}
	if (bcl_interfaces_open(env, &all)) {
		snprintf(why, 96, "udp: interfaces cannot be listed: %s",
			 bcl_log_reason(errno));
		bcl_log(config, BCL_LOG_WARN, "udp", "%s", why);
		return 0;
	}
	opened = open_chosen(env, config, &all, rails, max, why);
	bcl_interfaces_close(env, &all);
	return opened;
}

const struct bcl_rail_kind bcl_rail_udp = { "udp", true, udp_open };
