/* SPDX-License-Identifier: MIT */
/*
 * A TCP connection with both sides polling: ping-pong, or a stream of messages.
 * The program sets no socket option except the congestion control, if the user
 * asks for one. The congestion control decides the bandwidth, so its name is
 * part of the answer's name.
 */
#include "pingpong.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
	RETRY_NS = 10000000,
	ANSWER = 1
};

struct link {
	int fd;
	unsigned char *memory;
	size_t size; /* of a ping-pong message in this round */
	size_t have; /* bytes of the message that have arrived */
	char name[32];
};

/* Sends all bytes, or exits. */
static void send_all(struct ref *ref, const void *data, size_t size)
{
	struct link *link = ref->own;
	const char *at = data;

	while (size) {
		ssize_t n = send(link->fd, at, size, MSG_NOSIGNAL);

		if (n < 0)
			ref_exit(ref, 1, "send: %s", strerror(errno));
		at += n;
		size -= (size_t)n;
	}
}

/* Receives at most `size` bytes. Returns the number of bytes. */
static size_t receive_some(struct ref *ref, void *data, size_t size)
{
	struct link *link = ref->own;
	ssize_t n = recv(link->fd, data, size, MSG_DONTWAIT);

	if (n == 0)
		ref_exit(ref, 1, "the other side closed the connection");
	if (n < 0 && errno != EAGAIN)
		ref_exit(ref, 1, "recv: %s", strerror(errno));
	return n < 0 ? 0 : (size_t)n;
}

static void send_sequence(struct ref *ref, uint64_t sequence, size_t size)
{
	struct link *link = ref->own;

	memcpy(link->memory, &sequence, sizeof(sequence));
	send_all(ref, link->memory, size);
}

static int receive_sequence(struct ref *ref, uint64_t *sequence)
{
	struct link *link = ref->own;

	link->have += receive_some(ref, link->memory + link->have,
				   link->size - link->have);
	if (link->have < link->size)
		return 0;
	link->have = 0;
	memcpy(sequence, link->memory, sizeof(*sequence));
	return 1;
}

static const struct wire wire = { send_sequence, receive_sequence };

static void stream_messages(struct ref *ref)
{
	size_t size = ref_number(ref, "size"), batch = ref_batch(size), i;
	size_t samples = ref_number(ref, "samples"), s, left;
	struct link *link = ref->own;
	char answer = 0;

	for (s = 0; s <= samples; s++) {
		uint64_t start = ref_now();

		for (i = 0; i < batch; i++) {
			unsigned char *at =
				link->memory + ref_offset(ref, size, i);

			for (left = size; ref->side && left;)
				left -= receive_some(ref, at + size - left,
						     left);
			if (!ref->side)
				send_all(ref, at, size);
		}
		if (ref->side)
			send_all(ref, &answer, ANSWER);
		while (!ref->side && !receive_some(ref, &answer, ANSWER))
			;
		if (s)
			ref_sample(ref, (double)(size * batch) /
						(double)(ref_now() - start));
	}
}

static void play_mode(struct ref *ref)
{
	struct link *link = ref->own;

	ref->name = link->name;
	if (!strcmp(ref_string(ref, "mode"), "stream")) {
		ref->unit = "GB/s";
		stream_messages(ref);
		return;
	}
	link->size = ref_number(ref, "size");
	if (link->size < sizeof(uint64_t) || link->size > REF_ROTATION)
		ref_exit(ref, 1, "size must be at least 8");
	pingpong_play(ref, &wire);
}

/* Side 1 listens at the local address. Side 0 tries until side 1 accepts. */
static int make_connection(struct ref *ref)
{
	const struct addrinfo hint = { .ai_flags = AI_NUMERICHOST,
				       .ai_socktype = SOCK_STREAM };
	const struct timespec pause = { .tv_nsec = RETRY_NS };
	const char *peer = ref_string(ref, "peer");
	int fd = ref_socket(ref, SOCK_STREAM), connected;
	struct addrinfo *to;
	char port[8];

	if (ref->side) {
		if (listen(fd, 1))
			ref_exit(ref, 1, "listen: %s", strerror(errno));
		return accept(fd, NULL, NULL);
	}
	snprintf(port, sizeof(port), "%u",
		 (unsigned int)ref_number(ref, "port") + 1);
	if (getaddrinfo(peer, port, &hint, &to))
		ref_exit(ref, 1, "%s: no such address", peer);
	for (;;) {
		connected = !connect(fd, to->ai_addr, to->ai_addrlen);
		if (connected)
			break;
		if (errno != ECONNREFUSED)
			ref_exit(ref, 1, "%s: %s", peer, strerror(errno));
		nanosleep(&pause, NULL);
	}
	freeaddrinfo(to);
	return fd;
}

static void connect_sides(struct ref *ref)
{
	const char *control = ref_string(ref, "congestion");
	static struct link link;
	char in_use[16] = "?";
	socklen_t length = sizeof(in_use);

	ref->own = &link;
	link.memory = ref_memory(ref);
	alarm(10);
	link.fd = make_connection(ref);
	alarm(0);
	if (*control && setsockopt(link.fd, IPPROTO_TCP, TCP_CONGESTION,
				   control, (socklen_t)strlen(control)))
		ref_exit(ref, REF_SKIPPED, "%s: %s", control, strerror(errno));
	getsockopt(link.fd, IPPROTO_TCP, TCP_CONGESTION, in_use, &length);
	snprintf(link.name, sizeof(link.name), "tcp/%.15s", in_use);
}

static const struct ref_program program = {
	.name = "tcp",
	.unit = "ns",
	.about = "a TCP connection: ping-pong, one way, or a stream (GB/s)",
	.sides = 2,
	.open = connect_sides,
	.round = play_mode,
	.param = { { "mode", "pingpong", "pingpong; stream" },
		   { "size", "64", "bytes of a message" },
		   { "iterations", "200", "round trips in a sample" },
		   { "buffers", "hot", "hot: one pair; cold: rotate 64 MB" },
		   { "congestion", "", "congestion control to ask for" },
		   { "local", "127.0.0.1", "address of this side" },
		   { "peer", "127.0.0.1", "address of the other side" },
		   { "port", "7711", "of side 0; side 1 has the next" } },
};

int main(int argc, char **argv)
{
	return ref_main(argc, argv, &program);
}
