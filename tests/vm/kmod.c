/* SPDX-License-Identifier: MIT */
/*
 * Tests of the kernel module bcl.ko, by its calls alone, as the first program
 * of a guest: two cards of one process, on the two interfaces that are the
 * arguments, and processes that are killed. Further arguments: "pcrc", cards
 * want payload checksums; "remove", the interfaces may be removed in the end;
 * "udp4" and "udp6", by UDP rather than Ethernet; "messages", nothing but
 * messages, and a process that is killed.
 */
#define _GNU_SOURCE

#include "kmod_user.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* ---- messages ---- */

static struct bcl_request system_request(const struct user *to, uint32_t length)
{
	return (struct bcl_request){
		.op = BCL_REQ_SYSTEM,
		.type = 9,
		.dst_port = to->port.port.number,
		.length = length,
		.targ64 = 0x123456789abcull,
	};
}

static void expect_system(struct user *to, const struct user *from,
			  uint32_t length, unsigned seed)
{
	struct bcl_completion entry = received(to);

	CHECK(entry.kind == BCL_CQ_SYSTEM && entry.status == BCL_OK);
	CHECK(entry.length == length && entry.type == 9);
	CHECK(entry.card == from->open.card);
	CHECK(entry.targ64 == 0x123456789abcull);
	CHECK(entry.src_port == from->port.port.number);
	CHECK(is_filled(to->blocks + bcl_block_at(BLOCKS, entry.index, length),
			length, seed));
	free_block(to, length);
}

static void test_inline(struct user *a, struct user *b)
{
	struct bcl_request request = system_request(b, 60);
	unsigned i;

	request.inline_len = 60;
	for (i = 0; i < 3 * BLOCKS; i++) {
		fill(request.inlined, 60, i);
		CHECK(submit_and_wait(a, request).status == BCL_OK);
		expect_system(b, a, 60, i);
	}
}

static void test_bounce(struct user *a, struct user *b)
{
	struct bcl_device_counters before = counters_of(a);
	struct bcl_request request = system_request(b, BCL_BLOCK_SIZE);
	uint8_t *bounce;

	bounce = a->bounce + free_slot(a) * BCL_BLOCK_SIZE;
	fill(bounce, BCL_BLOCK_SIZE, 5);
	request.nref = 1;
	request.refs[0] = self(bounce, BCL_BLOCK_SIZE);
	CHECK(submit_and_wait(a, request).status == BCL_OK);
	expect_system(b, a, BCL_BLOCK_SIZE, 5);
	CHECK(counters_of(a).pages_pinned == before.pages_pinned);
}

static void test_long_system(struct user *a, struct user *b)
{
	struct bcl_request request = system_request(b, BCL_LONG_SIZE);
	uint8_t *memory = memory_of(BCL_LONG_SIZE);

	fill(memory, BCL_LONG_SIZE, 6);
	memcpy(request.inlined, memory, 100);
	request.inline_len = 100;
	request.nref = 2;
	request.refs[0] = self(memory + 100, 1000);
	request.refs[1] = self(memory + 1100, BCL_LONG_SIZE - 1100);
	CHECK(submit_and_wait(a, request).status == BCL_OK);
	expect_system(b, a, BCL_LONG_SIZE, 6);
	munmap(memory, BCL_LONG_SIZE);
}

static void test_channel(struct user *a, struct user *b)
{
	const size_t length = 1234567, at = 4001, size = 2 << 20;
	uint8_t *from = memory_of(size), *to = memory_of(size);
	struct bcl_request request = {
		.op = BCL_REQ_CHANNEL,
		.dst_port = b->port.port.number,
		.target = 3 | 1 << 16,
		.length = length,
		.nref = 1,
		.refs = { self(from + 77, length) },
	};
	struct bcl_completion entry;

	fill(from + 77, length, 8);
	CHECK(post(b, 3, 1, to + at, length, 0) == BCL_OK);
	CHECK(post(b, 3, 1, to + at, length, 0) == BCL_ERR_BUSY);
	CHECK(submit_and_wait(a, request).status == BCL_OK);
	entry = received(b);
	CHECK(entry.kind == BCL_CQ_CHANNEL && entry.status == BCL_OK);
	CHECK(entry.index == 3 && entry.cookie == 503);
	CHECK(entry.length == length);
	CHECK(is_filled(to + at, length, 8));
	CHECK(to[at - 1] == 0 && to[at + length] == 0);
	CHECK(unpost(b, 3) == BCL_ERR_EMPTY);
	/* an empty message to an empty buffer; then a message too long */
	request.length = 0;
	request.nref = 0;
	request.target = 2 | 1 << 16;
	CHECK(post(b, 2, 1, NULL, 0, 0) == BCL_OK);
	CHECK(submit_and_wait(a, request).status == BCL_OK);
	CHECK(received(b).status == BCL_OK);
	request.length = length;
	request.nref = 1;
	request.target = 2 | 2 << 16;
	CHECK(post(b, 2, 2, NULL, 0, 0) == BCL_OK);
	CHECK(submit_and_wait(a, request).status == BCL_OK);
	CHECK(received(b).status == BCL_ERR_TRUNCATED);
	/* too long for the channel; then a channel is taken back */
	CHECK(post(b, 3, 2, to + at, 1000, 0) == BCL_OK);
	request.target = 3 | 2 << 16;
	CHECK(submit_and_wait(a, request).status == BCL_OK);
	entry = received(b);
	CHECK(entry.kind == BCL_CQ_CHANNEL);
	CHECK(entry.status == BCL_ERR_TRUNCATED);
	CHECK(post(b, 3, 3, to, size, 0) == BCL_OK);
	CHECK(unpost(b, 3) == BCL_OK);
	munmap(from, size);
	munmap(to, size);
}

static void test_read_channel(struct user *a, struct user *b)
{
	const size_t length = 300000;
	uint8_t *from = memory_of(length), *to = memory_of(length);
	struct bcl_request request = {
		.op = BCL_REQ_GET,
		.type = BCL_GET_CHANNEL_LAST,
		.dst_port = b->port.port.number,
		.target = 4 | 1 << 16,
		.length = length,
		.nref = 1,
		.refs = { self(to, length) },
	};
	struct bcl_completion entry;

	fill(from, length, 11);
	CHECK(!mprotect(from, length, PROT_READ));
	CHECK(post(b, 4, 1, from, length, 1) == BCL_OK);
	CHECK(submit_and_wait(a, request).status == BCL_OK);
	CHECK(is_filled(to, length, 11));
	entry = received(b);
	CHECK(entry.kind == BCL_CQ_READ && entry.index == 4);
	CHECK(entry.status == BCL_OK);
	munmap(from, length);
	munmap(to, length);
}

static void test_put_get(struct user *a, struct user *b)
{
	const size_t length = 200000;
	uint8_t *far = memory_of(length), *near = memory_of(length);
	struct bcl_request put = {
		.op = BCL_REQ_PUT,
		.dst_port = b->port.port.number,
		.target = 0x10007,
		.targ64 = (1 << 20) + 16,
		.length = 150001,
		.nref = 1,
		.refs = { self(near, 150001) },
	};
	struct bcl_request get = put, add = put;
	struct bcl_completion entry;
	uint64_t word = 41, old = 0;

	CHECK(add_memory(b, 0x10007, far, length, 7) == BCL_OK);
	CHECK(add_memory(b, 0x10007, far, length, 7) == BCL_ERR_BUSY);
	CHECK(add_memory(a, 0x20001, near, length, 0) == BCL_OK);
	fill(near, length, 21);
	CHECK(submit_and_wait(a, put).status == BCL_OK);
	CHECK(is_filled(far + 16, 150001, 21) && far[15] == 0);
	/* by the handle of the own memory, with an event there */
	put.op = BCL_REQ_PUT_NOTIFY;
	put.refs[0] = (struct bcl_memref){ 1000, 0x20001, 150001 };
	put.arg32 = 99;
	CHECK(submit_and_wait(a, put).status == BCL_OK);
	entry = received(b);
	CHECK(entry.kind == BCL_CQ_NOTIFY && entry.arg32 == 99);
	CHECK(!memcmp(far + 16, near + 1000, 150001));
	free_block(b, 1);
	get.op = BCL_REQ_GET;
	get.type = BCL_GET_MEMORY;
	get.length = 100000;
	get.refs[0] = (struct bcl_memref){ 0, 0x20001, 100000 };
	fill(far + 16, 100000, 33);
	CHECK(submit_and_wait(a, get).status == BCL_OK);
	CHECK(is_filled(near, 100000, 33));
	memcpy(far + 24, &word, 8);
	add.op = BCL_REQ_FETCH_ADD;
	add.targ64 = (1 << 20) + 24;
	add.inline_len = 8;
	add.length = 8;
	word = 1;
	memcpy(add.inlined, &word, 8);
	add.refs[0] = self(&old, 8);
	CHECK(submit_and_wait(a, add).status == BCL_OK);
	memcpy(&word, far + 24, 8);
	CHECK(old == 41 && word == 42);
	/* beyond the end, without rights, and after the memory is gone */
	put.op = BCL_REQ_PUT;
	put.targ64 = (1 << 20) + length - 150000;
	CHECK(submit_and_wait(a, put).status == BCL_ERR_MEMORY);
	put.targ64 = 0;
	CHECK(submit_and_wait(a, put).status == BCL_ERR_MEMORY);
	CHECK(ioctl(b->fd, BCL_DEVICE_MEMORY_REMOVE, 0x10007) == BCL_OK);
	CHECK(ioctl(b->fd, BCL_DEVICE_MEMORY_REMOVE, 0x10007) == BCL_ERR_ARG);
	put.targ64 = 1 << 20;
	CHECK(submit_and_wait(a, put).status == BCL_ERR_MEMORY);
	CHECK(add_memory(b, 0x10007, far, length, 1) == BCL_OK);
	CHECK(submit_and_wait(a, put).status == BCL_ERR_MEMORY);
	CHECK(ioctl(b->fd, BCL_DEVICE_MEMORY_REMOVE, 0x10007) == BCL_OK);
	CHECK(ioctl(a->fd, BCL_DEVICE_MEMORY_REMOVE, 0x20001) == BCL_OK);
	munmap(far, length);
	munmap(near, length);
}

/* Many requests by one doorbell, more than blocks. */
static void test_many(struct user *a, struct user *b)
{
	struct bcl_request request = system_request(b, 3000);
	uint8_t *memory = memory_of(3000);
	unsigned i, turn;

	fill(memory, 3000, 3);
	request.nref = 1;
	request.refs[0] = self(memory, 3000);
	for (turn = 0; turn < 8; turn++) {
		for (i = 0; i < REQUESTS; i++)
			submit(a, request);
		CHECK(doorbell(a) == BCL_OK);
		for (i = 0; i < REQUESTS; i++)
			expect_system(b, a, 3000, 3);
		for (i = 0; i < REQUESTS; i++)
			CHECK(sent(a).status == BCL_OK);
	}
	munmap(memory, 3000);
}

/* ---- wrong calls ---- */

static void test_wrong_before_open(const char *interface)
{
	struct bcl_device_open argument = open_argument(interface);
	struct bcl_device_counters counters;
	int fd = open(BCL_DEVICE_PATH, O_RDWR);

	CHECK(fd >= 0);
	CHECK(ioctl(fd, BCL_DEVICE_COUNTERS, &counters) < 0 && errno == EINVAL);
	CHECK(ioctl(fd, BCL_DEVICE_DOORBELL, 0) < 0 && errno == EINVAL);
	CHECK(ioctl(fd, _IO('b', 99), 0) < 0 && errno == ENOTTY);
	CHECK(ioctl(fd, BCL_DEVICE_OPEN, 8) < 0 && errno == EFAULT);
	CHECK(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED);
	argument.abi = BCL_CARD_ABI + 1;
	CHECK(ioctl(fd, BCL_DEVICE_OPEN, &argument) == BCL_ERR_VERSION);
	CHECK(argument.abi == BCL_CARD_ABI);
	argument.nends = BCL_DEVICE_ENDS + 1;
	CHECK(ioctl(fd, BCL_DEVICE_OPEN, &argument) < 0 && errno == EINVAL);
	argument.nends = 0;
	CHECK(ioctl(fd, BCL_DEVICE_OPEN, &argument) == BCL_ERR_NORAIL);
	argument.nends = 5;
	argument.end[0].interface = 12345;
	argument.end[1].interface = argument.end[4].interface =
		if_nametoindex(interface);
	argument.end[1].address =
		(struct bcl_wire_address){ BCL_WIRE_UDP4, 6, { 192, 0, 2, 1 } };
	argument.end[2].rail = BCL_RAILS_MAX;
	argument.end[3].address.kind = 200;
	argument.end[4].address = (struct bcl_wire_address){
		BCL_WIRE_UDP6, 18, { 0x20, 1, 0xd, 0xb8 }
	};
	CHECK(ioctl(fd, BCL_DEVICE_OPEN, &argument) == BCL_ERR_NORAIL);
	CHECK(argument.end[0].refused == ENODEV);
	CHECK(argument.end[1].refused == EADDRNOTAVAIL);
	CHECK(argument.end[2].refused == EINVAL);
	CHECK(argument.end[3].refused == EPROTONOSUPPORT);
	CHECK(argument.end[4].refused == EADDRNOTAVAIL);
	argument = open_argument(interface);
	argument.peer_timeout = 0;
	CHECK(ioctl(fd, BCL_DEVICE_OPEN, &argument) == BCL_ERR_ARG);
	argument = open_argument(interface);
	CHECK(ioctl(fd, BCL_DEVICE_OPEN, &argument) == BCL_OK);
	CHECK(ioctl(fd, BCL_DEVICE_OPEN, &argument) < 0 && errno == EINVAL);
	CHECK(!close(fd));
}

static void test_wrong_calls(struct user *a, const struct user *b)
{
	struct bcl_device_port port = port_argument(5, -1);
	struct bcl_device_connect connect = connect_argument(b);
	struct bcl_control control = { .op = BCL_CTL_DISCONNECT };
	struct bcl_device_node_info info = { .index = 555 };
	struct bcl_device_node node = { .index = 0xffffffff };
	uint8_t *memory = memory_of(4 * PAGE);

	port.number = a->port.port.number;
	CHECK(ioctl(a->fd, BCL_DEVICE_PORT_OPEN, &port) == BCL_ERR_BUSY);
	port.number = 0;
	CHECK(ioctl(a->fd, BCL_DEVICE_PORT_OPEN, &port) == BCL_ERR_ARG);
	port = port_argument(5, -1);
	port.nrequests = 3;
	CHECK(ioctl(a->fd, BCL_DEVICE_PORT_OPEN, &port) == BCL_ERR_ARG);
	port.nrequests = 0xffffffff;
	CHECK(ioctl(a->fd, BCL_DEVICE_PORT_OPEN, &port) == BCL_ERR_ARG);
	port.nrequests = 0;
	CHECK(ioctl(a->fd, BCL_DEVICE_PORT_OPEN, &port) == BCL_ERR_ARG);
	port.nreceives = 0;
	port.nblocks = 0;
	port.nlongs = 0;
	CHECK(ioctl(a->fd, BCL_DEVICE_PORT_OPEN, &port) == BCL_ERR_ARG);
	port = port_argument(5, a->fd);
	CHECK(ioctl(a->fd, BCL_DEVICE_PORT_OPEN, &port) < 0 && errno == EINVAL);
	port = port_argument(5, -1);
	port.nblocks = 65536;
	port.nreceives = 65536;
	CHECK(ioctl(a->fd, BCL_DEVICE_PORT_OPEN, &port) == BCL_ERR_NOMEM ||
	      errno == 0);
	CHECK(ioctl(a->fd, BCL_DEVICE_PORT_CLOSE, 15) == BCL_ERR_ARG);
	CHECK(ioctl(a->fd, BCL_DEVICE_PORT_CLOSE, -1) == BCL_ERR_ARG);
	CHECK(ioctl(a->fd, BCL_DEVICE_DOORBELL, 15) == BCL_ERR_ARG);
	CHECK(ioctl(a->fd, BCL_DEVICE_DOORBELL, 1 << 20) == BCL_ERR_ARG);
	CHECK(ioctl(a->fd, BCL_DEVICE_CONTROL, &control) < 0 &&
	      errno == EINVAL);
	control.op = BCL_CTL_REJOIN;
	control.node = 900;
	CHECK(ioctl(a->fd, BCL_DEVICE_CONTROL, &control) == BCL_ERR_ARG);
	CHECK(ioctl(a->fd, BCL_DEVICE_NODE_INFO, &info) == BCL_ERR_ARG);
	CHECK(ioctl(a->fd, BCL_DEVICE_NODE, &node) == BCL_ERR_ARG);
	CHECK(node.card == 0 && node.changes == a->news->changes);
	connect.nways = BCL_DEVICE_WAYS + 1;
	CHECK(ioctl(a->fd, BCL_DEVICE_CONNECT, &connect) < 0);
	connect = connect_argument(b);
	connect.way[0].end = 1;
	CHECK(ioctl(a->fd, BCL_DEVICE_CONNECT, &connect) < 0);
	connect = connect_argument(b);
	connect.wire[0].length = 22;
	CHECK(ioctl(a->fd, BCL_DEVICE_CONNECT, &connect) < 0);
	connect.wire[0].kind ^= BCL_WIRE_UDP4 ^ BCL_WIRE_PACKET;
	connect.wire[0].length = bcl_wire_length(connect.wire[0].kind);
	CHECK(ioctl(a->fd, BCL_DEVICE_CONNECT, &connect) < 0);
	connect = connect_argument(b);
	connect.card = a->open.card;
	CHECK(ioctl(a->fd, BCL_DEVICE_CONNECT, &connect) == BCL_ERR_ARG);
	CHECK(ioctl(a->fd, BCL_DEVICE_BARRIER) == BCL_OK);
	CHECK(ioctl(a->fd, BCL_DEVICE_WATCH, &a->open) == BCL_OK);
	CHECK(a->open.end[0].up == 1);
	/* memory */
	CHECK(add_memory(a, 0, memory, PAGE, 0) == BCL_ERR_ARG);
	CHECK(add_memory(a, 1, memory, PAGE, 8) == BCL_ERR_ARG);
	CHECK(add_memory(a, 1, (void *)16, PAGE, 0) == BCL_ERR_ARG);
	CHECK(add_memory(a, 1, (void *)-PAGE, PAGE, 0) == BCL_ERR_ARG);
	CHECK(add_memory(a, 1, (void *)-4096, 8192, 0) == BCL_ERR_ARG);
	CHECK(add_memory(a, 1, memory, 1ull << 60, 0) == BCL_ERR_ARG);
	CHECK(!munmap(memory + 2 * PAGE, PAGE));
	CHECK(add_memory(a, 1, memory, 4 * PAGE, 7) == BCL_ERR_ARG);
	CHECK(!mprotect(memory, PAGE, PROT_READ));
	CHECK(add_memory(a, 1, memory, PAGE, 2) == BCL_ERR_ARG);
	CHECK(add_memory(a, 1, memory, PAGE, 1) == BCL_OK);
	CHECK(ioctl(a->fd, BCL_DEVICE_MEMORY_REMOVE, 1) == BCL_OK);
	CHECK(add_memory(a, 1, a->given, PAGE, 7) == BCL_ERR_ARG);
	CHECK(add_memory(a, 1, (void *)a->shown, PAGE, 1) == BCL_ERR_ARG);
	CHECK(post(a, CHANNELS, 1, memory, PAGE, 0) == BCL_ERR_ARG);
	CHECK(post(a, 0, 1, memory, PAGE, 0) == BCL_ERR_ARG); /* read-only */
	CHECK(post(a, 0, 1, memory, PAGE, 2) == BCL_ERR_ARG);
	CHECK(unpost(a, CHANNELS) == BCL_ERR_ARG);
	CHECK(unpost(a, 0) == BCL_ERR_EMPTY);
	munmap(memory, 4 * PAGE);
}

static void *map_shown(const struct user *user, int rights, int flags,
		       size_t size, uint64_t more)
{
	return mmap(NULL, size, rights, flags, user->fd,
		    bcl_device_map(user->seat, BCL_DEVICE_SHOWN) + more);
}

static void test_wrong_maps(struct user *a)
{
	size_t shown = part_size(a, BCL_DEVICE_SHOWN);
	size_t given = part_size(a, BCL_DEVICE_GIVEN);

	CHECK(map_shown(a, PROT_READ, MAP_SHARED, shown, 0) == MAP_FAILED &&
	      errno == EBUSY);
	CHECK(!munmap((void *)a->shown, shown));
	CHECK(map_shown(a, PROT_READ | PROT_WRITE, MAP_SHARED, shown, 0) ==
	      MAP_FAILED);
	CHECK(map_shown(a, PROT_READ, MAP_PRIVATE, shown, 0) == MAP_FAILED);
	CHECK(map_shown(a, PROT_READ, MAP_SHARED, shown - PAGE, 0) ==
	      MAP_FAILED);
	CHECK(map_shown(a, PROT_READ, MAP_SHARED, shown, PAGE) == MAP_FAILED);
	CHECK(map_shown(a, PROT_READ | PROT_EXEC, MAP_SHARED, shown, 0) ==
	      MAP_FAILED);
	a->shown = map_shown(a, PROT_READ, MAP_SHARED, shown, 0);
	CHECK(a->shown != MAP_FAILED);
	CHECK(mprotect((void *)a->shown, shown, PROT_READ | PROT_WRITE) < 0);
	CHECK(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, a->fd,
		   bcl_device_map(15, BCL_DEVICE_GIVEN)) == MAP_FAILED);
	CHECK(mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, a->fd,
		   BCL_DEVICE_NEWS) == MAP_FAILED);
	CHECK(munmap(a->given, PAGE) < 0);
	CHECK(mremap(a->given, given, given, MREMAP_MAYMOVE | MREMAP_FIXED,
		     memory_of(given)) == MAP_FAILED);
	CHECK(mremap(a->given, given, given + PAGE, MREMAP_MAYMOVE) ==
	      MAP_FAILED);
	a->receives.entries = area(a, BCL_AREA_RECEIVES);
	a->sends.entries = area(a, BCL_AREA_SENDS);
	a->blocks = area(a, BCL_AREA_BLOCKS);
	a->again = bcl_again(a->receives.entries, RECEIVES);
}

/* Requests name memory without permission. Each ends with ARG, and harms no
 * port. */
static void test_wrong_requests(struct user *a, struct user *b)
{
	struct bcl_request request = system_request(b, PAGE), wrong;
	uint8_t *memory = memory_of(2 * PAGE);

	CHECK(!munmap(memory + PAGE, PAGE));
	request.nref = 1;
	request.refs[0] = self(memory + 8, PAGE);
	CHECK(submit_and_wait(a, request).status == BCL_ERR_ARG);
	request.refs[0] = self(a->shown, PAGE);
	CHECK(submit_and_wait(a, request).status == BCL_ERR_ARG);
	request.refs[0] = self(b->given, PAGE);
	CHECK(submit_and_wait(a, request).status == BCL_ERR_ARG);
	request.refs[0] = self((const uint8_t *)a->news, PAGE);
	CHECK(submit_and_wait(a, request).status == BCL_ERR_ARG);
	request.refs[0] =
		self(a->given + part_size(a, BCL_DEVICE_GIVEN) - 8, PAGE);
	CHECK(submit_and_wait(a, request).status == BCL_ERR_ARG);
	request.refs[0] = self((void *)0xffffffff81000000ull, PAGE);
	CHECK(submit_and_wait(a, request).status == BCL_ERR_ARG);
	wrong = request;
	wrong.nref = 0xffff;
	CHECK(submit_and_wait(a, wrong).status == BCL_ERR_ARG);
	wrong = request;
	wrong.nref = 0;
	wrong.inline_len = 0xffff;
	CHECK(submit_and_wait(a, wrong).status == BCL_ERR_ARG);
	wrong.inline_len = 0;
	wrong.op = 0xee;
	CHECK(submit_and_wait(a, wrong).status == BCL_ERR_ARG);
	/* the handles of the core are no handles of the process; such a message
	 * leaves without its memory, so its peer must withdraw it */
	write_submit(a, REQUESTS);
	CHECK(doorbell(a) == BCL_ERR_ARG);
	write_submit(a, 0xffffffff);
	CHECK(doorbell(a) == BCL_ERR_ARG);
	__atomic_store_n(&a->indices->requests_made, a->made + 1000,
			 __ATOMIC_RELEASE);
	CHECK(doorbell(a) == BCL_ERR_ARG);
	__atomic_store_n(&a->indices->requests_made, a->made, __ATOMIC_RELEASE);
	CHECK(doorbell(a) == BCL_OK);
	munmap(memory, PAGE);
	test_inline(a, b);
}

/* A process lies about its blocks, and loses messages only. */
static void test_wrong_indices(struct user *a, struct user *b)
{
	struct bcl_port_indices kept = *b->indices;
	struct bcl_request request = system_request(b, 3000);
	uint8_t *memory = memory_of(3000);
	unsigned i;

	request.nref = 1;
	request.refs[0] = self(memory, 3000);
	for (i = 0; i < 200; i++) {
		b->indices->blocks_freed = kept.blocks_freed + i * 0x9e3779b1u;
		b->indices->longs_freed = i * 77777;
		b->indices->sleeping = i * 3;
		if (__builtin_popcount(a->busy) == REQUESTS)
			break;
		submit(a, request);
		CHECK(doorbell(a) == BCL_OK);
		while (peek(&a->sends))
			sent(a);
	}
	*b->indices = kept;
	munmap(memory, 3000);
}

/* ---- the kernel's own accounts ---- */

/* Without the privilege, as root has no limit. */
static void test_limit(const char *interface)
{
	struct rlimit limit = { 1 << 20, 1 << 20 };
	uint8_t *memory;
	struct user a;
	int status;

	if (!fork()) {
		CHECK(!setrlimit(RLIMIT_MEMLOCK, &limit));
		CHECK(!setuid(1000));
		open_card(&a, interface);
		open_port(&a, 3);
		memory = memory_of(4 << 20);
		CHECK(add_memory(&a, 1, memory, 2 << 20, 7) == BCL_ERR_NOMEM);
		CHECK(add_memory(&a, 1, memory, 1 << 20, 7) == BCL_OK);
		CHECK(add_memory(&a, 2, memory, PAGE, 7) == BCL_ERR_NOMEM);
		CHECK(post(&a, 1, 1, memory, PAGE, 0) == BCL_ERR_NOMEM);
		CHECK(ioctl(a.fd, BCL_DEVICE_MEMORY_REMOVE, 1) == BCL_OK);
		CHECK(add_memory(&a, 2, memory, PAGE, 7) == BCL_OK);
		CHECK(locked_kb() > 0 && locked_kb() <= 1024);
		close_card(&a);
		CHECK(locked_kb() == 0);
		_exit(0);
	}
	CHECK(wait(&status) > 0 && status == 0);
	expect_no_pins();
}

/* ---- processes that end ---- */

/* A child inherits the file. The child may not use the card, and does not keep
 * the card alive. */
static void test_child(struct user *a)
{
	int status;

	if (!fork()) {
		CHECK(doorbell(a) < 0 && errno == EPERM);
		CHECK(ioctl(a->fd, BCL_DEVICE_WATCH, &a->open) < 0 &&
		      errno == EPERM);
		CHECK(map_shown(a, PROT_READ, MAP_SHARED, PAGE, 0) ==
			      MAP_FAILED &&
		      errno == EPERM);
		_exit(0);
	}
	CHECK(wait(&status) > 0 && status == 0);
}

/* A process ends, but its child has the file: the pins end with the process. */
static void test_heir(const char *interface)
{
	uint8_t *memory = memory_of(1 << 20);
	int heir[2], status;
	struct user a;
	char byte;

	CHECK(!pipe(heir));
	if (!fork()) {
		open_card(&a, interface);
		open_port(&a, 3);
		CHECK(add_memory(&a, 1, memory, 1 << 20, 7) == BCL_OK);
		CHECK(post(&a, 1, 1, memory, PAGE, 0) == BCL_OK);
		if (!fork()) {
			close(heir[1]);
			if (read(heir[0], &byte, 1) < 0)
				_exit(1);
			_exit(0);
		}
		_exit(0);
	}
	CHECK(wait(&status) > 0 && status == 0);
	expect_no_pins();
	close(heir[0]);
	close(heir[1]);
	munmap(memory, 1 << 20);
}

/* The child sends without end, until killed. */
static void send_for_ever(const char *interface, int to, int from)
{
	struct user a, peer = { .fd = -1 };
	uint8_t *memory = memory_of(4 << 20);
	struct bcl_request request = {
		.op = BCL_REQ_PUT,
		.dst_port = 2,
		.target = 0x10001,
		.targ64 = 1 << 20,
		.length = 4 << 20,
		.nref = 1,
		.refs = { self(memory, 4 << 20) },
	};
	unsigned i;

	CHECK(read(from, &peer.open, sizeof(peer.open)) == sizeof(peer.open));
	open_card(&a, interface);
	open_port(&a, 7);
	connect_to(&a, &peer);
	CHECK(add_memory(&a, 5, memory, 1 << 20, 7) == BCL_OK);
	CHECK(post(&a, 1, 1, memory, 1 << 20, 0) == BCL_OK);
	CHECK(write(to, &a.open, sizeof(a.open)) == sizeof(a.open));
	for (i = 0;; i++) {
		submit(&a, request);
		CHECK(doorbell(&a) == BCL_OK);
		if (i > 3)
			CHECK(sent(&a).status == BCL_OK);
	}
}

static void test_kill(struct user *b, const char *interface)
{
	uint8_t *memory = memory_of(4 << 20);
	int down[2], up[2], status;
	struct user child;
	pid_t pid;

	CHECK(add_memory(b, 0x10001, memory, 4 << 20, 7) == BCL_OK);
	CHECK(!pipe(down) && !pipe(up));
	pid = fork();
	if (!pid)
		send_for_ever(interface, up[1], down[0]);
	CHECK(write(down[1], &b->open, sizeof(b->open)) == sizeof(b->open));
	CHECK(read(up[0], &child.open, sizeof(child.open)) ==
	      sizeof(child.open));
	usleep(50000);
	CHECK(!kill(pid, SIGKILL));
	CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
	CHECK(ioctl(b->fd, BCL_DEVICE_MEMORY_REMOVE, 0x10001) == BCL_OK);
	close(down[0]);
	close(down[1]);
	close(up[0]);
	close(up[1]);
	munmap(memory, 4 << 20);
	expect_no_pins();
}

static void test_ended_peer(struct user *a, struct user *b)
{
	struct bcl_request request = system_request(b, 8);

	request.inline_len = 8;
	close_card(b);
	wait_for_state(a, 1 << BCL_NODE_CLOSED | 1 << BCL_NODE_LOST);
	while (a->busy)
		sent(a);
	CHECK(submit_and_wait(a, request).status >= BCL_ERR_DEAD);
	CHECK(node_state(a).state == BCL_NODE_LOST);
}

static void test_port_close(struct user *a, struct user *b)
{
	struct bcl_request request = {
		.op = BCL_REQ_CHANNEL,
		.dst_port = b->port.port.number,
		.target = 5 | 9 << 16,
		.length = 1 << 20,
		.nref = 1,
	};
	uint8_t *memory = memory_of(1 << 20);
	uint32_t number = a->port.port.number;

	request.refs[0] = self(memory, 1 << 20);
	submit(a, request); /* waits for the channel */
	CHECK(doorbell(a) == BCL_OK);
	CHECK(post(a, 2, 9, memory, 1 << 20, 0) == BCL_OK);
	CHECK(ioctl(a->fd, BCL_DEVICE_PORT_CLOSE, a->seat) == BCL_OK);
	expect_no_pins();
	a->given[0] = 1; /* the mapping outlives the port */
	unmap_port(a);
	close(a->wake);
	open_port(a, number);
	munmap(memory, 1 << 20);
	test_inline(a, b);
}

/* An interface goes down, and takes its rail down. An interface is removed, and
 * the card lets the interface go. */
static void test_removal(struct user *a, const char *interface)
{
	char command[64];

	snprintf(command, sizeof(command), "ifconfig %s down", interface);
	CHECK(!system(command));
	CHECK(ioctl(a->fd, BCL_DEVICE_WATCH, &a->open) == BCL_OK);
	CHECK(a->open.end[0].up == 0);
	snprintf(command, sizeof(command), "ifconfig %s mtu 1400 up",
		 interface);
	CHECK(!system(command));
	CHECK(ioctl(a->fd, BCL_DEVICE_WATCH, &a->open) == BCL_OK);
	CHECK(a->open.end[0].up == 1 && a->open.end[0].mtu == 1392);
	snprintf(command, sizeof(command), "ip link del %s", interface);
	CHECK(!system(command));
	CHECK(ioctl(a->fd, BCL_DEVICE_WATCH, &a->open) == BCL_OK);
	CHECK(a->open.end[0].up == 0);
}

/* ---- UDP ---- */

static socklen_t socket_address(const struct bcl_wire_address *from,
				struct sockaddr_storage *to)
{
	struct sockaddr_in *in4 = (void *)to;
	struct sockaddr_in6 *in6 = (void *)to;

	memset(to, 0, sizeof(*to));
	if (from->kind == BCL_WIRE_UDP4) {
		in4->sin_family = AF_INET;
		memcpy(&in4->sin_addr, from->bytes, 4);
		memcpy(&in4->sin_port, from->bytes + 4, 2);
		return sizeof(*in4);
	}
	in6->sin6_family = AF_INET6;
	memcpy(&in6->sin6_addr, from->bytes, 16);
	memcpy(&in6->sin6_port, from->bytes + 16, 2);
	return sizeof(*in6);
}

/* A stranger sends datagrams of all lengths to the card, alone and joined, and
 * the card drops the datagrams. */
static void test_stranger(struct user *a, struct user *b)
{
	static uint8_t bytes[65000];
	struct sockaddr_storage to;
	socklen_t length = socket_address(&b->open.end[0].address, &to);
	int fd = socket(to.ss_family, SOCK_DGRAM, 0), segment = 700;
	size_t size;

	CHECK(fd >= 0);
	fill(bytes, sizeof(bytes), 1);
	for (size = 0; size <= sizeof(bytes); size += size < 300 ? 1 : 997) {
		bytes[0] = (uint8_t)BCL_WIRE_MAGIC;
		bytes[1] = BCL_WIRE_MAGIC >> 8;
		CHECK(sendto(fd, bytes, size, 0, (void *)&to, length) ==
		      (ssize_t)size);
	}
	CHECK(!setsockopt(fd, SOL_UDP, UDP_SEGMENT, &segment, sizeof(segment)));
	for (size = 1; size < 60 * (size_t)segment; size += 997)
		CHECK(sendto(fd, bytes, size, 0, (void *)&to, length) ==
		      (ssize_t)size);
	close(fd);
	test_inline(a, b);
}

/* The port is the kernel's choice, and free when the card is closed. */
static void test_udp_port(const char *interface)
{
	struct bcl_device_open argument = open_argument(interface);
	struct bcl_wire_address *address = &argument.end[0].address;
	uint8_t *port = address->bytes + address->length - 2;
	int fd = open(BCL_DEVICE_PATH, O_RDWR), other;
	struct sockaddr_storage own;
	socklen_t length;

	port[1] = 80;
	CHECK(ioctl(fd, BCL_DEVICE_OPEN, &argument) == BCL_OK);
	CHECK(port[0] * 256 + port[1] >= 1024);
	length = socket_address(address, &own);
	other = socket(own.ss_family, SOCK_DGRAM, 0);
	CHECK(bind(other, (void *)&own, length) < 0 && errno == EADDRINUSE);
	CHECK(!close(fd));
	CHECK(!bind(other, (void *)&own, length));
	CHECK(!close(other));
}

/* A datagram that comes alone reaches the card, which drops it. */
static void expect_seen(struct user *user)
{
	const uint64_t before = counters_of(user).card[BCL_CARD_dropped_magic];
	struct sockaddr_storage to;
	socklen_t length = socket_address(&user->open.end[0].address, &to);
	int fd = socket(to.ss_family, SOCK_DGRAM, 0);
	char datagram[200] = "";
	unsigned i;

	CHECK(sendto(fd, datagram, sizeof(datagram), 0, (void *)&to, length) ==
	      sizeof(datagram));
	for (i = 0; counters_of(user).card[BCL_CARD_dropped_magic] == before;
	     i++) {
		CHECK(i < PATIENCE);
		usleep(1000);
	}
	close(fd);
}

/* Nobody listens where the card connects to, and the network says so long
 * before the peer's time is over. The report does not stop the next frame. */
static void test_refused(const char *interface, struct user *b)
{
	struct bcl_device_connect connect = connect_argument(b);
	struct bcl_wire_address *to = &connect.wire[0];
	struct sockaddr_storage own;
	struct user user;
	int fd;

	open_card_for(&user, interface, 1000 * TIMEOUT);
	open_port(&user, 1);
	/* a free port, as of a process that is gone */
	memset(to->bytes + to->length - 2, 0, 2);
	fd = socket(kind == BCL_WIRE_UDP4 ? AF_INET : AF_INET6, SOCK_DGRAM, 0);
	CHECK(!bind(fd, (void *)&own, socket_address(to, &own)));
	CHECK(!getsockname(fd, (void *)&own, &(socklen_t){ sizeof(own) }));
	memcpy(to->bytes + to->length - 2,
	       kind == BCL_WIRE_UDP4
		       ? (void *)&((struct sockaddr_in *)&own)->sin_port
		       : (void *)&((struct sockaddr_in6 *)&own)->sin6_port,
	       2);
	close(fd);
	CHECK(ioctl(user.fd, BCL_DEVICE_CONNECT, &connect) == BCL_OK);
	user.node = connect.index;
	wait_for_state(&user, 1 << BCL_NODE_LOST);
	CHECK(node_state(&user).lost == BCL_ERR_DEAD);
	expect_seen(&user);
	close_card(&user);
}

static unsigned mtu_after(struct user *a, const char *interface,
			  const char *change)
{
	char command[64];

	snprintf(command, sizeof(command), "ifconfig %s %s", interface, change);
	CHECK(!system(command));
	CHECK(ioctl(a->fd, BCL_DEVICE_WATCH, &a->open) == BCL_OK);
	return a->open.end[0].mtu;
}

static void test_mtu(struct user *a, struct user *b, const char *interface)
{
	const unsigned headers = kind == BCL_WIRE_UDP4 ? 28 : 48;
	unsigned before = a->open.end[0].mtu;

	CHECK(before == ((1500 - headers) & ~7u));
	CHECK(mtu_after(a, interface, "mtu 1400") == ((1400 - headers) & ~7u));
	test_long_system(a, b);
	CHECK(mtu_after(a, interface, "mtu 1500") == before);
	mtu_after(a, interface, "down");
	CHECK(a->open.end[0].up == 0);
	mtu_after(a, interface, "up");
	CHECK(a->open.end[0].up == 1);
	test_long_system(a, b);
}

static void test_unload(void)
{
	CHECK(syscall(SYS_delete_module, "bcl", O_NONBLOCK) < 0);
	CHECK(errno == EWOULDBLOCK);
}

static void test_messages(struct user *a, struct user *b)
{
	TEST(connect_to(a, b));
	TEST(test_inline(a, b));
	TEST(test_bounce(a, b));
	TEST(test_long_system(a, b));
	TEST(test_channel(a, b));
	TEST(test_read_channel(a, b));
	TEST(test_put_get(a, b));
	TEST(test_many(a, b));
	expect_no_pins();
}

static void test_wrong_words(struct user *a, struct user *b, const char *one)
{
	TEST(test_wrong_calls(a, b));
	TEST(test_wrong_maps(a));
	TEST(test_wrong_requests(a, b));
	TEST(test_child(a));
	TEST(test_heir(one));
}

/* Frames of long messages left together, and came together. */
static void test_together(const struct user *a, const struct user *b)
{
	struct bcl_device_counters from = counters_of(a), to = counters_of(b);

	CHECK(from.packets > 0 && from.packets < from.frames);
	CHECK(to.joined > 0);
}

static void test_udp(struct user *a, struct user *b, const char *one)
{
	TEST(test_together(a, b));
	TEST(test_stranger(a, b));
	TEST(test_udp_port(one));
	TEST(test_refused(one, b));
	TEST(test_mtu(a, b, one));
}

static void show_counters(const struct user *user)
{
	struct bcl_device_counters counters = counters_of(user);

	printf("frames %lu in %lu packets, joined %lu, no address %lu, refused "
	       "%lu, not sent %lu, "
	       "queue full %lu, retransmitted %lu\n",
	       counters.frames, counters.packets, counters.joined,
	       counters.no_address, counters.dma_refused, counters.not_sent,
	       counters.queue_full, counters.card[BCL_CARD_retransmitted]);
}

int main(int argc, char **argv)
{
	const char *one = argv[1], *other = argv[2];
	bool removable = false, messages = false;
	struct user a, b;
	int i;

	for (i = 3; i < argc; i++) {
		pcrc |= !strcmp(argv[i], "pcrc");
		removable |= !strcmp(argv[i], "remove");
		messages |= !strcmp(argv[i], "messages");
		if (!strncmp(argv[i], "udp", 3))
			kind = argv[i][3] == '4' ? BCL_WIRE_UDP4
						 : BCL_WIRE_UDP6;
	}
	setvbuf(stdout, NULL, _IONBF, 0);
	printf("%s, kind of ends %u\n", one, kind);
	if (!messages) {
		TEST(test_wrong_before_open(one));
		TEST(test_limit(one));
	}
	open_card(&a, one);
	open_card(&b, other);
	CHECK(a.open.card != b.open.card);
	open_port(&a, 1);
	open_port(&b, 2);
	TEST(test_unload());
	test_messages(&a, &b);
	if (!messages)
		test_wrong_words(&a, &b, one);
	if (kind != BCL_WIRE_PACKET)
		test_udp(&a, &b, one);
	TEST(test_kill(&b, one));
	TEST(test_port_close(&a, &b));
	if (!messages)
		TEST(test_wrong_indices(&a, &b));
	show_counters(&a);
	TEST(test_ended_peer(&a, &b));
	if (removable)
		TEST(test_removal(&a, one));
	close_card(&a);
	expect_no_pins();
	printf("%u checks passed\n", checks);
	return 0;
}
