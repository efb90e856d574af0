// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Sending datagrams. A socket would copy each datagram once more, and may
 * sleep. So the card makes the headers itself, by the route to the destination,
 * and hands the packet to IP.
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/jiffies.h>
#include <linux/udp.h>

#include <net/dst.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/ip6_fib.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/ipv6_stubs.h>
#include <net/route.h>
#include <net/udp.h>

#include "end.h"

enum {
	PATH_LIFE = 600, /* seconds, as that of the kernel's report */
};

static bool is_four(const struct bcl_wire_address *address)
{
	return address->kind == BCL_WIRE_UDP4;
}

static u32 headers_of(const struct bcl_wire_address *address)
{
	return sizeof(struct udphdr) + (is_four(address)
						? sizeof(struct iphdr)
						: sizeof(struct ipv6hdr));
}

static __be16 port_of(const struct bcl_wire_address *address)
{
	__be16 port;

	memcpy(&port, address->bytes + address->length - sizeof(port),
	       sizeof(port));
	return port;
}

static __be32 ip4_of(const struct bcl_wire_address *address)
{
	__be32 ip;

	memcpy(&ip, address->bytes, sizeof(ip));
	return ip;
}

static struct in6_addr ip6_of(const struct bcl_wire_address *address)
{
	struct in6_addr ip;

	memcpy(&ip, address->bytes, sizeof(ip));
	return ip;
}

/* ---- routes ----
 *
 * The last turns of a card may send when the socket is gone already.
 */

static struct dst_entry *find_route4(const struct bcl_kmod_end *own,
				     const struct bcl_wire_address *to)
{
	struct flowi4 flow = {
		.daddr = ip4_of(to),
		.saddr = ip4_of(&own->address),
		.flowi4_proto = IPPROTO_UDP,
		.fl4_dport = port_of(to),
		.fl4_sport = port_of(&own->address),
	};
	struct rtable *route =
		ip_route_output_flow(own->udp->host->net, &flow, NULL);

	return IS_ERR(route) ? NULL : &route->dst;
}

#if IS_ENABLED(CONFIG_IPV6)
static struct dst_entry *find_route6(const struct bcl_kmod_end *own,
				     const struct bcl_wire_address *to,
				     u32 *cookie)
{
	struct flowi6 flow = {
		.daddr = ip6_of(to),
		.saddr = ip6_of(&own->address),
		.flowi6_proto = IPPROTO_UDP,
		.fl6_dport = port_of(to),
		.fl6_sport = port_of(&own->address),
	};
	struct dst_entry *dst;

	/* A scope means nothing to other hosts, so wire addresses have no
	 * scope. */
	if (ipv6_addr_type(&flow.daddr) & IPV6_ADDR_LINKLOCAL)
		flow.flowi6_oif = own->interface;
	dst = ipv6_stub->ipv6_dst_lookup_flow(own->udp->host->net, NULL, &flow,
					      NULL);
	if (IS_ERR(dst))
		return NULL;
	*cookie = rt6_get_cookie(container_of(dst, struct rt6_info, dst));
	return dst;
}
#else
static struct dst_entry *find_route6(const struct bcl_kmod_end *own,
				     const struct bcl_wire_address *to,
				     u32 *cookie)
{
	return NULL;
}
#endif

static unsigned int place_of(const struct bcl_wire_address *address)
{
	return jhash(address->bytes, address->length, 0) % BCL_KMOD_ROUTES;
}

/* The route belongs to the table. NULL: none. */
static struct dst_entry *route_to(struct bcl_kmod_end *own,
				  const struct bcl_wire_address *to)
{
	struct bcl_kmod_route *route = &own->udp->route[place_of(to)];

	if (route->dst && !memcmp(&route->to, to, sizeof(*to)) &&
	    dst_check(route->dst, route->cookie))
		return route->dst;
	dst_release(route->dst);
	route->to = *to;
	route->cookie = 0;
	route->dst = is_four(to) ? find_route4(own, to)
				 : find_route6(own, to, &route->cookie);
	return route->dst;
}

void bcl_kmod_udp_forget(struct bcl_kmod_udp_end *udp)
{
	unsigned int i;

	for (i = 0; i < BCL_KMOD_ROUTES; i++)
		dst_release(udp->route[i].dst);
}

/* ---- the length of packets ---- */

u32 bcl_kmod_udp_measure(struct bcl_kmod_end *own, u32 mtu)
{
	return min(mtu, own->udp->path_mtu) - headers_of(&own->address);
}

static void set_path_mtu(struct bcl_kmod_end *own, u32 mtu)
{
	own->udp->path_mtu = mtu;
	own->udp->path_until = jiffies + PATH_LIFE * HZ;
	bcl_kmod_end_measure(own);
	own->udp->host->grown = true;
	tasklet_schedule(&own->udp->host->tasklet);
}

/*
 * A route knows the least mtu of the path as soon as a packet was too long. All
 * packets of the end must fit, for the time that the kernel remembers. Returns
 * true if a packet of `length` bytes fits now.
 */
static bool fits(struct bcl_kmod_end *own, const struct dst_entry *dst,
		 u32 length)
{
	u32 mtu = max_t(u32, dst_mtu(dst), BCL_KMOD_MTU_MIN);

	if (own->udp->path_mtu != U32_MAX &&
	    time_after(jiffies, own->udp->path_until))
		set_path_mtu(own, U32_MAX);
	if (length <= mtu)
		return true;
	if (mtu < own->udp->path_mtu)
		set_path_mtu(own, mtu);
	return false;
}

/* ---- headers ---- */

/* The system cuts the packet into datagrams, as late as it can. */
static void cut_to(struct sk_buff *packet, u32 length, u32 frame)
{
	struct skb_shared_info *info = skb_shinfo(packet);

	info->gso_type = SKB_GSO_UDP_L4;
	info->gso_size = frame;
	info->gso_segs = DIV_ROUND_UP(length, frame);
	packet->ip_summed = CHECKSUM_PARTIAL;
	packet->csum_start = skb_transport_header(packet) - packet->head;
	packet->csum_offset = offsetof(struct udphdr, check);
}

static void put_udp(struct sk_buff *packet, const struct bcl_wire_address *from,
		    const struct bcl_wire_address *to, u32 length)
{
	struct udphdr *header = skb_push(packet, sizeof(*header));

	skb_reset_transport_header(packet);
	*header = (struct udphdr){
		.source = port_of(from),
		.dest = port_of(to),
		.len = htons(length),
	};
}

static void put_ip4(struct sk_buff *packet, const struct bcl_wire_address *from,
		    const struct bcl_wire_address *to, u32 length)
{
	const struct dst_entry *dst = skb_dst(packet);
	struct iphdr *header;

	udp_set_csum(false, packet, ip4_of(from), ip4_of(to), length);
	header = skb_push(packet, sizeof(*header));
	skb_reset_network_header(packet);
	*header = (struct iphdr){
		.version = 4,
		.ihl = sizeof(*header) / 4,
		.frag_off = htons(IP_DF),
		.ttl = ip4_dst_hoplimit(dst),
		.protocol = IPPROTO_UDP,
		.saddr = ip4_of(from),
		.daddr = ip4_of(to),
	};
	packet->protocol = htons(ETH_P_IP);
}

#if IS_ENABLED(CONFIG_IPV6)
static void put_ip6(struct sk_buff *packet, const struct bcl_wire_address *from,
		    const struct bcl_wire_address *to, u32 length)
{
	const struct in6_addr saddr = ip6_of(from), daddr = ip6_of(to);
	struct ipv6hdr *header;

	udp6_set_csum(false, packet, &saddr, &daddr, length);
	header = skb_push(packet, sizeof(*header));
	skb_reset_network_header(packet);
	*header = (struct ipv6hdr){
		.version = 6,
		.payload_len = htons(length),
		.nexthdr = IPPROTO_UDP,
		.hop_limit = ip6_dst_hoplimit(skb_dst(packet)),
		.saddr = saddr,
		.daddr = daddr,
	};
	packet->protocol = htons(ETH_P_IPV6);
}
#else
static void put_ip6(struct sk_buff *packet, const struct bcl_wire_address *from,
		    const struct bcl_wire_address *to, u32 length)
{
}
#endif

struct sk_buff *bcl_kmod_udp_begin(struct bcl_kmod_end *own,
				   const struct bcl_wire_address *to,
				   u32 length, u32 frame)
{
	u32 datagram = sizeof(struct udphdr) + length;
	u32 headers = headers_of(to), room;
	struct dst_entry *dst = route_to(own, to);
	struct sk_buff *packet;

	if (!dst || !fits(own, dst, headers + frame))
		return NULL;
	room = LL_RESERVED_SPACE(dst->dev) + dst->header_len + headers;
	packet = alloc_skb(room + length + dst->dev->needed_tailroom,
			   GFP_ATOMIC | __GFP_NOWARN);
	if (!packet)
		return NULL;
	skb_reserve(packet, room);
	skb_dst_set(packet, dst_clone(dst));
	put_udp(packet, &own->address, to, datagram);
	if (length > frame)
		cut_to(packet, length, frame);
	if (is_four(to))
		put_ip4(packet, &own->address, to, datagram);
	else
		put_ip6(packet, &own->address, to, datagram);
	return packet;
}

bool bcl_kmod_udp_send(struct bcl_kmod_host *host, struct sk_buff *packet)
{
	int error;

	memset(packet->cb, 0, sizeof(packet->cb));
#if IS_ENABLED(CONFIG_IPV6)
	if (packet->protocol == htons(ETH_P_IPV6))
		error = ip6_local_out(host->net, NULL, packet);
	else
#endif
		error = ip_local_out(host->net, NULL, packet);
	return !net_xmit_eval(error);
}
