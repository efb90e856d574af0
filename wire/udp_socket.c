/* SPDX-License-Identifier: MIT */
/*
 * The sockets of a UDP rail. One socket is bound to the rail's address and
 * receives frames. Frames to a frequent destination leave by a socket connected
 * to that destination: this saves the system the lookup of the route, 0.1 us
 * per frame. A connected socket has a port of its own. With the rail's port,
 * frames of this peer would come in there. A filter drops all frames to the
 * connected socket.
 *
 * So the source address of such a frame is of no use for an answer, nor for
 * learning the peer's address. Frames whose source the receiver needs leave by
 * the bound socket.
 *
 * A new destination takes a place in the table after OFTEN frames for others
 * during which the old destination of the place got none.
 *
 * Receiving has the same cost: for a connected socket the system need not look
 * up the route to itself. So a second socket has the rail's address and is
 * connected to the most frequent source, the partner (udp_receive.c). Until
 * there is a partner, this socket is connected to itself.
 */
#include "wire/udp.h"

#include <linux/filter.h>
#include <netinet/udp.h>
#include <string.h>

#include <bcl/wire.h>

#include "env/config.h"
#include "env/counters.h"
#include "env/process.h"
#include "env/room.h"
#include "wire/interface.h"

enum {
	OFTEN = 16,	   /* frames until a destination gets a socket */
	LATER = 1 << 16,   /* likewise, after a failure to connect */
	DESCRIPTORS = 128, /* left for the program */
	/* The receiver of these kinds does not use the source address. */
	BY_PEER = 1 << BCL_FRAME_DATA | 1 << BCL_FRAME_ACK | 1 << BCL_FRAME_BYE,
};

static bool set_option(int fd, int level, int option, int value)
{
	return !setsockopt(fd, level, option, &value, sizeof(value));
}

static void ask_buffer(int fd, int forced, int plain, uint64_t size)
{
	if (!set_option(fd, SOL_SOCKET, forced, (int)size))
		set_option(fd, SOL_SOCKET, plain, (int)size);
}

/* Bind the socket. `shared`: another socket of this rail has the address,
 * too. */
static bool bind_to(int fd, const struct sockaddr *address, socklen_t length,
		    bool shared)
{
	if (!shared)
		return !bind(fd, address, length);
	return set_option(fd, SOL_SOCKET, SO_REUSEADDR, 1) &&
	       !bind(fd, address, length) &&
	       set_option(fd, SOL_SOCKET, SO_REUSEADDR, 0);
}

/* Open a socket bound to the address and set up to send. Returns -1 on failure,
 * with errno set. */
static int open_socket(const struct bcl_udp *udp,
		       const struct bcl_wire_address *address, bool shared)
{
	struct sockaddr_storage storage;
	socklen_t length = bcl_udp_to_system(udp, address, &storage);
	int fd = socket(storage.ss_family,
			SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	bcl_process_record(fd);
	/* A tentative address becomes this host's in a second unless another
	 * host has it. */
	if (storage.ss_family == AF_INET6)
		set_option(fd, SOL_IPV6, IPV6_FREEBIND, 1);
	if (!bind_to(fd, (struct sockaddr *)&storage, length, shared)) {
		bcl_process_close(fd);
		return -1;
	}
	if (storage.ss_family == AF_INET) {
		set_option(fd, SOL_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO);
		set_option(fd, SOL_IP, IP_RECVERR, 1);
	} else {
		set_option(fd, SOL_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_DO);
		set_option(fd, SOL_IPV6, IPV6_RECVERR, 1);
	}
	ask_buffer(fd, SO_SNDBUFFORCE, SO_SNDBUF, udp->config->socket_buffer);
	return fd;
}

static bool connect_socket(const struct bcl_udp *udp,
			   struct bcl_udp_socket *socket,
			   const struct bcl_wire_address *to)
{
	struct sockaddr_storage storage;
	socklen_t length = bcl_udp_to_system(udp, to, &storage);

	/*
	 * By number: the thread sanitizer takes a socket that is connected
	 * again for a new socket, and reports a race with a thread that adds
	 * the socket to a group.
	 */
	if (syscall(SYS_connect, socket->fd, &storage, length))
		return false;
	socket->peer = *to;
	return true;
}

void bcl_udp_socket_close(struct bcl_udp_socket *socket)
{
	if (socket->fd >= 0)
		bcl_process_close(socket->fd);
	socket->fd = -1;
	socket->cut = 0;
}

/* SO_REUSEADDR is set only during this call: no other process may share the
 * address before or after. */
static void open_partner(struct bcl_udp *udp)
{
	struct bcl_udp_socket *partner = &udp->partner;
	const struct bcl_wire_address *address = &udp->rail.address;

	if (!udp->join ||
	    !set_option(udp->bound.fd, SOL_SOCKET, SO_REUSEADDR, 1))
		return;
	partner->fd = open_socket(udp, address, true);
	set_option(udp->bound.fd, SOL_SOCKET, SO_REUSEADDR, 0);
	if (partner->fd < 0)
		return;
	ask_buffer(partner->fd, SO_RCVBUFFORCE, SO_RCVBUF,
		   udp->config->socket_buffer);
	if (!set_option(partner->fd, SOL_UDP, UDP_GRO, 1) ||
	    !connect_socket(udp, partner, address))
		bcl_udp_socket_close(partner);
	partner->peer.kind = 0; /* no partner yet */
}

bool bcl_udp_sockets_open(struct bcl_udp *udp, const struct bcl_ip *ip)
{
	const struct bcl_config *config = udp->config;
	struct bcl_wire_address *address = &udp->rail.address;
	struct sockaddr_storage storage;
	socklen_t length = sizeof(storage);
	bool four = ip->family == 4;
	unsigned i;
	int fd;

	for (i = 0; i < BCL_UDP_PEERS; i++)
		udp->peers[i].fd = -1;
	udp->partner.fd = -1;
	udp->headers = four ? 28 : 48;
	address->kind = four ? BCL_WIRE_UDP4 : BCL_WIRE_UDP6;
	memcpy(address->bytes, ip->bytes, four ? 4 : 16);
	fd = open_socket(udp, address, false);
	udp->bound.fd = udp->rail.fd = fd;
	if (fd < 0 || getsockname(fd, (struct sockaddr *)&storage, &length))
		return false;
	bcl_udp_from_system(&storage, address);
	ask_buffer(fd, SO_RCVBUFFORCE, SO_RCVBUF, config->socket_buffer);
	udp->segment =
		config->offload && set_option(fd, SOL_UDP, UDP_SEGMENT, 0);
	udp->join = config->offload && set_option(fd, SOL_UDP, UDP_GRO, 1);
	open_partner(udp);
	udp->rail.partner_fd = udp->partner.fd;
	return true;
}

void bcl_udp_sockets_close(struct bcl_udp *udp)
{
	unsigned i;

	for (i = 0; i < BCL_UDP_PEERS; i++)
		bcl_udp_socket_close(&udp->peers[i]);
	bcl_udp_socket_close(&udp->partner);
	bcl_udp_socket_close(&udp->bound);
}

/* ---- sockets that are connected ---- */

static bool drop_all(int fd)
{
	struct sock_filter none = BPF_STMT(BPF_RET | BPF_K, 0);
	const struct sock_fprog program = { 1, &none };

	return !setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program,
			   sizeof(program));
}

static int open_sender(const struct bcl_udp *udp)
{
	struct bcl_wire_address any_port = udp->rail.address;
	int fd;

	memset(any_port.bytes + any_port.length - 2, 0, 2);
	fd = open_socket(udp, &any_port, false);
	if (fd < 0 ||
	    (drop_all(fd) && bcl_descriptors_above(fd) >= DESCRIPTORS))
		return fd;
	bcl_process_close(fd);
	return -1;
}

static bool connect_to(struct bcl_udp *udp, struct bcl_udp_socket *peer,
		       const struct bcl_wire_address *destination)
{
	if (peer->fd < 0)
		peer->fd = open_sender(udp);
	if (peer->fd < 0)
		return false;
	if (connect_socket(udp, peer, destination))
		return true;
	bcl_udp_socket_close(peer);
	return false;
}

/* The place in the table is free or belongs to another destination. */
static struct bcl_udp_socket *__attribute__((noinline))
socket_for_stranger(struct bcl_udp *udp, struct bcl_udp_socket *peer,
		    const struct bcl_wire_address *destination)
{
	if (++peer->strangers < OFTEN)
		return &udp->bound;
	peer->strangers = 0;
	if (connect_to(udp, peer, destination)) {
		bcl_rail_count(&udp->rail, udp_connected, 1);
		return peer;
	}
	peer->strangers = -LATER;
	bcl_rail_count(&udp->rail, udp_unconnected, 1);
	return &udp->bound;
}

static unsigned place_of(const struct bcl_wire_address *address)
{
	uint64_t first, second;
	uint32_t third;

	memcpy(&first, address->bytes, 8);
	memcpy(&second, address->bytes + 8, 8);
	memcpy(&third, address->bytes + 16, 4);
	return (first ^ second ^ third) * 0x9e3779b97f4a7c15 >> 32 &
	       (BCL_UDP_PEERS - 1);
}

struct bcl_udp_socket *
bcl_udp_socket_of(struct bcl_udp *udp,
		  const struct bcl_wire_address *destination,
		  const struct bcl_rail_tx *frame)
{
	const struct bcl_frame_header *header = frame->iov[0].iov_base;
	unsigned kind = header->kind & ~(BCL_FRAME_PCRC | BCL_FRAME_ASK);
	struct bcl_udp_socket *peer = &udp->peers[place_of(destination)];

	if (!((uint64_t)BY_PEER >> kind & 1))
		return &udp->bound;
	if (peer->fd < 0 ||
	    memcmp(&peer->peer, destination, sizeof(*destination)))
		return socket_for_stranger(udp, peer, destination);
	peer->strangers = 0;
	return peer;
}

/* Frames that come from the old partner in this moment are dropped. Otherwise
 * they would seem to come from the new partner. */
void bcl_udp_meet(struct bcl_udp *udp, const struct bcl_wire_address *source)
{
	struct bcl_udp_socket *partner = &udp->partner;

	if (partner->fd < 0 || !connect_socket(udp, partner, source))
		return;
	bcl_rail_count(&udp->rail, udp_partners, 1);
	while (syscall(SYS_recvfrom, partner->fd, NULL, 0, MSG_DONTWAIT, NULL,
		       NULL) >= 0)
		;
}
