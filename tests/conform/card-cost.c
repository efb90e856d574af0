/* SPDX-License-Identifier: MIT */
/*
 * Short messages by way of the card, for card-cost.sh to count instructions.
 * Two contexts of one process are virtual nodes and each other's peers, over
 * the rails of BCL_RAILS. Usage: card-cost N NET-A NET-B, with the interface of
 * each node.
 */
#include <string.h>

#include "tests/conform/cost.h"

static struct bcl_context *context[2];

static void open_nodes(char *const nets[2])
{
	static const char *const names[] = { "a", "b" };

	for (unsigned i = 0; i < 2; i++) {
		setenv("BCL_NODE", names[i], 1);
		setenv("BCL_NET", nets[i], 1);
		must(!bcl_open(NULL, &context[i]));
		must(!bcl_port_open(context[i], NULL, &port[i]));
	}
}

/* card-cost.sh counts the instructions of say() and hear(). */

static void __attribute__((noinline))
say(unsigned from, const void *data, size_t length)
{
	const struct iovec iov = { (void *)(uintptr_t)data, length };

	must(!bcl_send(peer[from], 1, 0, &iov, 1, 0));
}

static void __attribute__((noinline)) hear(unsigned at, struct bcl_event *event)
{
	while (bcl_poll(port[at], event))
		;
}

static void trips(unsigned n)
{
	uint8_t data[64] = { 0 };
	struct bcl_event event;

	for (unsigned i = 0; i < n; i++) {
		memcpy(data, &i, sizeof(i));
		say(i & 1, data, sizeof(data));
		hear(~i & 1, &event);
		must(event.kind == BCL_EVENT_MESSAGE);
		must(event.length == sizeof(data));
		must(!memcmp(event.data, data, sizeof(data)));
	}
}

int main(int argc, char **argv)
{
	must(argc == 4);
	open_nodes(&argv[2]);
	connect_ports(BCL_PATH_CARD);
	trips((unsigned)atoi(argv[1]));
	for (unsigned i = 0; i < 2; i++)
		bcl_close(context[i]);
	return 0;
}
