/* SPDX-License-Identifier: MIT */
/*
 * Frequent operations in the hot path of shared memory, for cost.sh to count
 * instructions. Two ports of one process are each other's peers.
 * Usage: cost empty|round N
 */
#include <string.h>

#include "tests/conform/cost.h"

static void __attribute__((noinline)) empty(unsigned n)
{
	struct bcl_event event;

	while (n--)
		must(bcl_poll(port[0], &event) == BCL_ERR_EMPTY);
}

/* 8 bytes, n times: a send, and the poll for the message. */
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
	for (unsigned i = 0; i < 2; i++)
		must(!bcl_port_open(context, NULL, &port[i]));
	connect_ports(BCL_PATH_SHARED);
	round_trips(1000);
	if (!strcmp(argv[1], "empty"))
		empty(n);
	else
		round_trips(n);
	bcl_close(context);
	return 0;
}
