/* SPDX-License-Identifier: MIT */
/*
 * fail INTERFACE [udp4]: in a guest with a kernel that can fail allocations on
 * purpose. In each call of the device the first allocation of the calling
 * thread fails, then the second, and so on until the call finds all memory. A
 * failed call returns an error and leaves nothing behind: the next call
 * succeeds, and nothing is charged or pinned in the end. Then pages are missing
 * from the n-th on, and registered memory is right, or refused.
 */
#include "kmod_user.h"

enum {
	SIZE = 3 * PAGE, /* of the memory that calls name */
	HANDLE = 0x10001,
	BASE = 1 << 20, /* as add_memory() says */
	SHORT = 3000,	/* bytes of a message */
	NOBODY = 12345, /* no card */
	PLENTY = 12,	/* pages; more than any call needs for SIZE */
};

static const char *interface;
static struct user own, peer; /* which are connected */
static unsigned failures;

/* ---- failing ---- */

static int open_control(const char *path)
{
	int fd = open(path, O_RDWR);

	CHECK(fd >= 0);
	return fd;
}

static void set(int fd, unsigned value)
{
	char text[16];
	int length = snprintf(text, sizeof(text), "%u", value);

	CHECK(write(fd, text, (size_t)length) == length);
}

static void set_once(const char *path, unsigned value)
{
	int fd = open_control(path);

	set(fd, value);
	close(fd);
}

static int fail_nth; /* file: counts down with each allocation of the thread */

/* True if the n-th allocation has come, and failed. From now on nothing fails.
 */
static bool disarm(void)
{
	char text[16] = "";
	bool struck;

	CHECK(pread(fail_nth, text, sizeof(text) - 1, 0) > 0);
	struck = atoi(text) == 0;
	set(fail_nth, 0);
	failures += struck;
	return struck;
}

/* A call, with preparation and clean-up. */
struct trial {
	const char *name;
	void (*prepare)(void);
	long (*call)(void);
	void (*undo)(bool struck);
};

/* True if the call was successful; otherwise memory was missing. */
static bool succeeds(long result)
{
	CHECK(result == BCL_OK || result == BCL_ERR_NOMEM ||
	      result == BCL_ERR_NORAIL || (result < 0 && errno == ENOMEM));
	return result == BCL_OK;
}

static void nothing(void)
{
}

static void nothing_to_undo(bool struck)
{
	(void)struck;
}

static void fail_each(const struct trial *trial)
{
	unsigned n = 0;
	bool good, struck;
	long result;

	do {
		trial->prepare();
		set(fail_nth, ++n);
		result = trial->call();
		struck = disarm();
		good = succeeds(result);
		CHECK(good || struck);
		if (!good)
			CHECK(succeeds(trial->call()));
		trial->undo(struck);
	} while (struck);
	printf("fail: %s: %u places\n", trial->name, n - 1);
	CHECK(n > 1);
}

/* ---- files and cards ---- */

static int fd;
static struct bcl_device_open argument;

static long open_file(void)
{
	fd = open(BCL_DEVICE_PATH, O_RDWR);
	return fd < 0 ? -1 : 0;
}

static void need_file(void)
{
	CHECK(!open_file());
	argument = open_argument(interface);
}

static void close_file(bool struck)
{
	(void)struck;
	CHECK(!close(fd));
}

/* An end that cannot be used has a reason. */
static long open_one(void)
{
	long result = ioctl(fd, BCL_DEVICE_OPEN, &argument);

	if (result == BCL_ERR_NORAIL)
		CHECK(argument.end[0].refused != 0);
	return result;
}

static uint8_t *memory;

static void need_memory(void)
{
	memory = memory_of(SIZE);
}

static void drop_memory(void)
{
	CHECK(!munmap(memory, SIZE));
}

/* A card with everything but mappings, which would keep the file open. */
static void need_card(void)
{
	struct user user;

	need_memory();
	open_card(&user, interface);
	open_port(&user, 3);
	CHECK(add_memory(&user, 1, memory, SIZE, 7) == BCL_OK);
	CHECK(post(&user, 1, 1, memory, SIZE, 0) == BCL_OK);
	connect_to(&user, &peer);
	unmap_port(&user);
	CHECK(!munmap((void *)user.news, PAGE) && !close(user.wake));
	fd = user.fd;
}

static long close_card_file(void)
{
	return close(fd);
}

static void forget_card(bool struck)
{
	(void)struck;
	drop_memory();
}

/* ---- ports ---- */

static uint32_t seat;
static void *mapped;

static long open_second_port(void)
{
	struct bcl_device_port port = port_argument(2, own.wake);
	long result = ioctl(own.fd, BCL_DEVICE_PORT_OPEN, &port);

	seat = port.seat;
	return result;
}

static void need_port(void)
{
	CHECK(open_second_port() == BCL_OK);
}

static long close_second_port(void)
{
	return ioctl(own.fd, BCL_DEVICE_PORT_CLOSE, seat);
}

static void drop_port(bool struck)
{
	(void)struck;
	CHECK(close_second_port() == BCL_OK);
}

static long map_given(void)
{
	mapped = mmap(NULL, part_size(&own, BCL_DEVICE_GIVEN),
		      PROT_READ | PROT_WRITE, MAP_SHARED, own.fd,
		      bcl_device_map(seat, BCL_DEVICE_GIVEN));
	return mapped == MAP_FAILED ? -1 : 0;
}

static void unmap_given(bool struck)
{
	CHECK(!munmap(mapped, part_size(&own, BCL_DEVICE_GIVEN)));
	drop_port(struck);
}

/* ---- memory ---- */

static long register_memory(void)
{
	return add_memory(&own, HANDLE, memory, SIZE, 7);
}

static long remove_memory(void)
{
	return ioctl(own.fd, BCL_DEVICE_MEMORY_REMOVE, HANDLE);
}

static void need_registered(void)
{
	need_memory();
	CHECK(register_memory() == BCL_OK);
}

static void drop_registered(bool struck)
{
	(void)struck;
	CHECK(remove_memory() == BCL_OK);
	drop_memory();
}

static void forget_memory(bool struck)
{
	(void)struck;
	drop_memory();
}

static long post_channel(void)
{
	return post(&own, 1, 1, memory, SIZE, 0);
}

static long unpost_channel(void)
{
	return unpost(&own, 1);
}

static void need_channel(void)
{
	need_memory();
	CHECK(post_channel() == BCL_OK);
}

static void drop_channel(bool struck)
{
	(void)struck;
	CHECK(unpost_channel() == BCL_OK);
	drop_memory();
}

/* ---- nodes and questions ---- */

static long connect_nobody(void)
{
	struct bcl_device_connect connect = connect_argument(&peer);

	connect.card = NOBODY;
	return ioctl(own.fd, BCL_DEVICE_CONNECT, &connect);
}

static long ask_node(void)
{
	struct bcl_device_node node = { .index = own.node };

	return ioctl(own.fd, BCL_DEVICE_NODE, &node);
}

static long ask_counters(void)
{
	struct bcl_device_counters counters;

	return ioctl(own.fd, BCL_DEVICE_COUNTERS, &counters);
}

static long ask_cards(void)
{
	struct bcl_device_card card = { 0 };

	return ioctl(own.fd, BCL_DEVICE_CARD, &card);
}

/* ---- messages ---- */

static uint8_t *far; /* of the peer: HANDLE */
static unsigned round_of;
static uint32_t message; /* number of the request */

/* A message and a PUT, by pages of the process. */
static void submit_both(void)
{
	struct bcl_request put = {
		.op = BCL_REQ_PUT,
		.dst_port = peer.port.port.number,
		.target = HANDLE,
		.targ64 = BASE,
		.length = SIZE,
		.nref = 1,
		.refs = { self(memory, SIZE) },
	};
	struct bcl_request system = {
		.op = BCL_REQ_SYSTEM,
		.dst_port = peer.port.port.number,
		.length = SHORT,
		.nref = 1,
		.refs = { self(memory + 10, SHORT) },
	};

	fill(memory, SIZE, ++round_of);
	submit(&own, put);
	message = submit(&own, system);
}

static void expect_message(void)
{
	struct bcl_completion entry = received(&peer);

	CHECK(entry.kind == BCL_CQ_SYSTEM && entry.status == BCL_OK);
	CHECK(entry.length == SHORT);
	free_block(&peer, SHORT);
}

/* Returns true if both arrived. A request never leaves if the card cannot have
 * the memory. */
static bool both_arrive(void)
{
	unsigned i, good = 0;

	for (i = 0; i < 2; i++) {
		struct bcl_completion entry = sent(&own);

		CHECK(entry.status == BCL_OK || entry.status == BCL_ERR_ARG);
		good += entry.status == BCL_OK;
		if (entry.status == BCL_OK && entry.index == message)
			expect_message();
		else if (entry.status == BCL_OK)
			CHECK(is_filled(far, SIZE, round_of));
	}
	return good == 2;
}

static void need_requests(void)
{
	need_memory();
	submit_both();
}

static long ring(void)
{
	return doorbell(&own);
}

static void await_requests(bool struck)
{
	if (!both_arrive()) {
		CHECK(struck);
		submit_both();
		CHECK(doorbell(&own) == BCL_OK);
		CHECK(both_arrive());
	}
	drop_memory();
}

/* ---- pages are missing from the n-th on ---- */

static int scarce, starving; /* files */

static void begin_scarcity(void)
{
	set_once("/sys/kernel/debug/fail_page_alloc/task-filter", 1);
	set_once("/sys/kernel/debug/fail_page_alloc/times", 1u << 30);
	scarce = open_control("/sys/kernel/debug/fail_page_alloc/space");
	starving = open_control("/proc/self/make-it-fail");
	set_once("/sys/kernel/debug/fail_page_alloc/probability", 100);
}

static void end_scarcity(void)
{
	set_once("/sys/kernel/debug/fail_page_alloc/probability", 0);
	close(scarce);
	close(starving);
}

/* The process writes registered memory for the first time, and the peer reads
 * the new contents. */
static void expect_readable(void)
{
	uint8_t *to = memory_of(SIZE);
	struct bcl_request get = {
		.op = BCL_REQ_GET,
		.type = BCL_GET_MEMORY,
		.dst_port = own.port.port.number,
		.target = HANDLE,
		.targ64 = BASE,
		.length = SIZE,
		.nref = 1,
		.refs = { self(to, SIZE) },
	};

	fill(memory, SIZE, ++round_of);
	CHECK(submit_and_wait(&peer, get).status == BCL_OK);
	CHECK(is_filled(to, SIZE, round_of));
	CHECK(!munmap(to, SIZE));
}

static void test_scarcity(void)
{
	unsigned pages, refused = 0;
	bool good = false;
	long result;

	begin_scarcity();
	for (pages = 0; pages <= PLENTY; pages++) {
		need_memory();
		set(scarce, pages + 1);
		set(starving, 1);
		result = add_memory(&own, HANDLE, memory, SIZE,
				    BCL_MEM_REMOTE_READ);
		set(starving, 0);
		good = succeeds(result);
		refused += !good;
		if (good) {
			expect_readable();
			CHECK(remove_memory() == BCL_OK);
		}
		drop_memory();
	}
	end_scarcity();
	printf("fail: %u times too few pages\n", refused);
	CHECK(refused >= SIZE / PAGE && good);
}

int main(int argc, char **argv)
{
	static const struct trial trials[] = {
		{ "open()", nothing, open_file, close_file },
		{ "OPEN", need_file, open_one, close_file },
		{ "close()", need_card, close_card_file, forget_card },
		{ "PORT_OPEN", nothing, open_second_port, drop_port },
		{ "mmap()", need_port, map_given, unmap_given },
		{ "PORT_CLOSE", need_port, close_second_port, nothing_to_undo },
		{ "MEMORY", need_memory, register_memory, drop_registered },
		{ "MEMORY_REMOVE", need_registered, remove_memory,
		  forget_memory },
		{ "POST", need_memory, post_channel, drop_channel },
		{ "UNPOST", need_channel, unpost_channel, forget_memory },
		{ "CONNECT", nothing, connect_nobody, nothing_to_undo },
		{ "NODE", nothing, ask_node, nothing_to_undo },
		{ "COUNTERS", nothing, ask_counters, nothing_to_undo },
		{ "CARD", nothing, ask_cards, nothing_to_undo },
		{ "DOORBELL", need_requests, ring, await_requests },
	};
	unsigned i;

	CHECK(argc >= 2);
	interface = argv[1];
	if (argc > 2 && !strcmp(argv[2], "udp4"))
		kind = BCL_WIRE_UDP4;
	setvbuf(stdout, NULL, _IONBF, 0);
	fail_nth = open_control("/proc/thread-self/fail-nth");
	open_card(&own, interface);
	open_port(&own, 1);
	open_card(&peer, interface);
	open_port(&peer, 2);
	connect_to(&own, &peer);
	connect_to(&peer, &own);
	far = memory_of(SIZE);
	CHECK(add_memory(&peer, HANDLE, far, SIZE, 7) == BCL_OK);
	for (i = 0; i < sizeof(trials) / sizeof(trials[0]); i++)
		fail_each(&trials[i]);
	test_scarcity();
	close_card(&own);
	close_card(&peer);
	expect_no_pins();
	CHECK(locked_kb() == 0);
	printf("fail: %u failures, %u checks passed\n", failures, checks);
	return 0;
}
