/* SPDX-License-Identifier: MIT */
/* Errors that the system and the network report for frames of a UDP rail:
 * failed sends and the error queues of the sockets. See udp.h. */
#include "wire/udp.h"

#include <errno.h>
#include <linux/errqueue.h>
#include <string.h>

#include "env/counters.h"
#include "env/log.h"

enum {
	LOOK_EMPTY = 64, /* empty receives between looks at an error queue */
};

static const uint64_t PATH_LIFE = UINT64_C(600000000000); /* ns */

/* True for an unreachable address. The host tries several ways to a node, and
 * some may lead nowhere. */
static bool no_way(int error)
{
	return error == ENETUNREACH || error == EHOSTUNREACH ||
	       error == EADDRNOTAVAIL;
}

static void log_new_error(struct bcl_udp *udp, const char *what, int error)
{
	if (udp->told != error)
		bcl_log(udp->config,
			no_way(error) ? BCL_LOG_INFO : BCL_LOG_WARN, "udp",
			"%s: %s: %s", udp->rail.interface, what,
			strerror(error));
	udp->told = error;
}

void bcl_udp_suspect(struct bcl_udp *udp, struct bcl_udp_socket *socket)
{
	socket->errors = true;
	udp->errors = true;
}

enum bcl_udp_outcome bcl_udp_failed(struct bcl_udp *udp,
				    struct bcl_udp_socket *from, int error,
				    bool cut, unsigned n)
{
	switch (error) {
	case EAGAIN:
	case ENOBUFS:
	case ENOMEM:
		return BCL_UDP_FULL;
	case EINTR:
		return BCL_UDP_RETRY;
	case ECONNREFUSED:
		bcl_udp_suspect(udp, from);
		return BCL_UDP_RETRY;
	case EIO:
	case EINVAL:
	case EOPNOTSUPP:
		if (!cut)
			break;
		udp->segment = false;
		bcl_rail_count(&udp->rail, udp_offload_lost, 1);
		log_new_error(udp, "no segmentation offload", error);
		return BCL_UDP_UNCUT;
	case EMSGSIZE:
		bcl_udp_suspect(udp, from);
		bcl_rail_count(&udp->rail, udp_too_big, n);
		return BCL_UDP_LOST;
	default:
		break;
	}
	bcl_udp_suspect(udp, from);
	bcl_rail_count(&udp->rail, udp_send_failed, n);
	log_new_error(udp, "cannot send", error);
	return BCL_UDP_LOST;
}

/*
 * Note the MTU of a narrow path. The MTU holds for all destinations, but only
 * for the time that the system remembers a path MTU: by then the destination
 * may be gone, or the report was a lie.
 */
static void note_path(struct bcl_udp *udp, uint32_t mtu)
{
	if (mtu > udp->path_mtu)
		return;
	udp->path_mtu = mtu;
	udp->path_until = udp->env->now(udp->env->world) + PATH_LIFE;
}

static void read_queue(struct bcl_udp *udp, struct bcl_udp_socket *socket,
		       const struct bcl_rail_sink *sink, unsigned index)
{
	struct sockaddr_storage to;
	union {
		struct cmsghdr header;
		uint8_t bytes[512];
	} control;
	struct msghdr message = { .msg_name = &to };
	ssize_t got;

	socket->errors = false;
	for (;;) {
		struct bcl_wire_address address;
		struct sock_extended_err error = { 0 };
		struct cmsghdr *c;

		message.msg_namelen = sizeof(to);
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
		got = syscall(SYS_recvmsg, socket->fd, &message, MSG_ERRQUEUE);
		if (got < 0)
			return;
		for (c = CMSG_FIRSTHDR(&message); c;
		     c = CMSG_NXTHDR(&message, c))
			if ((c->cmsg_level == SOL_IP &&
			     c->cmsg_type == IP_RECVERR) ||
			    (c->cmsg_level == SOL_IPV6 &&
			     c->cmsg_type == IPV6_RECVERR))
				memcpy(&error, CMSG_DATA(c), sizeof(error));
		if (error.ee_errno == EMSGSIZE &&
		    error.ee_info >= BCL_UDP_MTU_MIN) {
			note_path(udp, error.ee_info);
		} else if (error.ee_errno == ECONNREFUSED) {
			bcl_rail_count(&udp->rail, udp_refused, 1);
			bcl_udp_from_system(&to, &address);
			sink->gone(sink->host, index, &address, BCL_ERR_DEAD);
		}
	}
}

void bcl_udp_read_errors(struct bcl_udp *udp, const struct bcl_rail_sink *sink,
			 unsigned index)
{
	unsigned i;

	udp->errors = false;
	if (udp->bound.errors)
		read_queue(udp, &udp->bound, sink, index);
	if (udp->partner.errors)
		read_queue(udp, &udp->partner, sink, index);
	for (i = 0; i < BCL_UDP_PEERS; i++)
		if (udp->peers[i].errors)
			read_queue(udp, &udp->peers[i], sink, index);
}

void bcl_udp_came_nothing(struct bcl_udp *udp)
{
	unsigned i;

	bcl_rail_count(&udp->rail, udp_recvmsg_empty, 1);
	if (++udp->empty % LOOK_EMPTY)
		return;
	for (i = 0; i < BCL_UDP_PEERS; i++) {
		struct bcl_udp_socket *peer =
			&udp->peers[udp->turn++ % BCL_UDP_PEERS];

		if (peer->fd >= 0) {
			bcl_udp_suspect(udp, peer);
			return;
		}
	}
}
