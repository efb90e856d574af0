/* SPDX-License-Identifier: MIT */
/*
 * Calls of a process to its cards: right, nearly right and wrong, by some
 * threads that share the files, the ports, the queues and the memory.
 */
#define _GNU_SOURCE

#include "fuzz.h"

#include <bcl/status.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	PAGE = 4096,
	REQUESTS = 16,
	RECEIVES = 64,
	BLOCKS = 32,
	LONGS = 2,
	CHANNELS = 8,
	FILES = FUZZ_INTERFACES,
	PORTS = 2, /* of a file */
	POOL = 8,  /* pieces of memory */
	THREADS = 3,
	MOST = 4 << 20, /* bytes of a piece */
};

static const struct bcl_control right_port = {
	.op = BCL_CTL_PORT_OPEN,
	.port = { .nrequests = REQUESTS,
		  .nreceives = RECEIVES,
		  .nblocks = BLOCKS,
		  .nlongs = LONGS,
		  .nchannels = CHANNELS },
};

struct port {
	uint32_t seat;
	uint8_t *part[2];
	uint32_t made, received, sent, blocks, longs;
};

struct file {
	int fd;
	uint64_t card;
	struct port port[PORTS];
};

static struct process {
	const struct fuzz_job *job;
	struct file file[FILES];
	uint8_t *memory[POOL];
	size_t size[POOL];
} own;

/* ---- values ---- */

static uint32_t number(struct fuzz_dice *dice, uint32_t n)
{
	switch (fuzz_below(dice, 16)) {
	case 0:
		return n;
	case 1:
		return (uint32_t)fuzz_next(dice);
	case 2:
		return 0xffffffff;
	default:
		return fuzz_below(dice, n);
	}
}

static size_t part_size(enum bcl_device_part part)
{
	return (bcl_device_area(&right_port, part, BCL_AREAS) + PAGE - 1) &
	       ~(size_t)(PAGE - 1);
}

static void *area(const struct port *port, enum bcl_area which)
{
	enum bcl_device_part part = bcl_device_part(which);
	uint8_t *memory = __atomic_load_n(&port->part[part], __ATOMIC_RELAXED);

	return memory ? memory + bcl_device_area(&right_port, part, which)
		      : NULL;
}

static uint64_t address(struct fuzz_dice *dice, const struct file *file,
			uint32_t *length)
{
	uint32_t i = fuzz_below(dice, POOL);
	uint64_t offset = fuzz_below(dice, (uint32_t)own.size[i]);
	const struct port *port = &file->port[fuzz_below(dice, PORTS)];

	*length = (uint32_t)(own.size[i] - offset);
	if (!fuzz_one_in(dice, 8))
		*length = 1 + fuzz_below(dice, *length);
	switch (fuzz_below(dice, 20)) {
	case 0:
		return fuzz_next(dice);
	case 1:
		return (uintptr_t)port->part[BCL_DEVICE_SHOWN] + offset;
	case 2:
		*length = 1 + fuzz_below(dice, BCL_BLOCK_SIZE);
		return (uintptr_t)port->part[BCL_DEVICE_GIVEN] +
		       fuzz_below(dice, (uint32_t)part_size(BCL_DEVICE_GIVEN));
	case 3:
		*length = (uint32_t)fuzz_next(dice);
		break;
	case 4:
		return 0xffffffff80000000u + offset;
	}
	return (uintptr_t)own.memory[i] + offset;
}

static struct bcl_memref memref(struct fuzz_dice *dice, const struct file *file)
{
	struct bcl_memref ref = { .handle = BCL_HANDLE_SELF };

	ref.offset = address(dice, file, &ref.length);
	if (fuzz_one_in(dice, 2))
		ref.length = 1 + ref.length % 3000;
	if (fuzz_one_in(dice, 6)) {
		ref.handle = number(dice, 6);
		ref.offset = fuzz_below(dice, 100000);
	}
	return ref;
}

/* ---- calls ---- */

static long call(const struct file *file, unsigned long command, void *argument)
{
	long result = ioctl(file->fd, command, argument);

	own.job->table->calls[result < 0 ? 7 : result < 7 ? result : 6]++;
	return result;
}

static long call_spoiled(struct fuzz_dice *dice, const struct file *file,
			 unsigned long command, void *argument)
{
	if (fuzz_one_in(dice, 6))
		fuzz_spoil(dice, argument, _IOC_SIZE(command));
	return call(file, command, argument);
}

static void open_card(struct fuzz_dice *dice, struct file *file)
{
	const uint32_t side = (uint32_t)(file - own.file);
	const uint32_t place = own.job->place + side;
	struct bcl_device_open open = {
		.abi = BCL_CARD_ABI,
		.nends = 1,
		.incarnation = fuzz_next(dice),
		.peer_timeout = 200000000u << fuzz_below(dice, 4),
		.pcrc = fuzz_below(dice, 2),
		.admits = fuzz_below(dice, 2),
	};

	open.end[0].interface = if_nametoindex(own.job->interface[side]);
	open.end[0].address.kind = BCL_WIRE_PACKET;
	open.end[0].address.length = bcl_wire_length(BCL_WIRE_PACKET);
	if (call_spoiled(dice, file, BCL_DEVICE_OPEN, &open) != BCL_OK)
		return;
	file->card = open.card;
	own.job->table->cards[place].card = open.card;
	own.job->table->cards[place].end = open.end[0];
}

static void map_part(struct fuzz_dice *dice, struct file *file,
		     struct port *port, enum bcl_device_part part)
{
	const int wrong = fuzz_one_in(dice, 20);
	int rights =
		part == BCL_DEVICE_GIVEN ? PROT_READ | PROT_WRITE : PROT_READ;
	void *at = mmap(NULL, part_size(part),
			wrong ? (int)fuzz_below(dice, 8) : rights,
			fuzz_one_in(dice, 20) ? MAP_PRIVATE : MAP_SHARED,
			file->fd, (off_t)bcl_device_map(port->seat, part));

	if (at != MAP_FAILED && !wrong)
		port->part[part] = at;
}

static void open_port(struct fuzz_dice *dice, struct file *file)
{
	struct port *port = &file->port[fuzz_below(dice, PORTS)];
	struct bcl_device_port argument = {
		.number = number(dice, 4) + 1,
		.nrequests = REQUESTS,
		.nreceives = RECEIVES,
		.nblocks = BLOCKS,
		.nlongs = LONGS,
		.nchannels = CHANNELS,
		.wake = fuzz_one_in(dice, 2) ? eventfd(0, EFD_NONBLOCK) : -1,
	};
	int wake = argument.wake;

	if (fuzz_one_in(dice, 2))
		call(file, BCL_DEVICE_PORT_CLOSE,
		     (void *)(uintptr_t)port->seat);
	if (call_spoiled(dice, file, BCL_DEVICE_PORT_OPEN, &argument) ==
	    BCL_OK) {
		memset(port, 0, sizeof(*port));
		port->seat = argument.seat;
		map_part(dice, file, port, BCL_DEVICE_SHOWN);
		map_part(dice, file, port, BCL_DEVICE_GIVEN);
	}
	if (wake >= 0)
		close(wake);
}

static void connect_card(struct fuzz_dice *dice, const struct file *file)
{
	/* Cards at even places reach those at odd ones. */
	uint32_t i = fuzz_below(dice, FUZZ_CARDS / 2) * 2 + (file == own.file);
	const struct bcl_device_end *end = &own.job->table->cards[i].end;
	struct bcl_device_connect connect = {
		.card = own.job->table->cards[i].card,
		.nwires = 1,
		.nways = 1,
	};

	connect.wire[0] = end->address;
	call_spoiled(dice, file, BCL_DEVICE_CONNECT, &connect);
}

static void control_card(struct fuzz_dice *dice, const struct file *file)
{
	static const uint8_t ops[] = { BCL_CTL_POST, BCL_CTL_POST,
				       BCL_CTL_UNPOST, BCL_CTL_ISOLATE,
				       BCL_CTL_REJOIN };
	struct bcl_control control = { .op = ops[fuzz_below(dice, 5)] };
	uint32_t length;

	if (control.op == BCL_CTL_ISOLATE && !fuzz_one_in(dice, 10))
		control.op = BCL_CTL_REJOIN;
	if (control.op == BCL_CTL_ISOLATE || control.op == BCL_CTL_REJOIN) {
		control.node = number(dice, 4);
	} else {
		control.channel.port = number(dice, 4) + 1;
		control.channel.number = number(dice, CHANNELS);
		control.channel.generation = (uint16_t)fuzz_below(dice, 3);
		control.channel.reading = (uint16_t)fuzz_below(dice, 2);
		control.channel.offset = address(dice, file, &length);
		control.channel.length = length;
	}
	call_spoiled(dice, file, BCL_DEVICE_CONTROL, &control);
}

static void name_memory(struct fuzz_dice *dice, const struct file *file)
{
	struct bcl_device_memory memory = {
		.base = fuzz_below(dice, 2) << 20,
		.handle = 1 + number(dice, 5),
		.rights = number(dice, 8),
	};
	uint32_t length;

	if (fuzz_one_in(dice, 3)) {
		call(file, BCL_DEVICE_MEMORY_REMOVE,
		     (void *)(uintptr_t)memory.handle);
		return;
	}
	memory.address = address(dice, file, &length);
	memory.length = fuzz_one_in(dice, 20) ? 0 : length;
	call_spoiled(dice, file, BCL_DEVICE_MEMORY, &memory);
}

/* Processes have their memory at the same addresses. */
static void copy_between(struct fuzz_dice *dice, const struct file *file)
{
	uint32_t i = fuzz_below(dice, FUZZ_CARDS), length, other;
	struct bcl_device_copy copy = {
		.card = own.job->table->cards[i].card,
		.local = address(dice, file, &length),
		.remote = address(dice, file, &other),
		.length = length < other ? length : other,
		.write = number(dice, 2),
	};

	call_spoiled(dice, file, BCL_DEVICE_COPY, &copy);
}

static void ask(struct fuzz_dice *dice, const struct file *file)
{
	union {
		struct bcl_device_node node;
		struct bcl_device_node_info info;
		struct bcl_device_counters counters;
		struct bcl_device_open open;
		uint8_t bytes[4096];
	} argument = { .node = { .index = number(dice, 8) } };
	uint32_t length;

	switch (fuzz_below(dice, 7)) {
	case 0:
		call(file, BCL_DEVICE_NODE, &argument);
		break;
	case 1:
		call(file, BCL_DEVICE_NODE_INFO, &argument);
		break;
	case 2:
		call(file, BCL_DEVICE_COUNTERS, &argument);
		break;
	case 3:
		call(file, BCL_DEVICE_BARRIER, NULL);
		break;
	case 4:
		call(file, BCL_DEVICE_WATCH, &argument);
		break;
	case 5:
		call(file, BCL_DEVICE_PORT_CLOSE,
		     (void *)(uintptr_t)number(dice, 16));
		break;
	default: /* any number, to the right place or a wrong one */
		length = (uint32_t)_IOC(fuzz_below(dice, 4), 'b',
					fuzz_below(dice, 20),
					fuzz_below(dice, 1024));
		call(file, length,
		     fuzz_one_in(dice, 2)
			     ? (void *)argument.bytes
			     : (void *)address(dice, file, &length));
	}
}

/* ---- requests and events ---- */

static struct bcl_request request(struct fuzz_dice *dice,
				  const struct file *file)
{
	static const uint8_t ops[] = {
		BCL_REQ_SYSTEM, BCL_REQ_SYSTEM,	    BCL_REQ_SYSTEM,
		BCL_REQ_SYSTEM, BCL_REQ_SYSTEM,	    BCL_REQ_CHANNEL,
		BCL_REQ_PUT,	BCL_REQ_PUT_NOTIFY, BCL_REQ_GET,
		BCL_REQ_GET,	BCL_REQ_FETCH_ADD,  BCL_REQ_COMPARE_SWAP,
		BCL_REQ_FENCE,
	};
	struct bcl_device_node node = { .index = fuzz_below(dice, 3) };
	struct bcl_request request = {
		.op = ops[fuzz_below(dice, sizeof(ops))],
		.type = (uint8_t)fuzz_below(dice, 3),
		.dst_port = (uint16_t)(1 + number(dice, 4)),
		.node = node.index,
		.targ64 = (fuzz_below(dice, 2) << 20) + fuzz_below(dice, 9000),
		.inline_len = (uint16_t)number(dice, 161),
		.nref = (uint16_t)number(dice, 4),
	};
	unsigned i;

	call(file, BCL_DEVICE_NODE, &node);
	request.generation = node.generation;
	request.target = fuzz_one_in(dice, 2)
				 ? 1 + fuzz_below(dice, 5)
				 : fuzz_below(dice, CHANNELS) |
					   fuzz_below(dice, 3) << 16;
	if (request.op == BCL_REQ_GET)
		request.inline_len = 0;
	if (request.op == BCL_REQ_FETCH_ADD)
		request.inline_len = 8;
	if (request.op == BCL_REQ_COMPARE_SWAP)
		request.inline_len = 16;
	if (request.op == BCL_REQ_GET || request.inline_len < 17)
		request.nref = 1;
	request.length = request.op == BCL_REQ_GET ? 0 : request.inline_len;
	for (i = 0; i < BCL_REQUEST_REFS; i++) {
		request.refs[i] = memref(dice, file);
		if (request.op == BCL_REQ_SYSTEM)
			request.refs[i].length %= BCL_LONG_SIZE / 3;
		if (i < request.nref)
			request.length += request.refs[i].length;
	}
	if (fuzz_one_in(dice, 12))
		fuzz_spoil(dice, &request, sizeof(request));
	return request;
}

/* Any thread may spoil what another has just written. */
static void submit(struct fuzz_dice *dice, const struct file *file,
		   struct port *port)
{
	struct bcl_request *requests = area(port, BCL_AREA_REQUESTS);
	struct bcl_port_indices *indices = area(port, BCL_AREA_INDICES);
	uint32_t n = 1 + fuzz_below(dice, 6), slot;

	if (!requests || !indices)
		return;
	while (n--) {
		slot = number(dice, REQUESTS);
		if (slot < REQUESTS)
			requests[slot] = request(dice, file);
		bcl_submits(requests, REQUESTS)[port->made++ % REQUESTS] = slot;
	}
	__atomic_store_n(&indices->requests_made, port->made, __ATOMIC_RELEASE);
	if (fuzz_one_in(dice, 30))
		indices->requests_made += number(dice, 20);
	call(file, BCL_DEVICE_DOORBELL,
	     (void *)(uintptr_t)(fuzz_one_in(dice, 30) ? number(dice, 16)
						       : port->seat));
}

/* Read new events of a queue. Returns how many tell of success. */
static uint32_t read_events(struct port *port, enum bcl_area which, uint32_t n,
			    uint32_t *seen)
{
	const struct bcl_completion *queue = area(port, which), *entry;
	uint32_t good = 0;

	while (queue && (entry = &queue[*seen % n])->lap == 1 + *seen / n) {
		good += entry->status == BCL_OK;
		if (entry->kind == BCL_CQ_SYSTEM &&
		    entry->length > BCL_BLOCK_SIZE)
			port->longs++;
		else if (entry->kind == BCL_CQ_SYSTEM ||
			 entry->kind == BCL_CQ_NOTIFY)
			port->blocks++;
		++*seen;
	}
	return good;
}

static void receive(struct fuzz_dice *dice, struct port *port)
{
	struct bcl_port_indices *indices = area(port, BCL_AREA_INDICES);
	uint8_t *requests = area(port, BCL_AREA_REQUESTS);
	struct fuzz_table *table = own.job->table;

	if (!indices || !requests)
		return;
	table->received +=
		read_events(port, BCL_AREA_RECEIVES, RECEIVES, &port->received);
	table->sent += read_events(port, BCL_AREA_SENDS, REQUESTS, &port->sent);
	indices->blocks_freed = port->blocks;
	indices->longs_freed = port->longs;
	indices->sleeping = fuzz_below(dice, 2);
	bcl_postings(indices)[fuzz_below(dice, CHANNELS)]++;
	if (!fuzz_one_in(dice, 200))
		return;
	indices->blocks_freed = (uint32_t)fuzz_next(dice);
	indices->longs_freed = (uint32_t)fuzz_next(dice);
	fuzz_spoil(dice, requests, part_size(BCL_DEVICE_GIVEN) - PAGE);
}

/* ---- memory ---- */

static int make_file(size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);

	if (ftruncate(fd, (off_t)size))
		exit(1);
	return fd;
}

/* Unmap the beginning of a piece, and leave no room where another thread would
 * get its mapping. */
static void unmap(uint32_t i, size_t size)
{
	if (mmap(own.memory[i], size, PROT_NONE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
		 0) == MAP_FAILED)
		exit(1);
}

static void remake_memory(struct fuzz_dice *dice, uint32_t i)
{
	size_t size = (1 + fuzz_below(dice, 40)) * PAGE;
	int rights = fuzz_one_in(dice, 6) ? PROT_READ : PROT_READ | PROT_WRITE;
	int fd = -1, flags = MAP_PRIVATE | MAP_ANONYMOUS;

	if (fuzz_one_in(dice, 4))
		size = MOST;
	if (fuzz_one_in(dice, 4)) {
		fd = make_file(size);
		flags = MAP_SHARED;
	}
	if (mmap(own.memory[i], size, rights, flags | MAP_FIXED, fd, 0) ==
	    MAP_FAILED)
		exit(1);
	if (fd >= 0)
		close(fd);
	own.size[i] = size;
}

/* Move the pages of a piece to the addresses of another. */
static void move_memory(uint32_t i, uint32_t to)
{
	if (i != to && mremap(own.memory[i], own.size[i], own.size[i],
			      MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP,
			      own.memory[to]) != MAP_FAILED)
		own.size[to] = own.size[i];
}

static void change_memory(struct fuzz_dice *dice, struct file *file)
{
	static const int advice[] = { MADV_DONTNEED, MADV_FREE,
				      MADV_HUGEPAGE, MADV_NOHUGEPAGE,
				      MADV_DONTFORK, MADV_REMOVE };
	uint32_t i = fuzz_below(dice, POOL);
	size_t some =
		(1 + fuzz_below(dice, (uint32_t)(own.size[i] / PAGE))) * PAGE;
	struct port *port = &file->port[fuzz_below(dice, PORTS)];
	void *at;

	switch (fuzz_below(dice, 8)) {
	case 0:
		unmap(i, some);
		break;
	case 1:
		mprotect(own.memory[i], some,
			 (int)fuzz_below(dice, PROT_READ | PROT_WRITE) + 1);
		break;
	case 2:
		move_memory(i, fuzz_below(dice, POOL));
		break;
	case 3:
	case 4:
		remake_memory(dice, i);
		break;
	case 5: /* parts of ports do not split, move or end in the middle */
		at = port->part[fuzz_below(dice, 2)];
		if (at && fuzz_one_in(dice, 2))
			munmap(at, PAGE);
		else if (at)
			mremap(at, PAGE, 2 * PAGE, MREMAP_MAYMOVE);
		break;
	default:
		madvise(own.memory[i], some, advice[fuzz_below(dice, 6)]);
	}
}

/* ---- processes ---- */

static void act(struct fuzz_dice *dice, struct file *file);

/* A child has the files, and may not use their cards. */
static void beget(struct fuzz_dice *dice)
{
	const uint64_t seed = fuzz_next(dice);
	struct fuzz_dice of_child = fuzz_dice_of(seed);
	uint32_t n = fuzz_below(dice, 8), i;
	pid_t pid = fork();

	if (pid < 0)
		return;
	if (pid) {
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
		return;
	}
	alarm(1);
	for (i = 0; i < FILES; i++) /* mappings of the card stay behind */
		memset(own.file[i].port, 0, sizeof(own.file[i].port));
	while (n--)
		act(&of_child, &own.file[fuzz_below(&of_child, FILES)]);
	if (fuzz_one_in(&of_child, 3))
		execl("/bin/true", "true", NULL);
	_exit(0);
}

static void reopen(struct file *file)
{
	close(file->fd);
	file->fd = open(BCL_DEVICE_PATH, O_RDWR);
	file->card = 0;
}

static void act(struct fuzz_dice *dice, struct file *file)
{
	struct port *port = &file->port[fuzz_below(dice, PORTS)];
	uint32_t which = fuzz_below(dice, 200);

	if (!file->card || fuzz_one_in(dice, 500))
		open_card(dice, file);
	else if (fuzz_one_in(dice, 2000))
		reopen(file);
	else if (fuzz_one_in(dice, 500))
		beget(dice);
	else if (which < 15)
		open_port(dice, file);
	else if (which < 30)
		connect_card(dice, file);
	else if (which < 55)
		control_card(dice, file);
	else if (which < 75)
		name_memory(dice, file);
	else if (which < 80)
		copy_between(dice, file);
	else if (which < 95)
		ask(dice, file);
	else if (which < 110)
		change_memory(dice, file);
	else if (which < 150)
		submit(dice, file, port);
	else
		receive(dice, port);
}

static void *run_thread(void *arg)
{
	struct fuzz_dice *dice = arg;

	for (;;)
		act(dice, &own.file[fuzz_below(dice, FILES)]);
	return NULL;
}

void fuzz_calls(const struct fuzz_job *job)
{
	struct fuzz_dice dice[THREADS];
	uint32_t life, i;
	pthread_t thread;

	own.job = job;
	for (i = 0; i < THREADS; i++)
		dice[i] = fuzz_dice_of(job->seed * THREADS + i);
	for (i = 0; i < POOL; i++) {
		own.memory[i] = mmap(NULL, MOST, PROT_NONE,
				     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		remake_memory(&dice[0], i);
	}
	for (i = 0; i < FILES; i++)
		own.file[i].fd = open(BCL_DEVICE_PATH, O_RDWR);
	for (i = 1; i < THREADS; i++)
		if (pthread_create(&thread, NULL, run_thread, &dice[i]))
			exit(1);
	for (life = 1000 + fuzz_below(&dice[0], 20000); life--;)
		act(&dice[0], &own.file[fuzz_below(&dice[0], FILES)]);
	_exit(0);
}
