/* SPDX-License-Identifier: MIT */
/*
 * A stream of UDP datagrams with segmentation offload at both ends: one
 * sendmsg() carries up to 44 datagrams, and one recvmsg() takes up to 44. There
 * are no headers, no checksum and no retransmission. A window prevents losses.
 * After a loss the program prints a message and ends.
 */
#include "pingpong.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <string.h>
#include <sys/socket.h>

enum {
	DATAGRAM = 1472,
	BURST = 44 * DATAGRAM, /* sendmsg() takes less than 64 KB */
	BUFFER = 4 << 20,      /* of the sockets */
	ACK_BYTES = 256 << 10, /* received between acknowledgements */
	ACK_EVERY = 4,	       /* bursts between looks for acknowledgements */
	LOST_NS = 500000000,   /* silence that means loss */
};

struct link {
	int fd;
	unsigned char *memory;
	uint64_t sent, acknowledged; /* bytes, side 0 */
	uint64_t received, told;     /* bytes, side 1 */
	uint64_t window;	     /* bytes that may be unacknowledged */
};

static void send_number(struct ref *ref, uint64_t number, size_t size)
{
	struct link *link = ref->own;

	(void)size;
	if (send(link->fd, &number, sizeof(number), 0) < 0 &&
	    !(errno == ECONNREFUSED && !number))
		ref_exit(ref, 1, "send: %s", strerror(errno));
}

static int receive_number(struct ref *ref, uint64_t *number)
{
	struct link *link = ref->own;

	return recv(link->fd, number, sizeof(*number), MSG_DONTWAIT) ==
	       sizeof(*number);
}

static const struct wire wire = { send_number, receive_number };

static void take_acks(struct ref *ref, struct link *link)
{
	uint64_t number;

	while (receive_number(ref, &number))
		link->acknowledged = number;
}

/* Waits until at most `bytes` bytes are unacknowledged. */
static void await_acks(struct ref *ref, struct link *link, uint64_t bytes)
{
	uint64_t start = ref_now();

	while (link->sent - link->acknowledged > bytes) {
		take_acks(ref, link);
		if (ref_now() - start > LOST_NS)
			ref_exit(ref, 1, "lost datagrams, window %llu",
				 (unsigned long long)link->window);
	}
}

static void send_message(struct ref *ref, struct link *link, unsigned char *at,
			 size_t size)
{
	unsigned int bursts = 0;

	while (size) {
		size_t n = size < BURST ? size : BURST;

		if (bursts++ % ACK_EVERY == 0)
			take_acks(ref, link);
		if (link->sent + n - link->acknowledged > link->window)
			await_acks(ref, link, link->window - n);
		if (send(link->fd, at, n, 0) != (ssize_t)n)
			ref_exit(ref, 1, "send: %s", strerror(errno));
		link->sent += n;
		at += n;
		size -= n;
	}
}

static void send_acknowledgement(struct ref *ref, struct link *link)
{
	send_number(ref, link->received, sizeof(link->received));
	link->told = link->received;
}

static void receive_message(struct ref *ref, struct link *link,
			    unsigned char *at, size_t size)
{
	while (size) {
		ssize_t n = recv(link->fd, at, size, MSG_DONTWAIT);

		if (n < 0 && errno != EAGAIN)
			ref_exit(ref, 1, "recv: %s", strerror(errno));
		if (n > 0) {
			link->received += (uint64_t)n;
			at += n;
			size -= (size_t)n;
		}
		if (link->received - link->told >=
		    (n > 0 ? (uint64_t)ACK_BYTES : 1))
			send_acknowledgement(ref, link);
	}
}

static void stream_messages(struct ref *ref)
{
	size_t size = ref_number(ref, "size"), batch = ref_batch(size), i;
	size_t samples = ref_number(ref, "samples"), s;
	struct link *link = ref->own;

	for (s = 0; s <= samples; s++) {
		uint64_t start = ref_now();

		for (i = 0; i < batch; i++) {
			unsigned char *at =
				link->memory + ref_offset(ref, size, i);

			if (ref->side)
				receive_message(ref, link, at, size);
			else
				send_message(ref, link, at, size);
		}
		if (ref->side)
			send_acknowledgement(ref, link);
		else
			await_acks(ref, link, 0);
		if (s)
			ref_sample(ref, (double)(size * batch) /
						(double)(ref_now() - start));
	}
}

static void open_socket(struct ref *ref)
{
	int bytes = BUFFER, segment = DATAGRAM, yes = 1;
	static struct link link;
	socklen_t length = sizeof(bytes);

	ref->own = &link;
	link.memory = ref_memory(ref);
	link.fd = ref_socket(ref, SOCK_DGRAM);
	setsockopt(link.fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof(bytes));
	setsockopt(link.fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes));
	/* The program assumes that both hosts allow the same buffer size. */
	getsockopt(link.fd, SOL_SOCKET, SO_RCVBUF, &bytes, &length);
	link.window = ref_number(ref, "window");
	if (link.window > (uint64_t)bytes * 3 / 4)
		link.window = (uint64_t)bytes * 3 / 4;
	if (link.window < 2 * BURST)
		ref_exit(ref, 1, "window of %llu bytes is too small",
			 (unsigned long long)link.window);
	pingpong_meet(ref, &wire);
	if (setsockopt(link.fd, IPPROTO_UDP, UDP_SEGMENT, &segment,
		       sizeof(segment)) ||
	    setsockopt(link.fd, IPPROTO_UDP, UDP_GRO, &yes, sizeof(yes)))
		ref_exit(ref, REF_SKIPPED, "segmentation offload: %s",
			 strerror(errno));
}

static const struct ref_program program = {
	.name = "udp-stream",
	.unit = "GB/s",
	.about = "bandwidth of UDP with segmentation offload at both ends",
	.sides = 2,
	.open = open_socket,
	.round = stream_messages,
	.param = { { "size", "1M", "bytes of a message" },
		   { "buffers", "hot", "hot: one pair; cold: rotate 64 MB" },
		   { "window", "768K", "bytes on the way at most" },
		   { "local", "127.0.0.1", "address of this side" },
		   { "peer", "127.0.0.1", "address of the other side" },
		   { "port", "7721", "of side 0; side 1 has the next" } },
};

int main(int argc, char **argv)
{
	return ref_main(argc, argv, &program);
}
