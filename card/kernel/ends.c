/* SPDX-License-Identifier: MIT */
/* The ends of a card in the kernel: the library chooses interfaces, as for the
 * in-process host, and the card accepts or refuses each. See kernel.h. */
#include "card/kernel/kernel.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "env/config.h"
#include "env/log.h"
#include "wire/address.h"
#include "wire/interface.h"

enum {
	RAILS_PER_KIND = 2, /* as in-process */
	IP4_LENGTH = 4,
	IP6_LENGTH = 16,
};

/* The addresses from which the ends are chosen, the best first. */
struct chosen {
	struct bcl_interfaces all;
	struct bcl_choice choice[BCL_CHOICES_MAX];
	unsigned n;
};

static const char *name_of(unsigned kind)
{
	return kind == BCL_WIRE_PACKET ? "packet" : "udp";
}

static const struct bcl_interface *interface_of(const struct chosen *chosen,
						unsigned i)
{
	return &chosen->all.list[chosen->choice[i].interface];
}

/* True if peers can be told one end of this kind more. */
static bool find_room(const struct bcl_device_open *open, unsigned kind)
{
	struct bcl_wire_address wires[BCL_DEVICE_ENDS];
	unsigned e;

	if (open->nends == BCL_DEVICE_ENDS)
		return false;
	for (e = 0; e < open->nends; e++)
		wires[e] = open->end[e].address;
	wires[e].length = bcl_wire_length(kind);
	return bcl_address_fits(wires, e + 1);
}

static void want_end(struct bcl_kernel *host, struct bcl_device_open *open,
		     const struct bcl_interface *interface, unsigned kind,
		     unsigned rail)
{
	open->end[open->nends] = (struct bcl_device_end){
		.interface = interface->index,
		.rail = (uint8_t)rail,
		.address = { .kind = (uint8_t)kind,
			     .length = bcl_wire_length(kind) },
	};
	memcpy(host->interface[open->nends++], interface->name,
	       sizeof(host->interface[0]));
}

/* The rail of an earlier end from `first` on with this interface;
 * BCL_RAILS_MAX: there is none. */
static unsigned rail_of(const struct bcl_device_open *open, unsigned first,
			unsigned interface)
{
	unsigned e;

	for (e = first; e < open->nends; e++)
		if (open->end[e].interface == interface)
			return open->end[e].rail;
	return BCL_RAILS_MAX;
}

static void want_packet_ends(struct bcl_kernel *host,
			     struct bcl_device_open *open,
			     const struct chosen *chosen)
{
	unsigned i;

	for (i = 0; i < chosen->n && open->nends < RAILS_PER_KIND; i++) {
		const struct bcl_interface *own = interface_of(chosen, i);

		if (own->ethernet &&
		    rail_of(open, 0, own->index) == BCL_RAILS_MAX)
			want_end(host, open, own, BCL_WIRE_PACKET, open->nends);
	}
}

static void want_udp_ends(struct bcl_kernel *host, struct bcl_device_open *open,
			  const struct chosen *chosen)
{
	unsigned first = open->nends, interfaces = 0, i;

	for (i = 0; i < chosen->n; i++) {
		const struct bcl_interface *own = interface_of(chosen, i);
		const struct bcl_ip *ip =
			&own->address[chosen->choice[i].address];
		unsigned kind = ip->family == 4 ? BCL_WIRE_UDP4 : BCL_WIRE_UDP6;
		unsigned rail = rail_of(open, first, own->index);
		struct bcl_device_end *end = &open->end[open->nends];

		if (!find_room(open, kind))
			continue;
		if (rail == BCL_RAILS_MAX)
			rail = first + interfaces++ % RAILS_PER_KIND;
		want_end(host, open, own, kind, rail);
		memcpy(end->address.bytes, ip->bytes,
		       ip->family == 4 ? IP4_LENGTH : IP6_LENGTH);
	}
}

enum bcl_status bcl_kernel_want_ends(struct bcl_kernel *host,
				     struct bcl_device_open *open,
				     char why[BCL_HOST_WHY])
{
	const struct bcl_config *config = host->setup.config;
	const struct bcl_env *env = host->setup.env;
	struct chosen chosen = { .n = 0 };
	enum bcl_status status;
	char word[64];

	status = bcl_interfaces_open(env, &chosen.all);
	if (status) {
		snprintf(why, BCL_HOST_WHY, "interfaces cannot be listed: %s",
			 bcl_log_reason(errno));
		return status == BCL_ERR_NOMEM ? status : BCL_ERR_NORAIL;
	}
	if (bcl_interfaces_choose(chosen.all.list, chosen.all.n, config->net,
				  config->node[0], chosen.choice,
				  BCL_CHOICES_MAX, &chosen.n, word))
		bcl_log(config, BCL_LOG_WARN, "card",
			"BCL_NET: no address that is up fits \"%s\"", word);
	if (bcl_config_listed(config->rails, "packet"))
		want_packet_ends(host, open, &chosen);
	if (bcl_config_listed(config->rails, "udp"))
		want_udp_ends(host, open, &chosen);
	bcl_interfaces_close(env, &chosen.all);
	if (open->nends)
		return BCL_OK;
	snprintf(why, BCL_HOST_WHY,
		 "no interface that is up fits BCL_NET and BCL_RAILS");
	return BCL_ERR_NORAIL;
}

/* Describe an end to people. */
static void describe_end(const struct bcl_device_end *end,
			 const char *interface, char line[BCL_HOST_LINE])
{
	if (end->refused)
		snprintf(line, BCL_HOST_LINE,
			 "%s on %s: the kernel's card does not take it: %s",
			 name_of(end->address.kind), interface,
			 bcl_log_reason(end->refused));
	else
		snprintf(line, BCL_HOST_LINE,
			 "rail %u: %s on %s: in the kernel, frames of %u bytes",
			 end->rail, name_of(end->address.kind), interface,
			 end->mtu);
}

void bcl_kernel_show_ends(struct bcl_kernel *host,
			  const struct bcl_device_open *open)
{
	struct bcl_host *base = &host->base;
	uint32_t up = 0;
	unsigned e;

	for (e = 0; e < open->nends; e++) {
		const struct bcl_device_end *end = &open->end[e];
		char interface[sizeof(host->interface[0])];

		/* A copy, so that the compiler sees that it is not the line. */
		memcpy(interface, host->interface[e], sizeof(interface));
		describe_end(end, interface, base->line[base->nlines++]);
		if (end->refused)
			continue;
		host->end_of[base->nends] = (uint8_t)e;
		up |= (uint32_t)(end->up != 0) << e;
		base->end[base->nends++] = (struct bcl_host_end){
			.address = end->address,
			.rail = end->rail,
			.kind = name_of(end->address.kind),
			.interface = host->interface[e],
			.fd = -1,
			.partner_fd = -1,
		};
	}
	atomic_store_explicit(&host->up, up, memory_order_relaxed);
}

void bcl_kernel_watch(struct bcl_host *base)
{
	struct bcl_kernel *host = bcl_kernel_of(base);
	struct bcl_device_open open = { .nends = BCL_DEVICE_ENDS };
	uint32_t up = 0, before;
	unsigned e;

	if (bcl_kernel_call(host, BCL_DEVICE_WATCH, "WATCH", &open))
		return;
	for (e = 0; e < base->nends; e++)
		up |= (uint32_t)(open.end[host->end_of[e]].up != 0)
		      << host->end_of[e];
	before = atomic_exchange_explicit(&host->up, up, memory_order_relaxed);
	for (e = 0; e < base->nends; e++) {
		const struct bcl_host_end *end = &base->end[e];
		uint32_t bit = 1u << host->end_of[e];

		if ((up ^ before) & bit)
			bcl_log(host->setup.config, BCL_LOG_WARN, "card",
				"rail %u, %s on %s, is %s", end->rail,
				end->kind, end->interface,
				up & bit ? "up" : "down");
	}
}
