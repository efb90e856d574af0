/* SPDX-License-Identifier: MIT */
/*
 * The system joins frames of one burst (UDP_GRO); if the card predicts where
 * their payloads belong, the scatter list is aimed right there, so that a
 * payload is copied once, by the kernel. Otherwise one buffer takes them, by
 * the call that is cheapest for a frame alone.
 */
#include "transport/wire/udp.h"

#include <errno.h>
#include <netinet/udp.h>
#include <string.h>

#include <bcl/wire.h>

#include "transport/counters.h"

enum {
	FLAT = 1 << 16, /* the longest datagram, or joined datagrams */
};

static void receive_failed(struct bcl_udp *udp)
{
	if (errno == EAGAIN)
		bcl_udp_came_nothing(udp);
	else
		udp->bound.errors = udp->errors = true;
}

static unsigned receive_batch(struct bcl_udp *udp,
			      const struct bcl_rail_sink *sink, unsigned index)
{
	/* Not udp->messages: what is delivered may be answered at once. */
	struct mmsghdr messages[BCL_UDP_BATCH];
	struct sockaddr_storage from[BCL_UDP_BATCH];
	unsigned n = 0;
	int got, i;

	for (i = 0; i < BCL_UDP_BATCH; i++) {
		udp->in[i] = (struct iovec){ udp->flat + i * BCL_UDP_SLOT,
					     BCL_UDP_SLOT };
		messages[i].msg_hdr = (struct msghdr){
			.msg_name = &from[i],
			.msg_namelen = sizeof(from[i]),
			.msg_iov = &udp->in[i],
			.msg_iovlen = 1,
		};
	}
	bcl_rail_count(&udp->rail, udp_recvmsg, 1);
	got = (int)syscall(SYS_recvmmsg, udp->rail.fd, messages, BCL_UDP_BATCH,
			   MSG_DONTWAIT, NULL);
	if (got < 0) {
		receive_failed(udp);
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

static unsigned aim(struct bcl_udp *udp, struct aim *aim,
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
		if (aim->aimed > BCL_UDP_BURST_FRAMES)
			aim->aimed = BCL_UDP_BURST_FRAMES;
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
static void flatten(struct bcl_udp *udp, struct aim *aim, size_t got)
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

static unsigned deliver(struct bcl_udp *udp, const struct bcl_rail_sink *sink,
			unsigned index, const struct bcl_wire_address *source,
			const struct aim *aim, size_t got, size_t frame)
{
	unsigned total = 0;
	size_t at = 0;

	while (at < got) {
		unsigned n = 0;

		for (; at < got && n < BCL_UDP_DELIVER;
		     at += frame, n++, total++) {
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

static bool frame_at(const uint8_t *bytes, size_t at, size_t length)
{
	const struct bcl_frame_header *header = (const void *)(bytes + at);

	return at + sizeof(header->magic) <= length &&
	       bcl_get16(header->magic) == BCL_WIRE_MAGIC;
}

/*
 * The system joins frames of equal length, but the last may be shorter. It
 * would tell that length, in a call that takes 50 ns longer; so it is read from
 * the first frame's own headers. No segment begins like a frame, so
 * there is no doubt; what comes out of headers that lie the card sees to.
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
	if (kind == BCL_FRAME_HELLO || kind == BCL_FRAME_HELLO_ACK) {
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

/* One datagram, or joined ones, into one piece. */
static unsigned receive_plain(struct bcl_udp *udp,
			      const struct bcl_rail_sink *sink, unsigned index)
{
	static const struct aim nowhere;
	struct bcl_wire_address source;
	struct sockaddr_storage from;
	socklen_t from_length = sizeof(from);
	ssize_t got;

	bcl_rail_count(&udp->rail, udp_recvmsg, 1);
	got = syscall(SYS_recvfrom, udp->bound.fd, udp->flat, FLAT,
		      MSG_DONTWAIT, &from, &from_length);
	if (got < 0) {
		receive_failed(udp);
		return 0;
	}
	if (!got) {
		bcl_rail_count(&udp->rail, udp_truncated, 1);
		return 1;
	}
	bcl_udp_from_system(&from, &source);
	return deliver(udp, sink, index, &source, &nowhere, (size_t)got,
		       first_frame(udp->flat, (size_t)got));
}

unsigned bcl_udp_receive(struct bcl_rail *rail,
			 const struct bcl_rail_sink *sink, unsigned index,
			 unsigned max)
{
	struct bcl_udp *udp = (struct bcl_udp *)rail;
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
		bcl_udp_read_errors(udp, sink, index);
	if (!udp->join)
		return receive_batch(udp, sink, index);
	message.msg_iovlen = aim(udp, &place, sink, index);
	if (!place.aimed)
		return receive_plain(udp, sink, index);
	bcl_rail_count(rail, udp_recvmsg, 1);
	got = bcl_udp_recvmsg(rail->fd, &message, MSG_DONTWAIT);
	if (got < 0) {
		receive_failed(udp);
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
	bcl_udp_from_system(&from, &source);
	return deliver(udp, sink, index, &source, &place, (size_t)got, frame);
}
