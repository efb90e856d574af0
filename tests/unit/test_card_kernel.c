/* SPDX-License-Identifier: MIT */
/*
 * The card in the kernel, without a kernel module: the test has its own open(),
 * ioctl() and mlock2(), and a file of memory serves as the device. The test
 * finds the library's calls of the device, and the library's choice of a card.
 */
#include "unit.h"

#include <errno.h>
#include <linux/fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bcl/bcl.h>

#include "card/kernel/kernel.h"
#include "card/memory.h"
#include "env/env.h"
#include "need.h"
#include "transport/card/card.h"
#include "transport/card/queues.h"
#include "transport/port.h"
#include "wire/address.h"

/* Without the headers of the C library, where both may be inline. */
int open(const char *path, int flags, ...);
int fcntl(int fd, int command, ...);

enum {
	CARD = 0xcafe,
	SEAT = 3,
	MTU = 1368,
	UDP_PORT = 77, /* low byte */
	STATE = BCL_NODE_CONNECTING,
};

/* ---- the device ---- */

static struct device {
	int error; /* errno of open(); 0: there is a device */
	int fd;
	unsigned opens;
	int no_call;		/* errno of OPEN */
	enum bcl_status status; /* of OPEN */
	bool refuses;		/* all ends */
	bool limited;		/* no memory may be locked */
	enum bcl_status room;	/* of MEMORY */
	int no_room;		/* errno of MEMORY */
	enum bcl_status obeys;	/* of CONTROL */
	/* arguments of the library's calls: */
	struct bcl_device_open opened;
	struct bcl_device_port port;
	struct bcl_device_connect connect;
	struct bcl_device_memory memory;
	struct bcl_control control;
	unsigned controls;
	unsigned long rung, closed, removed;
	unsigned barriers;
	/* results of the library's calls: */
	struct bcl_device_node node;
	bool end_up;
} device = { .error = ENOENT, .fd = -1, .end_up = true };

static struct bcl_context *context;

int mlock2(const void *memory, size_t size, unsigned flags)
{
	(void)memory;
	(void)size;
	need(flags == MLOCK_ONFAULT);
	errno = ENOMEM;
	return device.limited ? -1 : 0;
}

/* Room for the news, and for the parts of a port at SEAT. */
static int make_device(void)
{
	int fd = memfd_create("bcl-device", MFD_CLOEXEC);

	need(fd >= 0);
	need(!ftruncate(fd, (off_t)bcl_device_map(SEAT + 1, 0)));
	return fd;
}

int open(const char *path, int flags, ...)
{
	va_list args;
	int mode;

	va_start(args, flags);
	mode = flags & O_CREAT ? va_arg(args, int) : 0;
	va_end(args);
	if (strcmp(path, BCL_DEVICE_PATH))
		return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
	device.opens++;
	if (device.error) {
		errno = device.error;
		return -1;
	}
	need(flags & O_CLOEXEC);
	device.fd = make_device();
	return device.fd;
}

static int answer_open(struct bcl_device_open *open)
{
	unsigned e;

	if (device.no_call) {
		errno = device.no_call;
		return -1;
	}
	need_equal(open->abi, BCL_CARD_ABI);
	for (e = 0; e < open->nends; e++) {
		struct bcl_device_end *end = &open->end[e];

		end->refused = device.refuses ? EPROTONOSUPPORT : 0;
		end->mtu = MTU;
		end->up = 1;
		end->address.bytes[5] = UDP_PORT;
	}
	open->card = CARD;
	device.opened = *open;
	return device.refuses ? BCL_ERR_NORAIL : device.status;
}

/* True if the table names the memory while the device hears of it. */
static bool is_entered(uint32_t handle)
{
	return bcl_memory_find(&context->memories, handle) != NULL;
}

static int answer(unsigned long call, unsigned long number)
{
	void *argument = (void *)number;
	unsigned e;

	switch (call) {
	case BCL_DEVICE_OPEN:
		return answer_open(argument);
	case BCL_DEVICE_PORT_OPEN:
		device.port = *(struct bcl_device_port *)argument;
		((struct bcl_device_port *)argument)->seat = SEAT;
		return BCL_OK;
	case BCL_DEVICE_PORT_CLOSE:
		device.closed = number;
		return BCL_OK;
	case BCL_DEVICE_DOORBELL:
		device.rung = number;
		return BCL_OK;
	case BCL_DEVICE_CONTROL:
		device.control = *(struct bcl_control *)argument;
		device.controls++;
		return device.obeys;
	case BCL_DEVICE_CONNECT:
		device.connect = *(struct bcl_device_connect *)argument;
		((struct bcl_device_connect *)argument)->index = 5;
		return BCL_OK;
	case BCL_DEVICE_NODE:
		need_equal(((struct bcl_device_node *)argument)->index, 5);
		*(struct bcl_device_node *)argument = device.node;
		return BCL_OK;
	case BCL_DEVICE_MEMORY:
		device.memory = *(struct bcl_device_memory *)argument;
		need(is_entered(device.memory.handle));
		errno = device.no_room;
		return device.no_room ? -1 : (int)device.room;
	case BCL_DEVICE_MEMORY_REMOVE:
		need(is_entered((uint32_t)number));
		device.removed = number;
		return BCL_OK;
	case BCL_DEVICE_COUNTERS:
		memset(argument, 0, sizeof(struct bcl_device_counters));
		((struct bcl_device_counters *)argument)->card[0] = 77;
		return BCL_OK;
	case BCL_DEVICE_BARRIER:
		device.barriers++;
		return BCL_OK;
	case BCL_DEVICE_WATCH:
		for (e = 0; e < device.opened.nends; e++)
			((struct bcl_device_open *)argument)->end[e].up =
				device.end_up;
		return BCL_OK;
	default:
		errno = ENOTTY;
		return -1;
	}
}

int ioctl(int fd, unsigned long call, ...)
{
	unsigned long number;
	va_list args;

	va_start(args, call);
	number = va_arg(args, unsigned long);
	va_end(args);
	if (fd < 0 || fd != device.fd || _IOC_TYPE(call) != 'b')
		return (int)syscall(SYS_ioctl, fd, call, number);
	return answer(call, number);
}

/* ---- contexts ---- */

static char last[512]; /* of the warnings and errors */
static unsigned lines;

static void log_line(void *world, const struct bcl_log_line *line)
{
	(void)world;
	if (line->level > BCL_LOG_WARN)
		return;
	snprintf(last, sizeof(last), "%s", line->text);
	lines++;
}

/* Open a context with this BCL_CARD. */
static enum bcl_status open_context(const char *setting)
{
	static struct bcl_env env;

	env = bcl_env_linux;
	env.log = log_line;
	setenv("BCL_RAILS", "udp", 1);
	setenv("BCL_NET", "lo", 1);
	setenv("BCL_HELPER", "off", 1);
	setenv("BCL_CARD", setting, 1);
	lines = 0;
	last[0] = 0;
	device.opens = 0;
	return bcl_context_open(&env, NULL, -1, &context);
}

/* "auto" takes the card in the process without a word, after this many
 * openings of the device. */
static void need_fallback(const char *why, unsigned opens)
{
	ck_assert_int_eq(open_context("auto"), BCL_OK);
	ck_assert_ptr_eq(context->card->ops, &bcl_host_inproc);
	ck_assert_ptr_nonnull(strstr(context->which_card, "in the process"));
	ck_assert_ptr_nonnull(strstr(context->which_card, why));
	ck_assert_uint_eq(device.opens, opens);
	ck_assert_uint_eq(lines, 0);
	bcl_close(context);
}

/* "kernel" fails, and the log has the cause and the cure. */
static void need_refusal(enum bcl_status status, const char *why)
{
	ck_assert_int_eq(open_context("kernel"), status);
	ck_assert_uint_eq(lines, 1);
	ck_assert_ptr_nonnull(strstr(last, "BCL_CARD=kernel"));
	ck_assert_ptr_nonnull(strstr(last, why));
	ck_assert_ptr_nonnull(strstr(last, "BCL_CARD=auto"));
}

START_TEST(no_device)
{
	need_fallback("not loaded", 1);
	need_refusal(BCL_ERR_UNSUPPORTED, "module bcl is not loaded");
}
END_TEST

START_TEST(no_access)
{
	device.error = EACCES;
	need_fallback("Permission denied", 1);
	need_refusal(BCL_ERR_PERM, "the administrator must let you");
}
END_TEST

START_TEST(process_never_looks)
{
	device.error = 0;
	ck_assert_int_eq(open_context("process"), BCL_OK);
	ck_assert_ptr_eq(context->card->ops, &bcl_host_inproc);
	ck_assert_uint_eq(device.opens, 0);
	bcl_close(context);
}
END_TEST

START_TEST(another_version)
{
	device.error = 0;
	device.status = BCL_ERR_VERSION;
	need_fallback("different versions", 1);
	need_refusal(BCL_ERR_VERSION, "build both from one source");
	device.no_call = ENOTTY;
	need_fallback("different versions", 1);
	need_refusal(BCL_ERR_VERSION, "build both from one source");
}
END_TEST

START_TEST(too_many_cards_of_the_user)
{
	device.error = 0;
	device.no_call = EDQUOT;
	need_fallback("limits the cards of a user", 1);
	need_refusal(BCL_ERR_NOMEM, "limits the cards of a user");
}
END_TEST

START_TEST(no_end_is_taken)
{
	device.error = 0;
	device.refuses = true;
	need_fallback(strerror(EPROTONOSUPPORT), 1);
	need_refusal(BCL_ERR_SYSTEM, strerror(EPROTONOSUPPORT));
}
END_TEST

START_TEST(faults_need_the_process)
{
	device.error = 0;
	setenv("BCL_FAULT", "dup:1%", 1);
	ck_assert_int_eq(open_context("auto"), BCL_OK);
	ck_assert_ptr_eq(context->card->ops, &bcl_host_inproc);
	ck_assert_ptr_nonnull(strstr(context->which_card, "BCL_FAULT"));
	ck_assert_uint_eq(device.opens, 0);
	bcl_close(context);
	need_refusal(BCL_ERR_UNSUPPORTED, "BCL_FAULT");
}
END_TEST

/* A message that the kernel cannot keep in place would fail. */
START_TEST(auto_needs_locked_memory)
{
	device.error = 0;
	device.limited = true;
	need_fallback("ulimit -l", 1);
	ck_assert_int_eq(open_context("kernel"), BCL_OK);
	ck_assert_ptr_eq(context->card->ops, &bcl_host_kernel);
	bcl_close(context);
}
END_TEST

START_TEST(auto_takes_the_kernel)
{
	device.error = 0;
	ck_assert_int_eq(open_context("auto"), BCL_OK);
	ck_assert_ptr_eq(context->card->ops, &bcl_host_kernel);
	ck_assert_str_eq(context->which_card, "in the kernel");
	ck_assert_uint_eq(lines, 0);
	bcl_close(context);
	unsetenv("BCL_CARD"); /* the same is the default */
	ck_assert_int_eq(bcl_context_open(&bcl_env_linux, NULL, -1, &context),
			 BCL_OK);
	ck_assert_ptr_eq(context->card->ops, &bcl_host_kernel);
	bcl_close(context);
}
END_TEST

static void open_on_device(void)
{
	device.error = 0;
	ck_assert_int_eq(open_context("kernel"), BCL_OK);
	ck_assert_uint_eq(lines, 0);
}

START_TEST(a_context)
{
	_Atomic uint64_t values[BCL_CARD_NCOUNTERS];
	const struct bcl_host *host;
	const uint32_t changes = 9;

	open_on_device();
	host = context->card;
	ck_assert_ptr_eq(host->ops, &bcl_host_kernel);
	ck_assert_str_eq(context->which_card, "in the kernel");
	ck_assert_uint_eq(context->card_id, CARD);
	ck_assert_uint_eq(device.opened.nends, 1);
	ck_assert_uint_eq(host->nends, 1);
	ck_assert_str_eq(host->end[0].interface, "lo");
	ck_assert_uint_eq(host->end[0].address.length, 6);
	ck_assert_uint_eq(host->end[0].address.bytes[5], UDP_PORT);
	ck_assert_uint_eq(device.opened.peer_timeout,
			  context->config.peer_timeout);
	/* The library waits for nothing but wake-ups. */
	ck_assert(atomic_load(&host->deadline) == UINT64_MAX);
	ck_assert_uint_eq(atomic_load(&host->alive), 0);
	ck_assert_uint_eq(host->ops->poll(context->card, NULL, true), 0);
	ck_assert_int_eq(pwrite(device.fd, &changes, sizeof(changes), 0), 4);
	ck_assert_uint_eq(atomic_load(host->changes), changes);
	host->ops->counters(context->card, values);
	ck_assert_uint_eq(values[0], 77);
	/* A change of the interface is told once. */
	device.end_up = false;
	host->ops->watch(context->card);
	host->ops->watch(context->card);
	ck_assert_uint_eq(lines, 1);
	ck_assert_str_eq(last, "rail 0, udp on lo, is down");
	bcl_close(context);
	ck_assert_int_lt(fcntl(device.fd, F_GETFD), 0);
}
END_TEST

/* True if the process may write to the memory. */
static bool is_writable(void *memory)
{
	int fds[2], got;

	need(!pipe(fds));
	need(write(fds[1], "", 1) == 1);
	got = (int)read(fds[0], memory, 1);
	need(got == 1 || errno == EFAULT);
	close(fds[0]);
	close(fds[1]);
	return got == 1;
}

START_TEST(a_port)
{
	struct bcl_control post = { .op = BCL_CTL_POST };
	const struct bcl_host_port *queues;
	struct bcl_port *port;

	open_on_device();
	ck_assert_int_eq(bcl_port_open(context, NULL, &port), BCL_OK);
	queues = port->card;
	ck_assert_uint_eq(device.port.number, port->number);
	ck_assert_uint_eq(device.port.nrequests, context->config.requests);
	ck_assert_uint_eq(device.port.nlongs, bcl_host_inproc.longs);
	ck_assert_int_eq(device.port.wake, port->object);
	ck_assert(is_writable(queues->requests));
	ck_assert(is_writable(queues->indices));
	ck_assert(is_writable(queues->bounce));
	ck_assert(!is_writable(queues->blocks));
	queues->doorbell(queues->host, queues->seat);
	ck_assert_uint_eq(device.rung, SEAT);
	post.channel.cookie = 11;
	device.obeys = BCL_ERR_EMPTY;
	ck_assert_int_eq(
		queues->host->ops->control(queues->host, queues->seat, &post),
		BCL_ERR_EMPTY);
	ck_assert_uint_eq(device.control.channel.cookie, 11);
	device.barriers = 0;
	bcl_host_sleep(port, true);
	ck_assert_uint_eq(device.barriers, 1);
	bcl_port_close(port);
	ck_assert_uint_eq(device.closed, SEAT);
	bcl_close(context);
}
END_TEST

/* ---- channels ---- */

static uint8_t buffer[100], other[100];
static uint32_t written; /* entries of `receives` */

/* Writes to the part that the process can only read. */
static void write_shown(const struct bcl_port *port, const void *to,
			const void *from, size_t size)
{
	ptrdiff_t at = (const uint8_t *)to -
		       (const uint8_t *)port->card->sends.entries;

	need(pwrite(device.fd, from, size,
		    (off_t)bcl_device_map(SEAT, BCL_DEVICE_SHOWN) + at) ==
	     (ssize_t)size);
}

static void complete(const struct bcl_port *port, uint8_t kind, uint32_t again)
{
	const struct bcl_completion entry = {
		.kind = kind, .index = 1, .card = 0xabc, .node = 5, .lap = 1
	};

	device.node =
		(struct bcl_device_node){ .state = BCL_NODE_UP, .card = 0xabc };
	write_shown(port, (const void *)&port->card->again[1], &again,
		    sizeof(again));
	write_shown(port, &port->card->receives.entries[written++], &entry,
		    sizeof(entry));
}

/* A message has filled the channel, which may be posted by the word. */
static void expect_filled(struct bcl_port *port, uint64_t cookie)
{
	struct bcl_event event = { .kind = BCL_EVENT_PEER };

	complete(port, BCL_CQ_CHANNEL, 1);
	while (event.kind == BCL_EVENT_PEER) /* its peer is new */
		if (bcl_poll(port, &event))
			need(event.kind == BCL_EVENT_PEER);
	need_equal(event.kind, BCL_EVENT_CHANNEL);
	need_equal(event.cookie, cookie);
	need_equal(event.immediate, 0);
}

static void post_again(struct bcl_port *port, uint64_t cookie,
		       unsigned controls)
{
	device.controls = 0;
	need_equal(bcl_post(port, 1, buffer, sizeof(buffer), cookie), BCL_OK);
	need_equal(device.controls, controls);
	need_equal(bcl_post(port, 1, buffer, sizeof(buffer), 0), BCL_ERR_BUSY);
}

static struct bcl_port *open_filled(void)
{
	struct bcl_port *port;

	open_on_device();
	ck_assert_int_eq(bcl_port_open(context, NULL, &port), BCL_OK);
	post_again(port, 1, 1);
	expect_filled(port, 1);
	return port;
}

START_TEST(a_channel_is_posted_again)
{
	struct bcl_port *port = open_filled();

	post_again(port, 2, 0);
	ck_assert_uint_eq(port->card->postings[1], 1);
	expect_filled(port, 2);
	/* other memory, and the first of it again */
	ck_assert_int_eq(bcl_post(port, 1, other, sizeof(other), 3), BCL_OK);
	ck_assert_uint_eq(device.controls, 1);
	expect_filled(port, 3);
	ck_assert_int_eq(bcl_post(port, 1, other, 1, 3), BCL_OK);
	ck_assert_uint_eq(device.controls, 2);
	expect_filled(port, 3);
	post_again(port, 4, 1);
	expect_filled(port, 4);
	/* taken back by a call */
	post_again(port, 5, 0);
	ck_assert_int_eq(bcl_unpost(port, 1), BCL_OK);
	ck_assert_uint_eq(device.control.op, BCL_CTL_UNPOST);
	post_again(port, 6, 0);
	ck_assert_uint_eq(port->card->postings[1], 3);
	expect_filled(port, 6);
	bcl_port_close(port);
	bcl_close(context);
}
END_TEST

/* The card asks for a call in place of the word. */
START_TEST(a_channel_is_posted_anew)
{
	struct bcl_port *port = open_filled();
	struct bcl_event event;

	post_again(port, 2, 0);
	complete(port, BCL_CQ_REPOST, 0);
	ck_assert_int_eq(bcl_poll(port, &event), BCL_ERR_EMPTY);
	ck_assert_uint_eq(device.controls, 1);
	ck_assert_uint_eq(device.control.op, BCL_CTL_POST);
	ck_assert(device.control.channel.offset == (uintptr_t)buffer);
	ck_assert_uint_eq(device.control.channel.length, sizeof(buffer));
	expect_filled(port, 2);
	/* The user hears where the call fails. */
	post_again(port, 3, 0);
	complete(port, BCL_CQ_REPOST, 0);
	device.obeys = BCL_ERR_NOMEM;
	ck_assert_int_eq(bcl_poll(port, &event), BCL_OK);
	ck_assert_int_eq(event.kind, BCL_EVENT_CHANNEL);
	ck_assert_int_eq(event.status, BCL_ERR_NOMEM);
	ck_assert_uint_eq(event.cookie, 3);
	ck_assert_uint_eq(event.length, 0);
	device.obeys = BCL_OK;
	post_again(port, 4, 1);
	expect_filled(port, 4);
	/* The channel was taken back before, and posted by a call. */
	post_again(port, 5, 0);
	complete(port, BCL_CQ_REPOST, 0);
	ck_assert_int_eq(bcl_unpost(port, 1), BCL_OK);
	post_again(port, 6, 1);
	ck_assert_int_eq(bcl_poll(port, &event), BCL_ERR_EMPTY);
	ck_assert_uint_eq(device.controls, 1);
	expect_filled(port, 6);
	bcl_port_close(port);
	bcl_close(context);
}
END_TEST

START_TEST(memory)
{
	static uint8_t bytes[4096];
	struct bcl_memory *first, *second;
	uint32_t slot;

	open_on_device();
	ck_assert_int_eq(bcl_memory_register(context, bytes, sizeof(bytes),
					     BCL_REMOTE_READ, &first),
			 BCL_OK);
	ck_assert(device.memory.address == (uintptr_t)bytes);
	ck_assert_uint_eq(device.memory.length, sizeof(bytes));
	ck_assert_uint_eq(device.memory.base, first->base);
	ck_assert_uint_eq(device.memory.handle, first->handle);
	ck_assert_uint_eq(device.memory.rights, BCL_MEM_REMOTE_READ);
	/* A memory that the card cannot have leaves no trace. */
	device.room = BCL_ERR_NOMEM;
	ck_assert_int_eq(
		bcl_memory_register(context, bytes, sizeof(bytes), 0, &second),
		BCL_ERR_NOMEM);
	ck_assert_ptr_nonnull(strstr(last, "4096 bytes"));
	slot = device.memory.handle;
	ck_assert(!is_entered(slot));
	device.room = BCL_OK;
	device.no_room = EDQUOT;
	ck_assert_int_eq(
		bcl_memory_register(context, bytes, sizeof(bytes), 0, &second),
		BCL_ERR_NOMEM);
	ck_assert_ptr_nonnull(strstr(last, "user_pages"));
	ck_assert(!is_entered(slot));
	device.no_room = 0;
	ck_assert_int_eq(
		bcl_memory_register(context, bytes, sizeof(bytes), 0, &second),
		BCL_OK);
	ck_assert_uint_eq(second->handle & 0xffff, slot & 0xffff);
	ck_assert_uint_ne(second->handle, slot);
	slot = first->handle;
	bcl_memory_release(first);
	ck_assert_uint_eq(device.removed, slot);
	ck_assert(!is_entered(slot));
	bcl_close(context);
	ck_assert_uint_ne(device.removed, slot);
}
END_TEST

START_TEST(a_forked_child_has_no_card)
{
	struct bcl_port *port;
	int status;
	pid_t child;

	open_on_device();
	child = fork();
	if (!child) {
		need(fcntl(device.fd, F_GETFD) < 0);
		need_equal(bcl_port_open(context, NULL, &port), BCL_ERR_FORKED);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert_int_eq(status, 0);
	bcl_close(context);
}
END_TEST

/* ---- ends and nodes ---- */

static struct bcl_kernel made; /* not opened */

/* A card that has refused the first of its three ends. */
static struct bcl_host *make_host(void)
{
	struct bcl_device_open open = { .nends = 3 };
	unsigned e;

	for (e = 0; e < open.nends; e++) {
		open.end[e].address.kind = e ? BCL_WIRE_UDP4 : BCL_WIRE_PACKET;
		open.end[e].rail = (uint8_t)e;
		open.end[e].address.length = 6;
		open.end[e].address.bytes[3] = (uint8_t)e;
		snprintf(made.interface[e], sizeof(made.interface[e]), "eth%u",
			 e);
	}
	open.end[0].refused = ENETDOWN;
	bcl_kernel_show_ends(&made, &open);
	made.fd = device.fd = make_device();
	return &made.base;
}

START_TEST(a_refused_end_is_left_out)
{
	const struct bcl_host *host = make_host();

	ck_assert_uint_eq(host->nends, 2);
	ck_assert_uint_eq(host->nlines, 3);
	ck_assert_ptr_nonnull(strstr(host->line[0], "packet on eth0"));
	ck_assert_ptr_nonnull(strstr(host->line[0], strerror(ENETDOWN)));
	ck_assert_str_eq(host->end[0].interface, "eth1");
	ck_assert_uint_eq(host->end[0].address.bytes[3], 1);
	ck_assert_uint_eq(host->end[1].rail, 2);
}
END_TEST

static enum bcl_status connect_node(struct bcl_host *host,
				    struct bcl_host_node *node)
{
	const struct bcl_address address = {
		.card = 0xabc,
		.nwires = 2,
		.wire = { { BCL_WIRE_UDP4, 6, { 1 } },
			  { BCL_WIRE_UDP4, 6, { 2 } } },
	};
	const struct bcl_host_way ways[] = { { 1, 0 }, { 0, 1 } };
	uint32_t index;

	need_equal(
		bcl_host_kernel.connect(host, &address, ways, 2, &index, node),
		BCL_OK);
	return index;
}

START_TEST(ways_have_the_numbers_of_the_card)
{
	struct bcl_host *host = make_host();
	struct bcl_host_node node;

	device.node = (struct bcl_device_node){
		.state = STATE, .generation = 4, .ends = 1 << 2, .changes = 12
	};
	ck_assert_uint_eq(connect_node(host, &node), 5);
	ck_assert_uint_eq(device.connect.card, 0xabc);
	ck_assert_uint_eq(device.connect.nwires, 2);
	ck_assert_uint_eq(device.connect.wire[1].bytes[0], 2);
	ck_assert_uint_eq(device.connect.nways, 2);
	ck_assert_uint_eq(device.connect.way[0].end, 2);
	ck_assert_uint_eq(device.connect.way[0].wire, 0);
	ck_assert_uint_eq(device.connect.way[1].end, 1);
	ck_assert_uint_eq(node.ends, 1 << 1);
	ck_assert_uint_eq(node.generation, 4);
	ck_assert_uint_eq(bcl_host_kernel.node(host, 5, &node), 12);
}
END_TEST

/* Otherwise the library would wait for a node that is lost already. */
START_TEST(a_loss_after_connect_is_found)
{
	struct bcl_host *host = make_host();
	struct bcl_host_node node, later;

	device.node = (struct bcl_device_node){ .state = BCL_NODE_LOST,
						.generation = 4 };
	connect_node(host, &node);
	bcl_host_kernel.node(host, 5, &later);
	ck_assert_uint_ne(node.generation, later.generation);
}
END_TEST

/* ---- parts ---- */

START_TEST(areas_of_parts)
{
	static const uint32_t blocks[][2] = { { 16, 0 }, { 256, 16 } };
	const struct bcl_control control = {
		.op = BCL_CTL_PORT_OPEN,
		.port = { .nrequests = _i ? 256 : 16,
			  .nreceives = _i ? 512 : 32,
			  .nchannels = _i ? 70 : 3,
			  .nblocks = blocks[_i][0],
			  .nlongs = blocks[_i][1] },
	};
	uint64_t end[2] = { 0, 0 };
	unsigned i;

	for (i = 0; i < BCL_AREAS; i++) {
		enum bcl_device_part part = bcl_device_part(i);
		uint64_t at = bcl_device_area(&control, part, i);

		/* behind the area before, without a gap of a line */
		ck_assert_uint_eq(at % 64, 0);
		ck_assert_uint_ge(at, end[part]);
		ck_assert_uint_lt(at - end[part], 64);
		end[part] = at + bcl_area_size(&control, i);
	}
	for (i = 0; i < 2; i++)
		ck_assert_uint_eq((end[i] + 63) / 64 * 64,
				  bcl_device_area(&control, i, BCL_AREAS));
	ck_assert_int_eq(bcl_device_part(BCL_AREA_BOUNCE), BCL_DEVICE_GIVEN);
	ck_assert_int_eq(bcl_device_part(BCL_AREA_BLOCKS), BCL_DEVICE_SHOWN);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("card in the kernel");
	TCase *tcase = tcase_create("choice");

	tcase_add_test(tcase, no_device);
	tcase_add_test(tcase, no_access);
	tcase_add_test(tcase, process_never_looks);
	tcase_add_test(tcase, another_version);
	tcase_add_test(tcase, too_many_cards_of_the_user);
	tcase_add_test(tcase, no_end_is_taken);
	tcase_add_test(tcase, faults_need_the_process);
	tcase_add_test(tcase, auto_needs_locked_memory);
	tcase_add_test(tcase, auto_takes_the_kernel);
	suite_add_tcase(suite, tcase);
	tcase = tcase_create("calls");
	tcase_add_test(tcase, a_context);
	tcase_add_test(tcase, a_port);
	tcase_add_test(tcase, a_channel_is_posted_again);
	tcase_add_test(tcase, a_channel_is_posted_anew);
	tcase_add_test(tcase, memory);
	tcase_add_test(tcase, a_forked_child_has_no_card);
	tcase_add_test(tcase, a_refused_end_is_left_out);
	tcase_add_test(tcase, ways_have_the_numbers_of_the_card);
	tcase_add_test(tcase, a_loss_after_connect_is_found);
	tcase_add_loop_test(tcase, areas_of_parts, 0, 2);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
