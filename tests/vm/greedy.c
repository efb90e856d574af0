/* SPDX-License-Identifier: MIT */
/*
 * greedy INTERFACE: a user takes all that the module's limits permit: cards,
 * ports, registered memories and pinned pages. The process then makes
 * /tmp/taken, and keeps everything until it is killed.
 */
#include "kmod_user.h"

enum {
	MOST = 8192, /* tries */
};

/* Returns true as long as the call succeeds; it may only fail by the limit. */
static bool more(long result)
{
	CHECK(result == BCL_OK || (result == -1 && errno == EDQUOT) ||
	      result == BCL_ERR_NOMEM);
	return result == BCL_OK;
}

static int open_one(const char *interface)
{
	struct bcl_device_open argument = open_argument(interface);
	int fd = open(BCL_DEVICE_PATH, O_RDWR);

	CHECK(fd >= 0);
	return more(ioctl(fd, BCL_DEVICE_OPEN, &argument)) ? fd : -1;
}

static unsigned take_ports(int fd)
{
	struct bcl_device_port port;
	unsigned n = 0;

	do
		port = port_argument(n + 1, -1);
	while (more(ioctl(fd, BCL_DEVICE_PORT_OPEN, &port)) && ++n);
	return n;
}

static unsigned take_memories(const struct user *user, uint8_t *memory)
{
	unsigned n = 0;

	while (n < MOST && more(add_memory(user, n + 1, memory, PAGE, 7)))
		n++;
	return n;
}

int main(int argc, char **argv)
{
	unsigned cards = 0, ports = 0, memories = 0;
	uint8_t *memory = memory_of(PAGE);
	struct user user = { .fd = -1 };
	int fd;

	CHECK(argc == 2);
	while ((fd = open_one(argv[1])) >= 0) {
		user.fd = fd;
		ports += take_ports(fd);
		memories += take_memories(&user, memory);
		cards++;
	}
	printf("greedy: %u cards, %u ports, %u memories\n", cards, ports,
	       memories);
	fflush(stdout);
	CHECK(cards && ports && memories);
	CHECK(creat("/tmp/taken", 0600) >= 0);
	for (;;)
		pause();
}
