/* SPDX-License-Identifier: MIT */
/*
 * Short messages by way of the card, for card-cost.sh to count instructions:
 * two contexts of one process are virtual nodes and each other's peers, over
 * UDP on the loopback interface. Usage: card-cost N
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bcl/bcl.h>

#define must(condition)                                                       \
	do {                                                                  \
		if (!(condition)) {                                           \
			fprintf(stderr, "card-cost: line %d: %s\n", __LINE__, \
				#condition);                                  \
			exit(1);                                              \
		}                                                             \
	} while (0)

static struct bcl_context *context[2];
static struct bcl_port *port[2];
static struct bcl_peer *peer[2];

static void open_nodes(void)
{
	static const char *const names[] = { "a", "b" };

	for (unsigned i = 0; i < 2; i++) {
		setenv("BCL_NODE", names[i], 1);
		must(!bcl_open(NULL, &context[i]));
		must(!bcl_port_open(context[i], NULL, &port[i]));
	}
}

static void connect_ports(void)
{
	uint8_t address[BCL_ADDRESS_MAX];
	struct bcl_peer_info info;
	struct bcl_event event;
	size_t length;
	unsigned up = 0;

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
	must(info.path == BCL_PATH_CARD);
}

/* card-cost.sh counts what these two take. */

static void __attribute__((noinline)) say(unsigned from, const void *data,
					  size_t length)
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
	must(argc == 2);
	open_nodes();
	connect_ports();
	trips((unsigned)atoi(argv[1]));
	for (unsigned i = 0; i < 2; i++)
		bcl_close(context[i]);
	return 0;
}
