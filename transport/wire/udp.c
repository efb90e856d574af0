/* SPDX-License-Identifier: MIT */
/*
 * A rail over UDP: one socket per address, no privilege.
 *
 * Sending: equal frames to one destination leave in one system call, cut by
 * the system (UDP_SEGMENT), or frame by frame in sendmmsg() where that is
 * not to be had. Receiving: the system joins frames of one burst (UDP_GRO);
 * if the card predicts where their payloads belong, the scatter list is aimed
 * right there, so that a payload is copied once, by the kernel.
 */
#include "transport/wire/rail.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/errqueue.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bcl/wire.h>

#include "transport/counters.h"
#include "transport/log.h"
#include "transport/wire/interface.h"

enum {
	BURST_FRAMES = 64, /* what every kernel with UDP_SEGMENT takes */
	BURST_BYTES = 65507,
	FLAT = 1 << 16, /* the longest datagram, or joined datagrams */
	BATCH = 16,	/* datagrams in one recvmmsg() */
	SLOT = 9088,	/* bytes for each of them: a frame */
	DELIVER = 128,	/* frames delivered in one call */
	/* More in flight than this falls out of the second-level cache. */
	WINDOW_MAX = 1 << 20,
	MTU_MIN = 576,
	TRIES = 4, /* of a send that is told errors of earlier ones */
};

struct udp {
	struct bcl_rail rail;
	const struct bcl_env *env;
	const struct bcl_config *config;
	sa_family_t family;
	uint32_t scope;
	uint32_t headers;  /* bytes of IP and UDP before a frame */
	uint32_t path_mtu; /* least that was reported, else UINT32_MAX */
	bool segment;	   /* the system cuts what is sent */
	bool join;	   /* and joins what is received */
	bool errors;	   /* the socket's error queue may hold something */
	int told;	   /* the last errno that was logged */
	size_t size;	   /* of this and flat */
	uint8_t *flat;	   /* BATCH slots, or one joined datagram */
	struct iovec out[BURST_FRAMES * 6];
	struct mmsghdr messages[BURST_FRAMES];
	struct iovec in[2 * DELIVER + 1];
	struct bcl_rx_frame frames[DELIVER];
};

/*
 * Not the library's functions: those are points where a thread can be
 * cancelled, which must not happen under the card's lock, and cost more.
 */
static ssize_t send_message(int fd, const struct msghdr *message)
{
	const struct iovec *iov = message->msg_iov;

	/* A call of its own for the common case: less to copy and check. */
	if (message->msg_iovlen == 1 && !message->msg_controllen)
		return syscall(SYS_sendto, fd, iov->iov_base, iov->iov_len,
			       MSG_DONTWAIT, message->msg_name,
			       message->msg_namelen);
	return syscall(SYS_sendmsg, fd, message, MSG_DONTWAIT);
}

static ssize_t receive_message(int fd, struct msghdr *message, int flags)
{
	return syscall(SYS_recvmsg, fd, message, flags);
}

/* ---- addresses ---- */

static socklen_t to_system(const struct udp *udp,
			   const struct bcl_wire_address *address,
			   struct sockaddr_storage *storage)
{
	struct sockaddr_in *in4 = (void *)storage;
	struct sockaddr_in6 *in6 = (void *)storage;

	if (address->kind == BCL_WIRE_UDP4) {
		*in4 = (struct sockaddr_in){ .sin_family = AF_INET };
		memcpy(&in4->sin_addr, address->bytes, 4);
		memcpy(&in4->sin_port, address->bytes + 4, 2);
		return sizeof(*in4);
	}
	*in6 = (struct sockaddr_in6){ .sin6_family = AF_INET6 };
	memcpy(&in6->sin6_addr, address->bytes, 16);
	memcpy(&in6->sin6_port, address->bytes + 16, 2);
	/* A scope means nothing to other hosts, so addresses have none. */
	if (IN6_IS_ADDR_LINKLOCAL(&in6->sin6_addr))
		in6->sin6_scope_id = udp->scope;
	return sizeof(*in6);
}

static void from_system(const struct sockaddr_storage *storage,
			struct bcl_wire_address *address)
{
	const struct sockaddr_in *in4 = (const void *)storage;
	const struct sockaddr_in6 *in6 = (const void *)storage;

	*address = (struct bcl_wire_address){ 0 };
	if (storage->ss_family == AF_INET) {
		address->kind = BCL_WIRE_UDP4;
		address->length = 6;
		memcpy(address->bytes, &in4->sin_addr, 4);
		memcpy(address->bytes + 4, &in4->sin_port, 2);
	} else {
		address->kind = BCL_WIRE_UDP6;
		address->length = 18;
		memcpy(address->bytes, &in6->sin6_addr, 16);
		memcpy(address->bytes + 16, &in6->sin6_port, 2);
	}
}

/* ---- errors ---- */

enum outcome {
	SENT,
	FULL,  /* try again later */
	RETRY, /* the error was an earlier frame's */
	LOST,  /* counted; like a loss on the wire */
	UNCUT, /* cannot be cut by the system: send frame by frame */
};

static void tell(struct udp *udp, const char *what, int error)
{
	if (udp->told != error)
		bcl_log(udp->config, BCL_LOG_WARN, "udp", "%s: %s: %s",
			udp->rail.interface, what, strerror(error));
	udp->told = error;
}

static enum outcome failed(struct udp *udp, int error, bool cut, unsigned n)
{
	switch (error) {
	case EAGAIN:
	case ENOBUFS:
	case ENOMEM:
		return FULL;
	case EINTR:
		return RETRY;
	case ECONNREFUSED:
		udp->errors = true;
		return RETRY;
	case EIO:
	case EINVAL:
	case EOPNOTSUPP:
		if (!cut)
			break;
		udp->segment = false;
		bcl_rail_count(&udp->rail, udp_offload_lost, 1);
		tell(udp, "no segmentation offload", error);
		return UNCUT;
	case EMSGSIZE:
		udp->errors = true;
		bcl_rail_count(&udp->rail, udp_too_big, n);
		return LOST;
	default:
		break;
	}
	udp->errors = true;
	bcl_rail_count(&udp->rail, udp_send_failed, n);
	tell(udp, "cannot send", error);
	return LOST;
}

/* Take what the network said about frames sent earlier. */
static void read_errors(struct udp *udp, const struct bcl_rail_sink *sink,
			unsigned index)
{
	struct sockaddr_storage to;
	union {
		struct cmsghdr header;
		uint8_t bytes[512];
	} control;
	struct msghdr message = { .msg_name = &to };

	udp->errors = false;
	for (;;) {
		struct bcl_wire_address address;
		struct sock_extended_err error = { 0 };
		struct cmsghdr *c;

		message.msg_namelen = sizeof(to);
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
		if (receive_message(udp->rail.fd, &message, MSG_ERRQUEUE) < 0)
			return;
		for (c = CMSG_FIRSTHDR(&message); c;
		     c = CMSG_NXTHDR(&message, c))
			if ((c->cmsg_level == SOL_IP &&
			     c->cmsg_type == IP_RECVERR) ||
			    (c->cmsg_level == SOL_IPV6 &&
			     c->cmsg_type == IPV6_RECVERR))
				memcpy(&error, CMSG_DATA(c), sizeof(error));
		if (error.ee_errno == EMSGSIZE && error.ee_info >= MTU_MIN) {
			if (error.ee_info < udp->path_mtu)
				udp->path_mtu = error.ee_info;
		} else if (error.ee_errno == ECONNREFUSED && sink) {
			bcl_rail_count(&udp->rail, udp_refused, 1);
			from_system(&to, &address);
			sink->gone(sink->host, index, &address, BCL_ERR_DEAD);
		}
	}
}

/* ---- sending ---- */

static enum outcome send_one(struct udp *udp, struct msghdr *message, bool cut,
			     unsigned n)
{
	unsigned tries;

	for (tries = 0; tries < TRIES; tries++) {
		enum outcome outcome;

		bcl_rail_count(&udp->rail, udp_sendmsg, 1);
		if (send_message(udp->rail.fd, message) >= 0)
			return SENT;
		outcome = failed(udp, errno, cut, n);
		if (outcome != RETRY)
			return outcome;
	}
	bcl_rail_count(&udp->rail, udp_send_failed, n);
	return LOST;
}

/* Pieces that lie one behind the other are one. */
static unsigned append(struct iovec *out, unsigned n, const struct iovec *piece)
{
	struct iovec *last = out + n - 1;

	if (n && (uint8_t *)last->iov_base + last->iov_len == piece->iov_base) {
		last->iov_len += piece->iov_len;
		return n;
	}
	out[n] = *piece;
	return n + 1;
}

static enum outcome send_burst(struct udp *udp, struct msghdr *message,
			       const struct bcl_rail_tx *frames, unsigned n)
{
	union {
		struct cmsghdr header;
		uint8_t bytes[CMSG_SPACE(sizeof(uint16_t))];
	} control = { 0 };
	const uint16_t length = (uint16_t)frames[0].length;
	unsigned niov = 0, i, j;

	for (i = 0; i < n; i++)
		for (j = 0; j < frames[i].niov; j++)
			niov = append(udp->out, niov, &frames[i].iov[j]);
	message->msg_iov = udp->out;
	message->msg_iovlen = niov;
	message->msg_control = &control;
	message->msg_controllen = sizeof(control);
	control.header.cmsg_level = SOL_UDP;
	control.header.cmsg_type = UDP_SEGMENT;
	control.header.cmsg_len = CMSG_LEN(sizeof(length));
	memcpy(CMSG_DATA(&control.header), &length, sizeof(length));
	bcl_rail_count(&udp->rail, udp_bursts, 1);
	return send_one(udp, message, true, n);
}

static enum outcome send_each(struct udp *udp, const struct msghdr *message,
			      const struct bcl_rail_tx *frames, unsigned n,
			      unsigned *taken)
{
	unsigned tries = 0, i;

	for (i = 0; i < n; i++) {
		udp->messages[i].msg_hdr = *message;
		udp->messages[i].msg_hdr.msg_iov = (void *)frames[i].iov;
		udp->messages[i].msg_hdr.msg_iovlen = frames[i].niov;
	}
	*taken = 0;
	while (*taken < n) {
		enum outcome outcome;
		int sent;

		bcl_rail_count(&udp->rail, udp_sendmsg, 1);
		sent = (int)syscall(SYS_sendmmsg, udp->rail.fd,
				    udp->messages + *taken, n - *taken,
				    MSG_DONTWAIT);
		if (sent > 0) {
			*taken += (unsigned)sent;
			continue;
		}
		outcome = failed(udp, errno, false, 1);
		if (outcome == FULL)
			return FULL;
		if (outcome == LOST || ++tries == TRIES) {
			tries = 0;
			++*taken;
		}
	}
	return SENT;
}

/* How many of the frames may leave in one call. */
static unsigned run_length(const struct bcl_rail_tx *frames, unsigned n)
{
	unsigned bytes = 0, i;

	if (n == 1)
		return 1;
	for (i = 0; i < n && i < BURST_FRAMES; i++) {
		bytes += frames[i].length;
		if (bytes > BURST_BYTES || frames[i].length > frames[0].length)
			break;
		if (frames[i].length < frames[0].length)
			return i + 1;
	}
	return i;
}

static unsigned udp_transmit(struct bcl_rail *rail,
			     const struct bcl_wire_address *destination,
			     const struct bcl_rail_tx *frames, unsigned n)
{
	struct udp *udp = (struct udp *)rail;
	struct sockaddr_storage to;
	const struct msghdr plain = {
		.msg_name = &to,
		.msg_namelen = to_system(udp, destination, &to),
	};
	unsigned taken = 0;

	while (taken < n) {
		const struct bcl_rail_tx *first = frames + taken;
		unsigned run = run_length(first, n - taken), some;
		struct msghdr message = plain;
		enum outcome outcome = UNCUT;

		if (run == 1) {
			message.msg_iov = (void *)first->iov;
			message.msg_iovlen = first->niov;
			outcome = send_one(udp, &message, false, 1);
		} else if (udp->segment) {
			outcome = send_burst(udp, &message, first, run);
		}
		if (outcome == UNCUT) {
			outcome = send_each(udp, &plain, first, run, &some);
			if (outcome == FULL)
				return taken + some;
		}
		if (outcome == FULL)
			break;
		taken += run;
	}
	return taken;
}

/* ---- receiving ---- */

static unsigned receive_batch(struct udp *udp, const struct bcl_rail_sink *sink,
			      unsigned index)
{
	/* Not udp->messages: what is delivered may be answered at once. */
	struct mmsghdr messages[BATCH];
	struct sockaddr_storage from[BATCH];
	unsigned n = 0;
	int got, i;

	for (i = 0; i < BATCH; i++) {
		udp->in[i] = (struct iovec){ udp->flat + i * SLOT, SLOT };
		messages[i].msg_hdr = (struct msghdr){
			.msg_name = &from[i],
			.msg_namelen = sizeof(from[i]),
			.msg_iov = &udp->in[i],
			.msg_iovlen = 1,
		};
	}
	bcl_rail_count(&udp->rail, udp_recvmsg, 1);
	got = (int)syscall(SYS_recvmmsg, udp->rail.fd, messages, BATCH,
			   MSG_DONTWAIT, NULL);
	if (got < 0) {
		if (errno == EAGAIN)
			bcl_rail_count(&udp->rail, udp_recvmsg_empty, 1);
		else
			udp->errors = true;
		return 0;
	}
	for (i = 0; i < got; i++) {
		struct bcl_wire_address source;
		struct bcl_rx_frame frame = {
			.head = udp->flat + i * SLOT,
			.head_len = (uint16_t)messages[i].msg_len,
		};

		if (messages[i].msg_hdr.msg_flags & MSG_TRUNC) {
			bcl_rail_count(&udp->rail, udp_truncated, 1);
			continue;
		}
		from_system(&from[i], &source);
		sink->deliver(sink->host, index, &source, &frame, 1);
		n++;
	}
	return n;
}

/*
 * The scatter list follows the stream: byte k of what is received lies at
 * flat + k, but for the payloads of the first `aimed` frames, which lie one
 * behind the other at `place`.
 */
struct aim {
	uint8_t *place;
	uint32_t payload;
	unsigned aimed;
};

static unsigned aim(struct udp *udp, struct aim *aim,
		    const struct bcl_rail_sink *sink, unsigned index)
{
	uint32_t length = 0, frame;
	unsigned niov = 0, i;
	size_t at = 0;

	*aim = (struct aim){ 0 };
	aim->place = sink->predict(sink->host, index, &aim->payload, &length);
	if (aim->place && aim->payload) {
		frame = BCL_HEADERS_SIZE + aim->payload;
		aim->aimed = length / aim->payload;
		if (aim->aimed > FLAT / frame)
			aim->aimed = FLAT / frame;
		if (aim->aimed > BURST_FRAMES)
			aim->aimed = BURST_FRAMES;
		for (i = 0; i < aim->aimed; i++, at += frame) {
			udp->in[niov++] = (struct iovec){ udp->flat + at,
							  BCL_HEADERS_SIZE };
			udp->in[niov++] = (struct iovec){
				aim->place + (size_t)i * aim->payload,
				aim->payload
			};
		}
	}
	if (at < FLAT)
		udp->in[niov++] = (struct iovec){ udp->flat + at, FLAT - at };
	return niov;
}

/* The frames were not of the size that was expected: all bytes to flat. */
static void flatten(struct udp *udp, struct aim *aim, size_t got)
{
	size_t frame = BCL_HEADERS_SIZE + aim->payload;
	unsigned i;

	for (i = 0; i < aim->aimed; i++) {
		size_t at = i * frame + BCL_HEADERS_SIZE;

		if (at >= got)
			break;
		memcpy(udp->flat + at, aim->place + (size_t)i * aim->payload,
		       got - at < aim->payload ? got - at : aim->payload);
	}
	aim->aimed = 0;
}

static unsigned deliver(struct udp *udp, const struct bcl_rail_sink *sink,
			unsigned index, const struct bcl_wire_address *source,
			const struct aim *aim, size_t got, size_t frame)
{
	unsigned total = 0;
	size_t at = 0;

	while (at < got) {
		unsigned n = 0;

		for (; at < got && n < DELIVER; at += frame, n++, total++) {
			struct bcl_rx_frame *rx = &udp->frames[n];
			size_t length = got - at < frame ? got - at : frame;

			*rx = (struct bcl_rx_frame){
				.head = udp->flat + at,
				.head_len = (uint16_t)length,
			};
			if (total >= aim->aimed || length <= BCL_HEADERS_SIZE)
				continue;
			rx->body = aim->place + (size_t)total * aim->payload;
			rx->body_len = (uint16_t)(length - BCL_HEADERS_SIZE);
			rx->head_len = BCL_HEADERS_SIZE;
		}
		sink->deliver(sink->host, index, source, udp->frames, n);
	}
	return total;
}

static unsigned udp_receive(struct bcl_rail *rail,
			    const struct bcl_rail_sink *sink, unsigned index,
			    unsigned max)
{
	struct udp *udp = (struct udp *)rail;
	struct bcl_wire_address source;
	struct sockaddr_storage from;
	union {
		struct cmsghdr header;
		uint8_t bytes[64];
	} control;
	struct msghdr message = {
		.msg_name = &from,
		.msg_namelen = sizeof(from),
		.msg_iov = udp->in,
		.msg_control = &control,
		.msg_controllen = sizeof(control),
	};
	struct cmsghdr *c;
	struct aim place;
	size_t frame = 0;
	ssize_t got;

	(void)max; /* one system call is the measure here */
	if (udp->errors)
		read_errors(udp, sink, index);
	if (!udp->join)
		return receive_batch(udp, sink, index);
	message.msg_iovlen = aim(udp, &place, sink, index);
	bcl_rail_count(rail, udp_recvmsg, 1);
	got = receive_message(rail->fd, &message, MSG_DONTWAIT);
	if (got < 0) {
		if (errno == EAGAIN)
			bcl_rail_count(rail, udp_recvmsg_empty, 1);
		else
			udp->errors = true;
		return 0;
	}
	if (message.msg_flags & MSG_TRUNC || !got) {
		bcl_rail_count(rail, udp_truncated, 1);
		return 1;
	}
	for (c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c))
		if (c->cmsg_level == SOL_UDP && c->cmsg_type == UDP_GRO) {
			int size;

			memcpy(&size, CMSG_DATA(c), sizeof(size));
			if (size > 0)
				frame = (size_t)size;
		}
	if (!frame)
		frame = (size_t)got;
	/* A short frame alone lies where a longer one would begin. */
	if (place.aimed && frame != BCL_HEADERS_SIZE + place.payload &&
	    (frame != (size_t)got || frame > BCL_HEADERS_SIZE + place.payload))
		flatten(udp, &place, (size_t)got);
	from_system(&from, &source);
	return deliver(udp, sink, index, &source, &place, (size_t)got, frame);
}

/* ---- opening, watching, closing ---- */

static bool set(int fd, int level, int option, int value)
{
	return !setsockopt(fd, level, option, &value, sizeof(value));
}

static void ask_buffer(int fd, int forced, int plain, uint64_t size)
{
	if (!set(fd, SOL_SOCKET, forced, (int)size))
		set(fd, SOL_SOCKET, plain, (int)size);
}

static void set_limits(struct udp *udp, uint32_t mtu)
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
	limits->burst = BURST_BYTES / limits->mtu;
	if (limits->burst > BURST_FRAMES)
		limits->burst = BURST_FRAMES;
	/* The system counts its own headers and doubles what it was asked. */
	getsockopt(udp->rail.fd, SOL_SOCKET, SO_RCVBUF, &buffer, &length);
	limits->window = (uint32_t)buffer / 3 * 2;
	if (limits->window > WINDOW_MAX)
		limits->window = WINDOW_MAX;
	limits->bulk = true;
}

static bool udp_check(struct bcl_rail *rail, bool *up)
{
	struct udp *udp = (struct udp *)rail;
	uint32_t before = rail->limits.mtu, mtu;

	if (udp->errors)
		read_errors(udp, NULL, 0);
	if (!bcl_interface_state(rail->interface, up, &mtu) || mtu < MTU_MIN) {
		*up = false;
		return false;
	}
	set_limits(udp, mtu);
	return rail->limits.mtu != before;
}

static void udp_close(struct bcl_rail *rail)
{
	struct udp *udp = (struct udp *)rail;

	close(rail->fd);
	udp->env->release(udp->env->world, udp, udp->size);
}

static int bind_socket(struct udp *udp, const struct bcl_ip *ip)
{
	struct bcl_wire_address *address = &udp->rail.address;
	struct sockaddr_storage storage;
	socklen_t length = sizeof(storage);
	bool four = ip->family == 4;
	int fd;

	udp->family = four ? AF_INET : AF_INET6;
	udp->headers = four ? 28 : 48;
	fd = socket(udp->family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -1;
	address->kind = four ? BCL_WIRE_UDP4 : BCL_WIRE_UDP6;
	memcpy(address->bytes, ip->bytes, four ? 4 : 16);
	length = to_system(udp, address, &storage);
	if (!bind(fd, (struct sockaddr *)&storage, length)) {
		length = sizeof(storage);
		if (!getsockname(fd, (struct sockaddr *)&storage, &length)) {
			from_system(&storage, address);
			return fd;
		}
	}
	close(fd);
	return -1;
}

static void configure(struct udp *udp)
{
	const struct bcl_config *config = udp->config;
	int fd = udp->rail.fd;

	if (udp->family == AF_INET) {
		set(fd, SOL_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO);
		set(fd, SOL_IP, IP_RECVERR, 1);
	} else {
		set(fd, SOL_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_DO);
		set(fd, SOL_IPV6, IPV6_RECVERR, 1);
	}
	ask_buffer(fd, SO_SNDBUFFORCE, SO_SNDBUF, config->socket_buffer);
	ask_buffer(fd, SO_RCVBUFFORCE, SO_RCVBUF, config->socket_buffer);
	udp->segment = config->offload && set(fd, SOL_UDP, UDP_SEGMENT, 0);
	udp->join = config->offload && set(fd, SOL_UDP, UDP_GRO, 1);
}

static struct bcl_rail *open_one(const struct bcl_env *env,
				 const struct bcl_config *config,
				 const struct bcl_interface *interface,
				 const struct bcl_choice *choice, char why[96])
{
	const struct bcl_ip *ip = &interface->address[choice->address];
	size_t size = sizeof(struct udp) + BATCH * SLOT;
	struct udp *udp = env->allocate(env->world, size);
	uint32_t mtu = 0;
	char text[64];
	bool up;

	bcl_ip_print(ip, interface->name, text);
	if (!udp) {
		snprintf(why, 96, "udp: %s: no memory", text);
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
		.transmit = udp_transmit,
		.receive = udp_receive,
		.check = udp_check,
		.close = udp_close,
	};
	strcpy(udp->rail.interface, interface->name);
	udp->rail.fd = bind_socket(udp, ip);
	if (udp->rail.fd < 0 ||
	    !bcl_interface_state(interface->name, &up, &mtu) || mtu < MTU_MIN) {
		snprintf(why, 96, "udp: %s: %s, mtu %u", text, strerror(errno),
			 mtu);
		bcl_log(config, BCL_LOG_WARN, "udp", "%s", why);
		if (udp->rail.fd >= 0)
			close(udp->rail.fd);
		env->release(env->world, udp, size);
		return NULL;
	}
	configure(udp);
	set_limits(udp, mtu);
	snprintf(udp->rail.about, sizeof(udp->rail.about),
		 "%.46s: %s; %s segmentation offload", text, choice->reason,
		 udp->segment && udp->join ? "with" : "without");
	return &udp->rail;
}

static unsigned udp_open(const struct bcl_env *env,
			 const struct bcl_config *config, uint64_t card,
			 struct bcl_rail **rails, unsigned max, char why[96])
{
	struct bcl_interface list[BCL_INTERFACES_MAX];
	struct bcl_choice choices[BCL_INTERFACES_MAX];
	unsigned ninterfaces = 0, nchoices = 0, opened = 0, i;
	char word[64];

	(void)card;
	*why = 0;
	if (!bcl_config_listed(config->rails, "udp")) {
		snprintf(why, 96, "udp: not in BCL_RAILS");
		return 0;
	}
	if (bcl_interfaces_list(list, &ninterfaces)) {
		snprintf(why, 96, "udp: interfaces: %s", strerror(errno));
		return 0;
	}
	if (bcl_interfaces_choose(list, ninterfaces, config->net,
				  config->node[0], choices, BCL_INTERFACES_MAX,
				  &nchoices, word))
		bcl_log(config, BCL_LOG_WARN, "udp",
			"BCL_NET: no address that is up fits \"%s\"", word);
	if (!nchoices)
		snprintf(why, 96, "udp: no interface with an address is up");
	for (i = 0; i < nchoices && opened < max; i++) {
		rails[opened] =
			open_one(env, config, &list[choices[i].interface],
				 &choices[i], why);
		opened += rails[opened] != NULL;
	}
	return opened;
}

const struct bcl_rail_kind bcl_rail_udp = { "udp", udp_open };
