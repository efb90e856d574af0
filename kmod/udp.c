// SPDX-License-Identifier: MIT OR GPL-2.0-only
/*
 * Ends that are IP addresses of interfaces: a frame is a UDP datagram. Each end
 * has a socket of the kernel in the process's network namespace. The socket
 * tells of datagrams in softirq context, and is emptied at once. Its port
 * number is the address of the card, so a frame belongs to the card of the
 * socket.
 */
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/inetdevice.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/net.h>

#include <net/addrconf.h>
#include <net/inet_sock.h>
#include <net/sock.h>
#include <net/udp.h>

#include "compat.h"
#include "end.h"

enum {
	PORT_LENGTH = 2,
	/* Of a packet of several frames: fits, with all headers, into memory
	 * that the kernel still finds easily. */
	SEVERAL = 31000,
	JOINED = 1 << 16, /* more than the bytes of joined datagrams */
};

/* ---- receiving ---- */

static void take(const struct bcl_kmod_udp_end *udp, struct sk_buff *packet)
{
	struct bcl_wire_address source = {
		.kind = udp->kind,
		.length = bcl_wire_length(udp->kind),
	};
	u8 *port = source.bytes + source.length - PORT_LENGTH;
	bool joined = skb_is_gso(packet);
	u32 frame = joined ? skb_shinfo(packet)->gso_size : packet->len;

	if (frame < BCL_FRAME_MIN || frame > BCL_FRAME_MAX ||
	    packet->len >= JOINED || udp_lib_checksum_complete(packet) ||
	    (!joined && skb_linearize(packet))) {
		kfree_skb(packet);
		return;
	}
	if (udp->kind == BCL_WIRE_UDP4)
		memcpy(source.bytes, &ip_hdr(packet)->saddr, 4);
	else
		memcpy(source.bytes, &ipv6_hdr(packet)->saddr, 16);
	memcpy(port, &udp_hdr(packet)->source, PORT_LENGTH);
	bcl_kmod_arrived(udp->host, udp->end, &source, packet, frame);
}

/* After a report of an error the socket gives the error before the datagram,
 * which would wait for the next one to come. */
static struct sk_buff *next_datagram(struct sock *sk)
{
	struct sk_buff *packet;
	int error;

	do
		packet = skb_recv_udp(sk, MSG_DONTWAIT, &error);
	while (!packet && error != -EAGAIN);
	return packet;
}

static void datagrams_came(struct sock *sk)
{
	const struct bcl_kmod_udp_end *udp;
	struct sk_buff *packet;

	rcu_read_lock();
	udp = rcu_dereference_sk_user_data(sk);
	while (udp && (packet = next_datagram(sk)))
		take(udp, packet);
	rcu_read_unlock();
}

static void listen(struct bcl_kmod_udp_end *udp)
{
	struct sock *sk = udp->socket->sk;

	write_lock_bh(&sk->sk_callback_lock);
	udp->data_ready = sk->sk_data_ready;
	rcu_assign_sk_user_data(sk, udp);
	WRITE_ONCE(sk->sk_data_ready, datagrams_came);
	udp->error_report = sk->sk_error_report;
	WRITE_ONCE(sk->sk_error_report, bcl_kmod_udp_error);
	write_unlock_bh(&sk->sk_callback_lock);
	datagrams_came(sk); /* that came earlier */
}

static void udp_stop(struct bcl_kmod_end *own)
{
	struct bcl_kmod_udp_end *udp = own->udp;
	struct sock *sk = udp->socket->sk;

	write_lock_bh(&sk->sk_callback_lock);
	rcu_assign_sk_user_data(sk, NULL);
	WRITE_ONCE(sk->sk_data_ready, udp->data_ready);
	WRITE_ONCE(sk->sk_error_report, udp->error_report);
	write_unlock_bh(&sk->sk_callback_lock);
	sock_release(udp->socket);
}

static void udp_close(struct bcl_kmod_end *own)
{
	bcl_kmod_udp_forget(own->udp);
	kvfree(own->flat);
	kfree_rcu(own->udp, rcu);
}

/* ---- opening ---- */

static bool has_ip4(const struct net_device *dev, const u8 *bytes)
{
	const struct in_device *in;
	const struct in_ifaddr *ifa;
	bool found = false;

	rcu_read_lock();
	in = __in_dev_get_rcu(dev);
	if (in)
		in_dev_for_each_ifa_rcu(ifa, in) found |=
			!memcmp(&ifa->ifa_local, bytes, 4);
	rcu_read_unlock();
	return found;
}

static bool has_ip6(const struct net_device *dev, const u8 *bytes)
{
#if IS_ENABLED(CONFIG_IPV6)
	struct in6_addr address;

	memcpy(&address, bytes, sizeof(address));
	return ipv6_chk_addr_and_flags(dev_net(dev), &address, dev, false, 1,
				       0);
#else
	return false;
#endif
}

static int bind_ip4(struct socket *socket, const u8 *bytes)
{
	struct sockaddr_in address = { .sin_family = AF_INET };

	memcpy(&address.sin_addr, bytes, 4);
	ip_sock_set_recverr(socket->sk);
	return kernel_bind(socket, (void *)&address, sizeof(address));
}

/* A tentative address becomes this host's in a second unless another host has
 * it. */
static int bind_ip6(struct socket *socket, const u8 *bytes, u32 interface)
{
	struct sockaddr_in6 address = { .sin6_family = AF_INET6 };
	int one = 1, error;

	memcpy(&address.sin6_addr, bytes, 16);
	if (ipv6_addr_type(&address.sin6_addr) & IPV6_ADDR_LINKLOCAL)
		address.sin6_scope_id = interface;
	error = socket->ops->setsockopt(socket, SOL_IPV6, IPV6_FREEBIND,
					KERNEL_SOCKPTR(&one), sizeof(one));
	if (!error)
		ip6_sock_set_recverr(socket->sk);
	return error ? error
		     : kernel_bind(socket, (void *)&address, sizeof(address));
}

static int open_socket(const struct bcl_kmod_end *own, struct net *net,
		       const struct bcl_wire_address *asked,
		       struct socket **result)
{
	bool four = asked->kind == BCL_WIRE_UDP4;
	struct socket *socket;
	int one = 1;
	int error = sock_create_kern(net, four ? AF_INET : AF_INET6, SOCK_DGRAM,
				     IPPROTO_UDP, &socket);

	if (error)
		return error;
	error = four ? bind_ip4(socket, asked->bytes)
		     : bind_ip6(socket, asked->bytes, own->interface);
	if (error) {
		sock_release(socket);
		return error;
	}
	bcl_compat_no_busy_loop(socket->sk);
	/* Joined datagrams come in one packet; without this option, apart. */
	socket->ops->setsockopt(socket, SOL_UDP, UDP_GRO, KERNEL_SOCKPTR(&one),
				sizeof(one));
	*result = socket;
	return 0;
}

/* The kernel chooses the port. A process may not choose one: some need a
 * privilege. */
static int udp_open(struct bcl_kmod_host *host, struct bcl_kmod_end *own,
		    const struct bcl_wire_address *asked)
{
	bool four = asked->kind == BCL_WIRE_UDP4;
	struct bcl_kmod_udp_end *udp;
	int error;

	if (four ? !has_ip4(own->dev, asked->bytes)
		 : !has_ip6(own->dev, asked->bytes))
		return EADDRNOTAVAIL;
	udp = kzalloc(sizeof(*udp), GFP_KERNEL_ACCOUNT);
	own->flat = kvmalloc(JOINED, GFP_KERNEL_ACCOUNT);
	error = udp && own->flat
			? open_socket(own, host->net, asked, &udp->socket)
			: -ENOMEM;
	if (error) {
		kvfree(own->flat);
		kfree(udp);
		return -error;
	}
	udp->host = host;
	udp->end = own - host->end;
	udp->kind = asked->kind;
	udp->path_mtu = U32_MAX;
	own->udp = udp;
	own->address = *asked;
	memcpy(own->address.bytes + own->address.length - PORT_LENGTH,
	       &inet_sk(udp->socket->sk)->inet_sport, PORT_LENGTH);
	listen(udp);
	return 0;
}

const struct bcl_kmod_kind bcl_kmod_udp = {
	.open = udp_open,
	.stop = udp_stop,
	.close = udp_close,
	.measure = bcl_kmod_udp_measure,
	.several = SEVERAL,
	.begin = bcl_kmod_udp_begin,
	.send = bcl_kmod_udp_send,
};
