/* SPDX-License-Identifier: MIT */
/*
 * What is done many times in the hot path of shared memory, for cost.sh to
 * count instructions. Two ports of one process are each other's peers.
 * Usage: cost empty|round N
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bcl/bcl.h>

#define must(condition)                                                  \
	do {                                                             \
		if (!(condition)) {                                      \
			fprintf(stderr, "cost: line %d: %s\n", __LINE__, \
				#condition);                             \
			exit(1);                                         \
		}                                                        \
	} while (0)

static struct bcl_port *port[2];
static struct bcl_peer *peer[2];

static void connect_ports(struct bcl_context *context)
{
	uint8_t address[BCL_ADDRESS_MAX];
	struct bcl_peer_info info;
	struct bcl_event event;
	size_t length;
	unsigned up = 0;

	for (unsigned i = 0; i < 2; i++)
		must(!bcl_port_open(context, NULL, &port[i]));
	for (unsigned i = 0; i < 2; i++) {
		must(!bcl_port_address(port[1 - i], address, &length));
		must(!bcl_peer_open(port[i], address, length, &peer[i]));
	}
	for (unsigned i = 0; up < 2; i ^= 1) {
		if (bcl_poll(port[i], &event))
			continue;
		must(event.kind == BCL_EVENT_PEER && !event.status);
		up++;
	}
	bcl_peer_info(peer[0], &info);
	must(info.path == BCL_PATH_SHARED);
}

static void __attribute__((noinline)) empty(unsigned n)
{
	struct bcl_event event;

	while (n--)
		must(bcl_poll(port[0], &event) == BCL_ERR_EMPTY);
}

/* 8 bytes there: a send and the poll that delivers it, n times. */
static void __attribute__((noinline)) round_trips(unsigned n)
{
	uint64_t number = 0;
	const struct iovec iov = { &number, sizeof(number) };
	struct bcl_event event;

	for (unsigned i = 0; i < n; i++) {
		number = i;
		must(!bcl_send(peer[i & 1], 1, 0, &iov, 1, 0));
		must(!bcl_poll(port[~i & 1], &event));
		must(!memcmp(event.data, &number, sizeof(number)));
	}
}

int main(int argc, char **argv)
{
	struct bcl_context *context;
	unsigned n;

	must(argc == 3);
	n = (unsigned)atoi(argv[2]);
	must(!bcl_open(NULL, &context));
	connect_ports(context);
	round_trips(1000);
	if (!strcmp(argv[1], "empty"))
		empty(n);
	else
		round_trips(n);
	bcl_close(context);
	return 0;
}
