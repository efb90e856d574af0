/* SPDX-License-Identifier: MIT */
/*
 * Sending on a UDP rail. Equal frames to one destination leave in one system
 * call, and the system cuts the burst into frames (UDP_SEGMENT). Without
 * UDP_SEGMENT the frames leave by sendmmsg().
 */
#include "wire/udp.h"

#include <errno.h>
#include <netinet/udp.h>
#include <string.h>

#include "env/counters.h"

enum {
	TRIES = 4, /* of a send that gets errors of earlier frames */
};

static inline ssize_t send_message(int fd, const struct msghdr *message)
{
	const struct iovec *iov = message->msg_iov;

	/* sendto() for the common case: the kernel copies and checks less. */
	if (message->msg_iovlen == 1 && !message->msg_controllen)
		return syscall(SYS_sendto, fd, iov->iov_base, iov->iov_len,
			       MSG_DONTWAIT, message->msg_name,
			       message->msg_namelen);
	return syscall(SYS_sendmsg, fd, message, MSG_DONTWAIT);
}

static inline enum bcl_udp_outcome send_one(struct bcl_udp *udp,
					    struct bcl_udp_socket *from,
					    struct msghdr *message, bool cut,
					    unsigned n)
{
	unsigned tries;

	for (tries = 0; tries < TRIES; tries++) {
		enum bcl_udp_outcome outcome;

		bcl_rail_count(&udp->rail, udp_sendmsg, 1);
		if (send_message(from->fd, message) >= 0)
			return BCL_UDP_SENT;
		outcome = bcl_udp_failed(udp, from, errno, cut, n);
		if (outcome != BCL_UDP_RETRY)
			return outcome;
	}
	bcl_rail_count(&udp->rail, udp_send_failed, n);
	return BCL_UDP_LOST;
}

/* Append a piece. Adjacent pieces become one. */
static unsigned append_piece(struct iovec *out, unsigned n,
			     const struct iovec *piece)
{
	struct iovec *last = out + n - 1;

	if (n && (uint8_t *)last->iov_base + last->iov_len == piece->iov_base) {
		last->iov_len += piece->iov_len;
		return n;
	}
	out[n] = *piece;
	return n + 1;
}

static enum bcl_udp_outcome
send_burst(struct bcl_udp *udp, struct bcl_udp_socket *from,
	   struct msghdr *message, const struct bcl_rail_tx *frames, unsigned n)
{
	union {
		struct cmsghdr header;
		uint8_t bytes[CMSG_SPACE(sizeof(uint16_t))];
	} control = { 0 };
	const uint16_t length = (uint16_t)frames[0].length;
	enum bcl_udp_outcome outcome;
	unsigned niov = 0, i, j;

	for (i = 0; i < n; i++)
		for (j = 0; j < frames[i].niov; j++)
			niov = append_piece(udp->out, niov, &frames[i].iov[j]);
	bcl_rail_count(&udp->rail, udp_bursts, 1);
	if (niov == 1) {
		outcome = bcl_udp_send_stage(udp, from, udp->out, length, n);
		if (outcome != BCL_UDP_UNCUT)
			return outcome;
	}
	message->msg_iov = udp->out;
	message->msg_iovlen = niov;
	message->msg_control = &control;
	message->msg_controllen = sizeof(control);
	control.header.cmsg_level = SOL_UDP;
	control.header.cmsg_type = UDP_SEGMENT;
	control.header.cmsg_len = CMSG_LEN(sizeof(length));
	memcpy(CMSG_DATA(&control.header), &length, sizeof(length));
	return send_one(udp, from, message, true, n);
}

static enum bcl_udp_outcome send_each(struct bcl_udp *udp,
				      struct bcl_udp_socket *from,
				      const struct msghdr *message,
				      const struct bcl_rail_tx *frames,
				      unsigned n, unsigned *taken)
{
	unsigned tries = 0, i;

	for (i = 0; i < n; i++) {
		udp->messages[i].msg_hdr = *message;
		udp->messages[i].msg_hdr.msg_iov = (void *)frames[i].iov;
		udp->messages[i].msg_hdr.msg_iovlen = frames[i].niov;
	}
	*taken = 0;
	while (*taken < n) {
		enum bcl_udp_outcome outcome;
		int sent;

		bcl_rail_count(&udp->rail, udp_sendmsg, 1);
		sent = (int)syscall(SYS_sendmmsg, from->fd,
				    udp->messages + *taken, n - *taken,
				    MSG_DONTWAIT);
		if (sent > 0) {
			*taken += (unsigned)sent;
			continue;
		}
		outcome = bcl_udp_failed(udp, from, errno, false, 1);
		if (outcome == BCL_UDP_FULL)
			return BCL_UDP_FULL;
		if (outcome == BCL_UDP_LOST || ++tries == TRIES) {
			tries = 0;
			++*taken;
		}
	}
	return BCL_UDP_SENT;
}

/* Returns the number of frames that can leave in one call. */
static unsigned run_length(const struct bcl_rail_tx *frames, unsigned n)
{
	unsigned bytes = 0, i;

	if (n == 1)
		return 1;
	for (i = 0; i < n && i < BCL_UDP_BURST_FRAMES; i++) {
		bytes += frames[i].length;
		if (bytes > BCL_UDP_BURST_BYTES ||
		    frames[i].length > frames[0].length)
			break;
		if (frames[i].length < frames[0].length)
			return i + 1;
	}
	return i;
}

static unsigned __attribute__((noinline))
transmit_frames(struct bcl_udp *udp, struct bcl_udp_socket *from,
		const struct bcl_wire_address *destination,
		const struct bcl_rail_tx *frames, unsigned n)
{
	struct msghdr plain = { .msg_name = NULL };
	struct sockaddr_storage to;
	unsigned taken = 0;

	if (from == &udp->bound) {
		plain.msg_name = &to;
		plain.msg_namelen = bcl_udp_to_system(udp, destination, &to);
	}
	while (taken < n) {
		const struct bcl_rail_tx *first = frames + taken;
		unsigned run = run_length(first, n - taken), some;
		struct msghdr message = plain;
		enum bcl_udp_outcome outcome = BCL_UDP_UNCUT;

		if (run == 1) {
			message.msg_iov = (void *)first->iov;
			message.msg_iovlen = first->niov;
			outcome = send_one(udp, from, &message, false, 1);
		} else if (udp->segment) {
			outcome = send_burst(udp, from, &message, first, run);
		}
		if (outcome == BCL_UDP_UNCUT) {
			outcome =
				send_each(udp, from, &plain, first, run, &some);
			if (outcome == BCL_UDP_FULL)
				return taken + some;
		}
		if (outcome == BCL_UDP_FULL)
			break;
		taken += run;
	}
	return taken;
}

unsigned bcl_udp_transmit(struct bcl_rail *rail,
			  const struct bcl_wire_address *destination,
			  const struct bcl_rail_tx *frames, unsigned n)
{
	struct bcl_udp *udp = (struct bcl_udp *)rail;
	struct bcl_udp_socket *from =
		bcl_udp_socket_of(udp, destination, frames);
	struct msghdr alone = { .msg_iov = (void *)frames->iov,
				.msg_iovlen = 1 };

	/* The first frame is the longest. */
	if (from->cut && frames->length > from->cut)
		bcl_udp_cut_to(from, 0);
	/* The common short message, without the call of transmit_frames(). */
	if (n == 1 && frames->niov == 1 && from != &udp->bound)
		return send_one(udp, from, &alone, false, 1) != BCL_UDP_FULL;
	return transmit_frames(udp, from, destination, frames, n);
}
