/* SPDX-License-Identifier: MIT */
/* Ping-pong of UDP datagrams, both sides polling with recv(). */
#include "pingpong.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

enum {
	DATAGRAM = 1472
};

struct link {
	int fd;
	uint64_t out[DATAGRAM / 8], in[DATAGRAM / 8];
};

static void send_datagram(struct ref *ref, uint64_t sequence, size_t size)
{
	struct link *link = ref->own;

	if (size < sizeof(sequence) || size > sizeof(link->out))
		ref_exit(ref, 1, "size must be 8 to %d", DATAGRAM);
	link->out[0] = sequence;
	/* The host refuses hellos until the peer has opened the socket. */
	if (send(link->fd, link->out, size, 0) < 0 &&
	    !(errno == ECONNREFUSED && !sequence))
		ref_exit(ref, 1, "send: %s", strerror(errno));
}

static int receive_datagram(struct ref *ref, uint64_t *sequence)
{
	struct link *link = ref->own;

	if (recv(link->fd, link->in, sizeof(link->in), MSG_DONTWAIT) < 0) {
		if (errno != EAGAIN && errno != ECONNREFUSED)
			ref_exit(ref, 1, "recv: %s", strerror(errno));
		return 0;
	}
	*sequence = link->in[0];
	return 1;
}

static const struct wire wire = { send_datagram, receive_datagram };

static void open_socket(struct ref *ref)
{
	static struct link link;

	ref->own = &link;
	link.fd = ref_socket(ref, SOCK_DGRAM);
	pingpong_meet(ref, &wire);
}

static void play_pingpong(struct ref *ref)
{
	pingpong_play(ref, &wire);
}

static const struct ref_program program = {
	.name = "udp",
	.unit = "ns",
	.about = "ping-pong of UDP datagrams, one way",
	.sides = 2,
	.open = open_socket,
	.round = play_pingpong,
	.param = { { "size", "64", "bytes of a datagram" },
		   { "iterations", "200", "round trips in a sample" },
		   { "local", "127.0.0.1", "address of this side" },
		   { "peer", "127.0.0.1", "address of the other side" },
		   { "port", "7701", "of side 0; side 1 has the next" } },
};

int main(int argc, char **argv)
{
	return ref_main(argc, argv, &program);
}
