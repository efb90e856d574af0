/* SPDX-License-Identifier: MIT */
/* Lists the interfaces of this host by getifaddrs() and /proc, and chooses the
 * addresses for the rails. See interface.h. */
#include "wire/interface.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <linux/if_addr.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "env/env.h"

static unsigned prefix_bits(const uint8_t *mask, unsigned bytes)
{
	unsigned bits = 0;

	while (bits < 8 * bytes && mask[bits / 8] & 0x80 >> bits % 8)
		bits++;
	return bits;
}

static struct bcl_interface *find_interface(struct bcl_interface *list,
					    unsigned n, const char *name)
{
	unsigned i;

	for (i = 0; i < n; i++)
		if (!strcmp(list[i].name, name))
			return &list[i];
	return NULL;
}

static bool fill_address(struct bcl_ip *ip, const struct ifaddrs *entry)
{
	const struct sockaddr_in *in4 = (void *)entry->ifa_addr;
	const struct sockaddr_in *mask4 = (void *)entry->ifa_netmask;
	const struct sockaddr_in6 *in6 = (void *)entry->ifa_addr;
	const struct sockaddr_in6 *mask6 = (void *)entry->ifa_netmask;

	if (!mask4)
		return false;
	if (entry->ifa_addr->sa_family == AF_INET) {
		ip->family = 4;
		memcpy(ip->bytes, &in4->sin_addr, 4);
		ip->prefix = (uint8_t)prefix_bits(
			(const uint8_t *)&mask4->sin_addr, 4);
		return true;
	}
	if (entry->ifa_addr->sa_family != AF_INET6)
		return false;
	ip->family = 6;
	memcpy(ip->bytes, &in6->sin6_addr, 16);
	ip->prefix =
		(uint8_t)prefix_bits((const uint8_t *)&mask6->sin6_addr, 16);
	return true;
}

static void add_link(struct bcl_interface *interface,
		     const struct ifaddrs *entry)
{
	const struct sockaddr_ll *link = (void *)entry->ifa_addr;

	interface->ethernet =
		link->sll_hatype == ARPHRD_ETHER && link->sll_halen == 6;
	memcpy(interface->mac, link->sll_addr, 6);
}

static void mark_default_routes(struct bcl_interface *list, unsigned n)
{
	struct bcl_interface *interface;
	char line[256], name[32];
	unsigned long destination, mask;
	FILE *file;

	file = fopen("/proc/net/route", "re");
	while (file && fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%31s %lx %*s %*s %*s %*s %*s %lx", name,
			   &destination, &mask) != 3 ||
		    destination || mask)
			continue;
		interface = find_interface(list, n, name);
		if (interface)
			interface->default_route = true;
	}
	if (file)
		fclose(file);
	file = fopen("/proc/net/ipv6_route", "re");
	while (file && fgets(line, sizeof(line), file)) {
		if (strncmp(line, "00000000000000000000000000000000 00 ", 36) ||
		    sscanf(line, "%*s %*s %*s %*s %*s %*s %*s %*s %*s %31s",
			   name) != 1)
			continue;
		/* The kernel has an unreachable default route on loopback. */
		interface = find_interface(list, n, name);
		if (interface && !interface->loopback)
			interface->default_route = true;
	}
	if (file)
		fclose(file);
}

/* True if /proc writes the address as these 32 digits. */
static bool is_written(const struct bcl_ip *ip, const char *digits)
{
	char text[33];
	unsigned i;

	for (i = 0; i < 16; i++)
		sprintf(text + 2 * i, "%02x", ip->bytes[i]);
	return ip->family == 6 && !strcmp(text, digits);
}

/* getifaddrs() does not report the flags of addresses. */
static void mark_doubtful(struct bcl_interface *list, unsigned n)
{
	FILE *file = fopen("/proc/net/if_inet6", "re");
	char line[128], name[32], text[33];
	unsigned flags, a;

	while (file && fgets(line, sizeof(line), file)) {
		struct bcl_interface *interface;

		if (sscanf(line, "%32s %*x %*x %*x %x %31s", text, &flags,
			   name) != 3 ||
		    !(flags &
		      (IFA_F_TENTATIVE | IFA_F_DADFAILED | IFA_F_DEPRECATED)))
			continue;
		interface = find_interface(list, n, name);
		for (a = 0; interface && a < interface->naddresses; a++)
			interface->address[a].doubtful |=
				is_written(&interface->address[a], text);
	}
	if (file)
		fclose(file);
}

/* The interface of an entry; adds an interface to the list if needed. NULL: the
 * entry has no address, or a name that is too long. */
static struct bcl_interface *interface_of(struct bcl_interfaces *all,
					  const struct ifaddrs *entry)
{
	struct bcl_interface *interface;

	if (!entry->ifa_addr || strlen(entry->ifa_name) >= IFNAMSIZ)
		return NULL;
	interface = find_interface(all->list, all->n, entry->ifa_name);
	if (interface)
		return interface;
	interface = &all->list[all->n++];
	*interface = (struct bcl_interface){
		.index = if_nametoindex(entry->ifa_name),
		.up = entry->ifa_flags & IFF_UP,
		.loopback = entry->ifa_flags & IFF_LOOPBACK,
	};
	strcpy(interface->name, entry->ifa_name);
	return interface;
}

/* Two passes: the first counts the addresses of each interface, so that they
 * lie together after the second. */
static void fill_in_interfaces(struct bcl_interfaces *all,
			       const struct ifaddrs *entries,
			       struct bcl_ip *addresses)
{
	const struct ifaddrs *entry;
	struct bcl_interface *of;
	struct bcl_ip ip;
	unsigned i;

	for (entry = entries; entry; entry = entry->ifa_next) {
		of = interface_of(all, entry);
		if (of && entry->ifa_addr->sa_family == AF_PACKET)
			add_link(of, entry);
		else if (of)
			of->naddresses += fill_address(&ip, entry);
	}
	for (i = 0; i < all->n; i++) {
		all->list[i].address = addresses;
		addresses += all->list[i].naddresses;
		all->list[i].naddresses = 0;
	}
	for (entry = entries; entry; entry = entry->ifa_next) {
		of = interface_of(all, entry);
		if (of && entry->ifa_addr->sa_family != AF_PACKET)
			of->naddresses += fill_address(
				&of->address[of->naddresses], entry);
	}
}

enum bcl_status bcl_interfaces_open(const struct bcl_env *env,
				    struct bcl_interfaces *interfaces)
{
	struct ifaddrs *entries, *entry;
	size_t n = 1;

	*interfaces = (struct bcl_interfaces){ NULL, 0, 0 };
	if (getifaddrs(&entries))
		return BCL_ERR_SYSTEM;
	for (entry = entries; entry; entry = entry->ifa_next)
		n++;
	interfaces->size =
		n * (sizeof(struct bcl_interface) + sizeof(struct bcl_ip));
	interfaces->list = env->allocate(env->world, interfaces->size);
	if (interfaces->list)
		fill_in_interfaces(interfaces, entries,
				   (struct bcl_ip *)(interfaces->list + n));
	freeifaddrs(entries);
	if (!interfaces->list)
		return BCL_ERR_NOMEM;
	mark_default_routes(interfaces->list, interfaces->n);
	mark_doubtful(interfaces->list, interfaces->n);
	return BCL_OK;
}

void bcl_interfaces_close(const struct bcl_env *env,
			  struct bcl_interfaces *interfaces)
{
	env->release(env->world, interfaces->list, interfaces->size);
}

/* ---- the choice ---- */

enum rank {
	RANK_DEFAULT_ROUTE,
	RANK_ORDINARY,
	RANK_VIRTUAL, /* these and below: only if nothing better is up */
	RANK_LINK_LOCAL,
	RANK_LOOPBACK,
	RANKS
};

static const char *const reasons[RANKS] = {
	"has the default route", "up", "nothing but virtual interfaces is up",
	"no address but a link-local one", "nothing but loopback is up"
};

static bool link_local(const struct bcl_ip *ip)
{
	if (ip->family == 4)
		return ip->bytes[0] == 169 && ip->bytes[1] == 254;
	return ip->bytes[0] == 0xfe && (ip->bytes[1] & 0xc0) == 0x80;
}

static bool container_bridge(const char *name)
{
	static const char *const prefixes[] = {
		"docker", "br-",   "veth",  "virbr",	"cni",
		"podman", "lxcbr", "lxdbr", "tailscale"
	};
	unsigned i;

	for (i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++)
		if (!strncmp(name, prefixes[i], strlen(prefixes[i])))
			return true;
	return false;
}

static enum rank rank_of(const struct bcl_interface *interface)
{
	bool only_local = true;
	unsigned a;

	if (interface->loopback)
		return RANK_LOOPBACK;
	for (a = 0; a < interface->naddresses; a++)
		only_local &= link_local(&interface->address[a]);
	if (only_local)
		return RANK_LINK_LOCAL;
	if (interface->default_route)
		return RANK_DEFAULT_ROUTE;
	return container_bridge(interface->name) ? RANK_VIRTUAL : RANK_ORDINARY;
}

struct chooser {
	const struct bcl_interface *list;
	unsigned n;
	struct bcl_choice *choices;
	unsigned count, max;
};

static bool in_network(const struct bcl_ip *ip, const struct bcl_ip *network)
{
	unsigned bits = network->prefix, i;

	if (ip->family != network->family)
		return false;
	for (i = 0; i < bits; i++)
		if ((ip->bytes[i / 8] ^ network->bytes[i / 8]) & 0x80 >> i % 8)
			return false;
	return true;
}

/* Order of preference: IPv4, IPv6, link-local; doubtful addresses behind all of
 * them. */
static unsigned turn_of(const struct bcl_ip *ip)
{
	return 4 * ip->doubtful + (link_local(ip) ? 2 : ip->family == 6);
}

/* True if a chosen address of the interface reaches the same peers as this
 * address. */
static bool is_redundant(const struct chooser *c, unsigned interface,
			 const struct bcl_ip *ip, bool named)
{
	const struct bcl_interface *i = &c->list[interface];
	unsigned k;

	for (k = 0; k < c->count; k++) {
		const struct bcl_ip *other = &i->address[c->choices[k].address];

		if (c->choices[k].interface == interface &&
		    (in_network(ip, other) ||
		     (!named && (i->loopback || link_local(ip)))))
			return true;
	}
	return false;
}

/* Choose the interface's best address in the network that is not chosen yet.
 * Returns false if there is none. */
static bool choose_address(struct chooser *c, unsigned interface,
			   const struct bcl_ip *network, const char *reason)
{
	const struct bcl_interface *i = &c->list[interface];
	unsigned best = i->naddresses, a;

	if (!i->up || c->count == c->max)
		return false;
	for (a = 0; a < i->naddresses; a++)
		if ((!network || in_network(&i->address[a], network)) &&
		    !is_redundant(c, interface, &i->address[a],
				  network != NULL) &&
		    (best == i->naddresses ||
		     turn_of(&i->address[a]) < turn_of(&i->address[best])))
			best = a;
	if (best == i->naddresses)
		return false;
	c->choices[c->count++] = (struct bcl_choice){ interface, best, reason };
	return true;
}

static bool parse_network(const char *word, struct bcl_ip *network)
{
	char text[64], *slash, *end;
	unsigned long bits;

	if (strlen(word) >= sizeof(text))
		return false;
	strcpy(text, word);
	slash = strchr(text, '/');
	if (slash)
		*slash = 0;
	*network = (struct bcl_ip){ 0 };
	if (inet_pton(AF_INET, text, network->bytes) == 1)
		network->family = 4;
	else if (inet_pton(AF_INET6, text, network->bytes) == 1)
		network->family = 6;
	else
		return false;
	network->prefix = network->family == 4 ? 32 : 128;
	if (slash) {
		bits = strtoul(slash + 1, &end, 10);
		if (end == slash + 1 || *end || bits > network->prefix)
			return false;
		network->prefix = (uint8_t)bits;
	}
	return true;
}

/* True if the word names the interface, or a network in which the interface has
 * an address. */
static bool matches_word(const struct chooser *c, unsigned interface,
			 const char *word, const struct bcl_ip *network)
{
	const struct bcl_interface *i = &c->list[interface];
	unsigned a;

	if (!i->up || (!network && strcmp(i->name, word)))
		return false;
	for (a = 0; a < i->naddresses; a++)
		if (!network || in_network(&i->address[a], network))
			return true;
	return false;
}

/* Choose one more address for each word. ARG: a word fits nothing. */
static enum bcl_status choose_listed(struct chooser *c, const char *net,
				     char word[64])
{
	while (*net) {
		size_t length = strcspn(net, ",");
		struct bcl_ip address, *network = &address;
		bool any = false;
		unsigned i;

		snprintf(word, 64, "%.*s", (int)length, net);
		net += length + (net[length] == ',');
		if (!length)
			continue;
		if (!parse_network(word, &address))
			network = NULL;
		for (i = 0; i < c->n; i++) {
			if (!matches_word(c, i, word, network))
				continue;
			any = true;
			choose_address(c, i, network, "BCL_NET");
		}
		if (!any)
			return BCL_ERR_ARG;
	}
	return BCL_OK;
}

/* Choose one more address of each interface that is good enough. */
static void choose_best(struct chooser *c, bool virtual)
{
	unsigned rank, i;
	bool better = false;

	for (rank = virtual ? RANK_LOOPBACK : 0; rank < RANKS; rank++) {
		if (rank >= RANK_VIRTUAL && better)
			break;
		for (i = 0; i < c->n; i++) {
			if (rank_of(&c->list[i]) != rank || !c->list[i].up)
				continue;
			better |= c->list[i].naddresses != 0;
			choose_address(c, i, NULL,
				       virtual ? "BCL_NODE" : reasons[rank]);
		}
	}
}

enum bcl_status bcl_interfaces_choose(const struct bcl_interface *list,
				      unsigned n, const char *net, bool virtual,
				      struct bcl_choice *choices, unsigned max,
				      unsigned *count, char word[64])
{
	struct chooser c = { list, n, choices, 0, max };
	enum bcl_status status = BCL_OK;
	unsigned before;

	do {
		before = c.count;
		if (*net)
			status = choose_listed(&c, net, word);
		else
			choose_best(&c, virtual);
	} while (!status && c.count > before);
	*count = c.count;
	return status;
}

void bcl_ip_print(const struct bcl_ip *ip, const char *interface, char text[64])
{
	inet_ntop(ip->family == 4 ? AF_INET : AF_INET6, ip->bytes, text, 46);
	if (ip->family == 6 && link_local(ip)) {
		strcat(text, "%");
		strncat(text, interface, 15);
	}
}

bool bcl_interface_state(int fd, unsigned index, bool *up, uint32_t *mtu)
{
	struct ifreq request = { .ifr_ifindex = (int)index };

	*mtu = 0;
	if (ioctl(fd, SIOCGIFNAME, &request) ||
	    ioctl(fd, SIOCGIFFLAGS, &request)) {
		if (errno != ENODEV && errno != ENXIO)
			return false;
		*up = false;
		return true;
	}
	*up = (request.ifr_flags & (IFF_UP | IFF_RUNNING)) ==
	      (IFF_UP | IFF_RUNNING);
	if (ioctl(fd, SIOCGIFMTU, &request))
		return false;
	*mtu = (uint32_t)request.ifr_mtu;
	return true;
}
