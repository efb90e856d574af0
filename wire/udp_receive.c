/* SPDX-License-Identifier: MIT */
/*
 * Receiving on a UDP rail. The system joins the frames of one burst (UDP_GRO).
 * The rail receives the joined frames into one buffer. Scattering headers and
 * payloads to their places in the same call would save a copy, but take longer
 * than the copy.
 *
 * Each turn receives from the partner's socket. The socket for all other
 * sources is read only now and then, but in each turn from the first frame by
 * that socket until the partner's next frame. A source that sends ROW frames in
 * a row becomes the partner if the card believes the frames: a stranger cannot
 * take the place of a peer.
 */
#include "wire/udp.h"

#include <errno.h>
#include <string.h>

#include "env/counters.h"

enum {
	FLAT = 1 << 16, /* bytes of the longest datagram, or joined datagrams */
	ROW = 64,	/* receives in a row that make a partner */
	TURNS = 8,	/* the others are read in one turn of this many */
};

static void receive_failed(struct bcl_udp *udp, struct bcl_udp_socket *socket)
{
	if (errno == EAGAIN)
		bcl_udp_came_nothing(udp);
	else
		bcl_udp_suspect(udp, socket);
}

static unsigned receive_batch(struct bcl_udp *udp,
			      const struct bcl_rail_sink *sink, unsigned index)
{
	/* Not udp->messages: the card may answer a frame during deliver(). */
	struct mmsghdr messages[BCL_UDP_BATCH];
	struct sockaddr_storage from[BCL_UDP_BATCH];
	struct iovec slots[BCL_UDP_BATCH];
	unsigned n = 0;
	int got, i;

	for (i = 0; i < BCL_UDP_BATCH; i++) {
		slots[i] = (struct iovec){ udp->flat + i * BCL_UDP_SLOT,
					   BCL_UDP_SLOT };
		messages[i].msg_hdr = (struct msghdr){
			.msg_name = &from[i],
			.msg_namelen = sizeof(from[i]),
			.msg_iov = &slots[i],
			.msg_iovlen = 1,
		};
	}
	bcl_rail_count(&udp->rail, udp_recvmsg, 1);
	got = (int)syscall(SYS_recvmmsg, udp->rail.fd, messages, BCL_UDP_BATCH,
			   MSG_DONTWAIT, NULL);
	if (got < 0) {
		receive_failed(udp, &udp->bound);
		return 0;
	}
	for (i = 0; i < got; i++) {
		struct bcl_wire_address source;
		struct bcl_rx_frame frame = {
			.head = udp->flat + i * BCL_UDP_SLOT,
			.head_len = (uint16_t)messages[i].msg_len,
		};

		if (messages[i].msg_hdr.msg_flags & MSG_TRUNC) {
			bcl_rail_count(&udp->rail, udp_truncated, 1);
			continue;
		}
		bcl_udp_from_system(&from[i], &source);
		sink->deliver(sink->host, index, &source, &frame, 1);
		n++;
	}
	return n;
}

static bool frame_at(const uint8_t *bytes, size_t at, size_t length)
{
	const struct bcl_frame_header *header = (const void *)(bytes + at);

	return at + sizeof(header->magic) <= length &&
	       bcl_get16(header->magic) == BCL_WIRE_MAGIC;
}

/*
 * The length of the first of several joined frames. The system joins frames of
 * equal length, and the last may be shorter. The system would report the
 * length, but the call would take 50 ns longer. So the function reads the
 * length from the headers of the first frame. No segment begins like a frame,
 * so there is no doubt. If headers lie, the card drops the resulting frames.
 */
static size_t first_frame(const uint8_t *bytes, size_t length)
{
	const struct bcl_frame_header *header = (const void *)bytes;
	const struct bcl_segment_header *segment;
	size_t end = sizeof(*header);
	unsigned kind;

	if (length <= BCL_HEADERS_SIZE)
		return length;
	kind = header->kind & ~(BCL_FRAME_PCRC | BCL_FRAME_ASK);
	/* The body of a RESET is the headers of the frame in question, and as
	 * long as the body of a HELLO. A PING without checksum has no body. */
	if (kind == BCL_FRAME_HELLO || kind == BCL_FRAME_HELLO_ACK ||
	    kind == BCL_FRAME_RESET ||
	    (kind == BCL_FRAME_PING && header->kind & BCL_FRAME_PCRC)) {
		end += sizeof(struct bcl_hello);
		return frame_at(bytes, end, length) ? end : length;
	}
	while (end + sizeof(*segment) <= length) {
		segment = (const void *)(bytes + end);
		end += sizeof(*segment) + bcl_get16(segment->length);
		if (frame_at(bytes, end, length))
			return end;
		end = (end + 7) & ~(size_t)7;
	}
	return length;
}

static unsigned deliver_frames(struct bcl_udp *udp,
			       const struct bcl_rail_sink *sink, unsigned index,
			       const struct bcl_wire_address *source,
			       size_t got)
{
	size_t frame = first_frame(udp->flat, got), at = 0;
	unsigned total = 0, n;

	if (frame == got) {
		udp->frames[0] = (struct bcl_rx_frame){
			.head = udp->flat,
			.head_len = (uint16_t)got,
		};
		sink->deliver(sink->host, index, source, udp->frames, 1);
		return 1;
	}
	while (at < got) {
		for (n = 0; at < got && n < BCL_UDP_DELIVER; at += frame, n++)
			udp->frames[n] = (struct bcl_rx_frame){
				.head = udp->flat + at,
				.head_len =
					(uint16_t)(got - at < frame ? got - at
								    : frame),
			};
		sink->deliver(sink->host, index, source, udp->frames, n);
		total += n;
	}
	return total;
}

/* Receive one datagram, or joined datagrams. Returns the bytes; -1: none. */
static ssize_t receive_joined(struct bcl_udp *udp,
			      struct bcl_udp_socket *socket,
			      struct sockaddr_storage *from)
{
	socklen_t length = sizeof(*from);
	ssize_t got;

	bcl_rail_count(&udp->rail, udp_recvmsg, 1);
	got = syscall(SYS_recvfrom, socket->fd, udp->flat, FLAT, MSG_DONTWAIT,
		      from, from ? &length : NULL);
	if (got < 0)
		receive_failed(udp, socket);
	else if (!got)
		bcl_rail_count(&udp->rail, udp_truncated, 1);
	return got;
}

static unsigned ask_partner(struct bcl_udp *udp,
			    const struct bcl_rail_sink *sink, unsigned index)
{
	ssize_t got = receive_joined(udp, &udp->partner, NULL);

	if (got <= 0)
		return got == 0;
	udp->row = 0;
	return deliver_frames(udp, sink, index, &udp->partner.peer,
			      (size_t)got);
}

static unsigned ask_others(struct bcl_udp *udp,
			   const struct bcl_rail_sink *sink, unsigned index)
{
	struct bcl_wire_address source;
	struct sockaddr_storage from;
	ssize_t got = receive_joined(udp, &udp->bound, &from);

	if (got < 0 && udp->row >= ROW &&
	    sink->believed(sink->host) - udp->believed >= ROW) {
		/* The bound socket is empty, so no frame of the new partner is
		 * overtaken there. */
		bcl_udp_meet(udp, &udp->last);
		udp->row = 0;
	}
	if (got <= 0)
		return got == 0;
	bcl_udp_from_system(&from, &source);
	if (!udp->row || memcmp(&source, &udp->last, sizeof(source)))
		udp->row = 0;
	if (udp->row++ == 0)
		udp->believed = sink->believed(sink->host);
	udp->last = source;
	return deliver_frames(udp, sink, index, &source, (size_t)got);
}

unsigned bcl_udp_receive(struct bcl_rail *rail,
			 const struct bcl_rail_sink *sink, unsigned index,
			 unsigned max)
{
	struct bcl_udp *udp = (struct bcl_udp *)rail;
	unsigned n;

	(void)max; /* one system call is the unit here */
	if (udp->errors)
		bcl_udp_read_errors(udp, sink, index);
	if (!udp->join)
		return receive_batch(udp, sink, index);
	if (!udp->partner.peer.kind)
		return ask_others(udp, sink, index);
	n = ask_partner(udp, sink, index);
	if (udp->row || ++udp->turns % TURNS == 0)
		n += ask_others(udp, sink, index);
	return n;
}
