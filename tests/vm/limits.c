/* SPDX-License-Identifier: MIT */
/*
 * Tests of the limits of bcl.ko, in a guest: each limit stops a user, who may
 * go on after giving something back, and does not concern another user.
 */
#define _GNU_SOURCE

#include "kmod_user.h"

#include <stdlib.h>

enum {
	FIRST = 1000, /* users */
	SECOND = 1001,
};

static const char *interface;

/* Become a user, whose cards will be those that are opened next; or 0, root. */
static void be(uid_t user)
{
	CHECK(!setresuid(0, 0, 0) && !setresuid(user, user, 0));
}

static void set_limit(const char *name, unsigned value)
{
	char path[80];
	FILE *file;

	snprintf(path, sizeof(path), "/sys/module/bcl/parameters/%s", name);
	be(0);
	file = fopen(path, "w");
	CHECK(file && fprintf(file, "%u\n", value) > 0 && !fclose(file));
}

static void open_as(uid_t user, struct user *card, unsigned port)
{
	be(user);
	open_card(card, interface);
	open_port(card, port);
}

#define REFUSED(call) CHECK((call) == -1 && errno == EDQUOT)

static void test_cards(void)
{
	struct bcl_device_open argument = open_argument(interface);
	struct user a, b, other;
	int fd;

	set_limit("user_cards", 2);
	open_as(FIRST, &a, 1);
	open_as(FIRST, &b, 1);
	fd = open(BCL_DEVICE_PATH, O_RDWR);
	CHECK(fd >= 0);
	REFUSED(ioctl(fd, BCL_DEVICE_OPEN, &argument));
	open_as(SECOND, &other, 1);
	be(FIRST);
	REFUSED(ioctl(fd, BCL_DEVICE_OPEN, &argument));
	close_card(&a);
	CHECK(ioctl(fd, BCL_DEVICE_OPEN, &argument) == BCL_OK);
	close(fd);
	close_card(&b);
	close_card(&other);
	set_limit("user_cards", 256);
}

static long try_port(const struct user *card, unsigned number, uint32_t *seat)
{
	struct bcl_device_port port = port_argument(number, -1);
	long result = ioctl(card->fd, BCL_DEVICE_PORT_OPEN, &port);

	*seat = port.seat;
	return result;
}

static void test_ports(void)
{
	struct user a, b, other;
	uint32_t seat, any;

	set_limit("user_ports", 3);
	open_as(FIRST, &a, 1);
	open_as(FIRST, &b, 1);
	CHECK(try_port(&a, 1, &seat) == BCL_ERR_BUSY);
	CHECK(try_port(&a, 2, &seat) == BCL_OK);
	REFUSED(try_port(&a, 3, &any));
	REFUSED(try_port(&b, 3, &any));
	open_as(SECOND, &other, 1);
	CHECK(ioctl(a.fd, BCL_DEVICE_PORT_CLOSE, seat) == BCL_OK);
	CHECK(try_port(&b, 3, &seat) == BCL_OK);
	REFUSED(try_port(&a, 3, &any));
	close_card(&a);
	close_card(&b);
	close_card(&other);
	set_limit("user_ports", 1024);
}

static void test_memories(void)
{
	uint8_t *memory = memory_of(PAGE);
	struct user a, other;

	set_limit("user_memories", 2);
	open_as(FIRST, &a, 1);
	CHECK(add_memory(&a, 1, memory, 8, BCL_MEM_REMOTE_WRITE) == BCL_OK);
	CHECK(add_memory(&a, 1, memory, 8, BCL_MEM_REMOTE_WRITE) ==
	      BCL_ERR_BUSY);
	CHECK(add_memory(&a, 2, (void *)16, 8, BCL_MEM_REMOTE_WRITE) ==
	      BCL_ERR_ARG);
	CHECK(add_memory(&a, 2, NULL, 0, BCL_MEM_REMOTE_WRITE) == BCL_OK);
	REFUSED(add_memory(&a, 3, memory, 8, BCL_MEM_REMOTE_WRITE));
	open_as(SECOND, &other, 1);
	CHECK(add_memory(&other, 1, memory, 8, BCL_MEM_REMOTE_WRITE) == BCL_OK);
	CHECK(ioctl(a.fd, BCL_DEVICE_MEMORY_REMOVE, 2) == BCL_OK);
	CHECK(add_memory(&a, 3, memory, 8, BCL_MEM_REMOTE_WRITE) == BCL_OK);
	close_card(&a);
	close_card(&other);
	munmap(memory, PAGE);
	set_limit("user_memories", 65536);
}

static enum bcl_status try_request(struct user *card, const void *memory)
{
	struct bcl_request request = {
		.op = BCL_REQ_SYSTEM,
		.dst_port = 2,
		.length = 8,
		.nref = 1,
		.refs = { self(memory, 8) },
	};

	return submit_and_wait(card, request).status;
}

static void test_pages(void)
{
	uint8_t *memory = memory_of(9 * PAGE);
	struct user a, b, other;

	set_limit("user_pages", 8);
	open_as(FIRST, &a, 1);
	open_as(FIRST, &b, 2);
	connect_to(&a, &b);
	CHECK(try_request(&a, memory) == BCL_OK);
	REFUSED(add_memory(&a, 1, memory, 9 * PAGE, BCL_MEM_REMOTE_WRITE));
	CHECK(add_memory(&a, 1, memory, 6 * PAGE, BCL_MEM_REMOTE_WRITE) ==
	      BCL_OK);
	CHECK(post(&b, 1, 1, memory, 2 * PAGE, 0) == BCL_OK);
	REFUSED(add_memory(&a, 2, memory, 1, BCL_MEM_REMOTE_WRITE));
	REFUSED(post(&b, 2, 1, memory, 1, 0));
	CHECK(try_request(&a, memory) == BCL_ERR_ARG);
	open_as(SECOND, &other, 1);
	CHECK(add_memory(&other, 1, memory, 8 * PAGE, BCL_MEM_REMOTE_WRITE) ==
	      BCL_OK);
	CHECK(unpost(&b, 1) == BCL_OK);
	CHECK(add_memory(&a, 2, memory, 2 * PAGE, BCL_MEM_REMOTE_WRITE) ==
	      BCL_OK);
	REFUSED(add_memory(&a, 3, memory, 1, BCL_MEM_REMOTE_WRITE));
	close_card(&a);
	CHECK(add_memory(&b, 3, memory, 8 * PAGE, BCL_MEM_REMOTE_WRITE) ==
	      BCL_OK);
	close_card(&b);
	close_card(&other);
	munmap(memory, 9 * PAGE);
	set_limit("user_pages", -1);
}

static long try_connect(const struct user *card, const struct user *to)
{
	struct bcl_device_connect connect = connect_argument(to);

	return ioctl(card->fd, BCL_DEVICE_CONNECT, &connect);
}

/* Each end of a connection counts: two for each between cards of one user. */
static void test_peers(void)
{
	struct user a, b, c, other = { .fd = -1 };

	set_limit("user_peers", 2);
	open_as(FIRST, &a, 1);
	open_as(FIRST, &b, 2);
	open_as(FIRST, &c, 3);
	connect_to(&a, &b);
	CHECK(try_request(&a, &other) == BCL_OK); /* so b is UP, too */
	CHECK(try_connect(&a, &b) == BCL_OK);	  /* is there already */
	REFUSED(try_connect(&a, &c));
	/* another user's call gets no answer, and this user is not stopped */
	open_as(SECOND, &other, 4);
	CHECK(try_connect(&other, &c) == BCL_OK);
	while (!counters_of(&c).over_limit)
		usleep(1000);
	close_card(&b);
	wait_for_state(&a, 1 << BCL_NODE_CLOSED | 1 << BCL_NODE_LOST);
	connect_to(&other, &c);
	CHECK(counters_of(&other).over_limit == 0);
	close_card(&a);
	close_card(&c);
	close_card(&other);
	set_limit("user_peers", 65536);
}

/* No frame waits for a card: peers hear nothing, until frames may wait. */
static void test_frames(void)
{
	struct user a, b;

	open_as(FIRST, &a, 1);
	open_as(SECOND, &b, 2);
	set_limit("user_frames", 0);
	CHECK(try_connect(&a, &b) == BCL_OK);
	while (!counters_of(&b).over_limit)
		usleep(1000);
	CHECK(counters_of(&b).card[BCL_CARD_frames_received] == 0);
	set_limit("user_frames", 1000);
	connect_to(&a, &b);
	while (!counters_of(&b).card[BCL_CARD_frames_received])
		usleep(1000);
	close_card(&a);
	close_card(&b);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	interface = argv[1];
	setvbuf(stdout, NULL, _IONBF, 0);
	TEST(test_cards());
	TEST(test_ports());
	TEST(test_memories());
	TEST(test_pages());
	TEST(test_peers());
	TEST(test_frames());
	printf("limits: %u checks passed\n", checks);
	return 0;
}
