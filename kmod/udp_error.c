// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Reports of the network that nobody listens where frames went: a process with
 * a card of its own is gone. They come in softirq context. A report that a
 * path is narrow is the route's (udp_send.c).
 */
#include <linux/errqueue.h>

#include <net/sock.h>

#include "end.h"

/* The destination of the frame that the report is about. */
static struct bcl_wire_address address_of(const struct bcl_kmod_udp_end *udp,
					  struct sk_buff *report)
{
	const struct sock_exterr_skb *error = SKB_EXT_ERR(report);
	struct bcl_wire_address address = {
		.kind = udp->kind,
		.length = bcl_wire_length(udp->kind),
	};
	const u32 ip = address.length - sizeof(error->port);

	memcpy(address.bytes, skb_network_header(report) + error->addr_offset,
	       ip);
	memcpy(address.bytes + ip, &error->port, sizeof(error->port));
	return address;
}

static bool is_refusal(const struct bcl_kmod_udp_end *udp,
		       struct sk_buff *report)
{
	const struct sock_extended_err *error = &SKB_EXT_ERR(report)->ee;

	return error->ee_errno == ECONNREFUSED &&
	       error->ee_origin == (udp->kind == BCL_WIRE_UDP4
					    ? SO_EE_ORIGIN_ICMP
					    : SO_EE_ORIGIN_ICMP6);
}

void bcl_kmod_udp_error(struct sock *sk)
{
	const struct bcl_kmod_udp_end *udp;
	struct bcl_wire_address address;
	struct sk_buff *report;

	rcu_read_lock();
	udp = rcu_dereference_sk_user_data(sk);
	/* Not sock_dequeue_err_skb(), which would call this function again. */
	while (udp && (report = skb_dequeue(&sk->sk_error_queue))) {
		if (is_refusal(udp, report)) {
			address = address_of(udp, report);
			bcl_kmod_nodes_refused(udp->host, udp->end, &address);
		}
		consume_skb(report);
	}
	rcu_read_unlock();
}
