/* SPDX-License-Identifier: MIT */
/* How a port answers strange callers. */
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/unit.h"
#include "transport/shm/greeting.h"
#include "transport/shm/host.h"
#include "transport/shm/port.h"
#include "transport/shm/socket.h"

enum {
	SLOTS = 256,
	NUMBER = 77, /* the caller's port */
};

static struct bcl_context *context;
static struct bcl_port *port;
static struct bcl_segment segment;
static int attention, active, wake_object;
static uint64_t nonce, scratch;
static uint64_t next_card = 1;
static const uint8_t job_key[BCL_KEY_SIZE] = "the job's secret";

static int page(size_t size, bool sealed)
{
	int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, (off_t)size), 0);
	if (sealed)
		ck_assert_int_eq(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	return fd;
}

static void set_up(void)
{
	const struct bcl_context_options options = { .struct_size =
							     sizeof(options),
						     .job_key = job_key };

	setenv("BCL_RAILS", "none", 1);
	setenv("BCL_HELPER", "0", 1);
	ck_assert_int_eq(bcl_open(&options, &context), BCL_OK);
	ck_assert_int_eq(bcl_port_open(context, NULL, &port), BCL_OK);
	ck_assert_int_eq(bcl_segment_create(&bcl_env_linux, SLOTS, &segment),
			 BCL_OK);
	attention = page(BCL_PAGE, true);
	active = page(BCL_PAGE, true);
	wake_object = eventfd(0, EFD_NONBLOCK);
	next_card++;
}

static void tear_down(void)
{
	close(attention);
	close(active);
	close(wake_object);
	bcl_segment_unmap(&bcl_env_linux, &segment);
	bcl_close(context);
}

static void serve(void)
{
	bcl_shm_service(port, context->env->now(context->env->world));
	bcl_shm_progress(port, 0);
}

static struct bcl_greeting hello(void)
{
	struct bcl_greeting g = {
		.magic = BCL_GREETING_MAGIC,
		.version = BCL_GREETING_VERSION,
		.kind = BCL_GREETING_HELLO,
		.card = next_card,
		.to_card = context->card_id,
		.number = NUMBER,
		.to_number = port->number,
		.slots = SLOTS,
		.nonce = nonce,
		.nonce_address = (uintptr_t)&nonce,
		.scratch_address = (uintptr_t)&scratch,
	};

	memcpy(g.key, job_key, BCL_KEY_SIZE);
	return g;
}

static int call(void)
{
	int fd = bcl_socket_call(NULL, context->card_id, port->number);

	ck_assert_int_ge(fd, 0);
	return fd;
}

static void send_hello(int fd, const struct bcl_greeting *g)
{
	const int fds[] = { segment.fd, attention, active, wake_object };

	ck_assert(bcl_socket_send(NULL, fd, g, sizeof(*g), fds, 4));
	serve();
}

/* The answer of the port: 1 for a greeting, 0 for nothing, -1 for the end. */
static int answer(int fd, struct bcl_greeting *g)
{
	int fds[BCL_SOCKET_FDS];
	unsigned n;
	int got = bcl_socket_receive(NULL, fd, g, sizeof(*g), fds, &n);

	while (n)
		close(fds[--n]);
	return got;
}

static void expect_refusal(int fd, enum bcl_status status)
{
	struct bcl_greeting g;

	ck_assert_int_eq(answer(fd, &g), 1);
	ck_assert_uint_eq(g.kind, BCL_GREETING_REFUSE);
	ck_assert_int_eq(g.status, status);
	ck_assert_int_eq(answer(fd, &g), -1);
	close(fd);
}

static void expect_end(int fd)
{
	struct bcl_greeting g;

	ck_assert_int_eq(answer(fd, &g), -1);
	close(fd);
}

/* Connect properly, up to the event. */
static int come_up(uint32_t flags)
{
	struct bcl_greeting g = hello();
	struct bcl_event event;
	int fd = call();

	g.flags |= flags;
	send_hello(fd, &g);
	ck_assert_int_eq(answer(fd, &g), 1);
	ck_assert_uint_eq(g.kind, BCL_GREETING_ACCEPT);
	g = hello();
	g.kind = BCL_GREETING_READY;
	ck_assert(bcl_socket_send(NULL, fd, &g, sizeof(g), NULL, 0));
	serve();
	ck_assert_int_eq(bcl_poll(port, &event), BCL_OK);
	ck_assert_int_eq(event.kind, BCL_EVENT_PEER);
	ck_assert_int_eq(event.status, BCL_OK);
	return fd;
}

static void expect_lost(void)
{
	struct bcl_event event;

	serve();
	ck_assert_int_eq(bcl_poll(port, &event), BCL_OK);
	ck_assert_int_eq(event.kind, BCL_EVENT_PEER);
	ck_assert_int_eq(event.status, BCL_ERR_DEAD);
}

/* After any misuse the port must still answer proper callers. */
static void check_port(void)
{
	next_card++;
	close(come_up(0));
	expect_lost();
	ck_assert_uint_eq(port->npairs, 0);
	ck_assert_ptr_null(port->shm->connections);
	ck_assert_uint_eq(port->shm->waiting, 0);
}

START_TEST(proper)
{
	check_port();
}
END_TEST

/* ---- refused greetings ---- */

static const struct {
	const char *what;
	size_t offset, size; /* of the field */
	uint64_t value;
	enum bcl_status status; /* OK: the port hangs up */
} wrong[] = {
#define FIELD(name)                          \
	offsetof(struct bcl_greeting, name), \
		sizeof(((struct bcl_greeting *)0)->name)
	{ "magic", FIELD(magic), 1, BCL_OK },
	{ "version", FIELD(version), BCL_GREETING_VERSION + 1,
	  BCL_ERR_VERSION },
	{ "kind READY", FIELD(kind), BCL_GREETING_READY, BCL_OK },
	{ "kind 0", FIELD(kind), 0, BCL_OK },
	{ "kind MEMORY", FIELD(kind), BCL_GREETING_MEMORY, BCL_OK },
	{ "key", offsetof(struct bcl_greeting, key), 1, 1, BCL_ERR_JOBKEY },
	{ "card", FIELD(to_card), 1, BCL_ERR_NOPORT },
	{ "number", FIELD(to_number), 0, BCL_ERR_NOPORT },
	{ "no slots", FIELD(slots), 0, BCL_ERR_NOMEM },
	{ "few slots", FIELD(slots), 128, BCL_ERR_NOMEM },
	{ "odd slots", FIELD(slots), 257, BCL_ERR_NOMEM },
	{ "more slots than there are", FIELD(slots), 512, BCL_ERR_NOMEM },
	{ "many slots", FIELD(slots), 1u << 31, BCL_ERR_NOMEM },
	{ "watch", FIELD(watch), BCL_SHM_PEERS, BCL_ERR_NOMEM },
	{ "far watch", FIELD(watch), UINT32_MAX, BCL_ERR_NOMEM },
};

START_TEST(wrong_field)
{
	struct bcl_greeting g = hello();
	int fd = call();

	memcpy((uint8_t *)&g + wrong[_i].offset, &wrong[_i].value,
	       wrong[_i].size);
	send_hello(fd, &g);
	if (wrong[_i].status)
		expect_refusal(fd, wrong[_i].status);
	else
		expect_end(fd);
	check_port();
}
END_TEST

enum bad_file {
	UNSEALED,
	SMALL,
	PIPE,
	BLOCKING,
	NOTHING,
	NFILES
};

static int bad_file(enum bad_file kind)
{
	int ends[2];

	switch (kind) {
	case UNSEALED:
		return page(8 << 20, false);
	case SMALL:
		return page(100, true);
	case PIPE:
		ck_assert_int_eq(pipe(ends), 0);
		close(ends[0]);
		return ends[1];
	case BLOCKING:
		return eventfd(0, 0);
	default:
		return open("/dev/null", O_RDWR);
	}
}

START_TEST(wrong_file)
{
	int fds[] = { segment.fd, attention, active, wake_object };
	unsigned place = (unsigned)_i / NFILES;
	enum bad_file kind = (enum bad_file)(_i % NFILES);
	struct bcl_greeting g = hello();
	int fd = call();

	fds[place] = bad_file(kind);
	ck_assert(bcl_socket_send(NULL, fd, &g, sizeof(g), fds, 4));
	serve();
	/* the port takes any file that does not block for wake-ups */
	expect_refusal(fd, BCL_ERR_NOMEM);
	close(fds[place]);
	check_port();
}
END_TEST

START_TEST(wrong_size)
{
	static const size_t sizes[] = { 1, 4, sizeof(struct bcl_greeting) - 1,
					sizeof(struct bcl_greeting) + 1, 5000 };
	uint8_t bytes[5000] = { 0 };
	struct bcl_greeting g = hello();
	int fd = call();

	memcpy(bytes, &g, sizeof(g));
	ck_assert_int_eq(send(fd, bytes, sizes[_i], 0), sizes[_i]);
	serve();
	expect_end(fd);
	check_port();
}
END_TEST

START_TEST(wrong_count)
{
	const int fds[] = { segment.fd, attention, active, wake_object };
	struct bcl_greeting g = hello();
	int fd = call();

	ck_assert(bcl_socket_send(NULL, fd, &g, sizeof(g), fds, (unsigned)_i));
	serve();
	expect_end(fd);
	check_port();
}
END_TEST

/* More descriptors than any greeting has: no descriptor may stay open. */
START_TEST(too_many_files)
{
	enum {
		N = 100
	};
	union {
		struct cmsghdr head;
		uint8_t bytes[CMSG_SPACE(N * sizeof(int))];
	} control = { .head = { .cmsg_level = SOL_SOCKET,
				.cmsg_type = SCM_RIGHTS,
				.cmsg_len = CMSG_LEN(N * sizeof(int)) } };
	struct bcl_greeting g = hello();
	struct iovec iov = { &g, sizeof(g) };
	struct msghdr message = { .msg_iov = &iov,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control) };
	int fd = call(), before, after, i;

	for (i = 0; i < N; i++)
		memcpy(CMSG_DATA(&control.head) + i * sizeof(int), &active,
		       sizeof(int));
	before = dup(0);
	ck_assert_int_eq(sendmsg(fd, &message, 0), sizeof(g));
	serve();
	expect_end(fd);
	after = dup(0);
	ck_assert_int_le(after, before + 1);
	close(before);
	close(after);
	check_port();
}
END_TEST

START_TEST(hangs_up)
{
	struct bcl_greeting g = hello();
	int fd = call();

	if (_i > 0)
		send_hello(fd, &g);
	if (_i > 1)
		ck_assert_int_eq(answer(fd, &g), 1);
	close(fd);
	serve();
	check_port();
}
END_TEST

/* The port must hang up on a silent caller in time. */
START_TEST(silent)
{
	int fd = call();

	serve();
	ck_assert_ptr_nonnull(port->shm->connections);
	port->shm->connections->deadline = 0;
	serve();
	expect_end(fd);
	check_port();
}
END_TEST

/* ---- attach ---- */

START_TEST(proof)
{
	struct bcl_greeting g = hello();
	int fd = call();

	nonce = 12345;
	scratch = 0;
	g.flags |= BCL_GREETING_ATTACH;
	g.nonce = _i ? nonce : nonce + 1;
	send_hello(fd, &g);
	ck_assert_int_eq(answer(fd, &g), 1);
	ck_assert_uint_eq(g.kind, BCL_GREETING_ACCEPT);
	ck_assert_uint_eq(!!(g.flags & BCL_GREETING_ATTACH), _i);
	/* nothing is written where the nonce was not found */
	ck_assert(_i ? scratch == g.wrote : !scratch);
	/* and the port must check the proof of the caller */
	g = hello();
	g.kind = BCL_GREETING_READY;
	g.flags = BCL_GREETING_ATTACH;
	g.wrote = 99;
	ck_assert(bcl_socket_send(NULL, fd, &g, sizeof(g), NULL, 0));
	serve();
	if (_i) {
		expect_end(fd);
	} else {
		struct bcl_event event;

		ck_assert_int_eq(bcl_poll(port, &event), BCL_OK);
		ck_assert(!((struct bcl_connection *)event.peer->path)->attach);
		close(fd);
		expect_lost();
	}
	check_port();
}
END_TEST

/* ---- after the connection is up ---- */

START_TEST(requests)
{
	struct bcl_greeting g = hello();
	struct bcl_event event;
	int fd = come_up(0);
	unsigned i;

	g.kind = BCL_GREETING_MEMORY;
	for (i = 0; i < 10; i++) {
		g.handle = i * 0x10001u;
		ck_assert(bcl_socket_send(NULL, fd, &g, sizeof(g), NULL, 0));
		serve();
		ck_assert_int_eq(answer(fd, &g), 1);
		ck_assert_uint_eq(g.kind, BCL_GREETING_GRANT);
		ck_assert_int_eq(g.status, BCL_ERR_MEMORY);
		g = hello();
		g.kind = BCL_GREETING_MEMORY;
	}
	/* the peer asks without end, and reads no answer */
	for (i = 0; i < 5000; i++) {
		if (!bcl_socket_send(NULL, fd, &g, sizeof(g), NULL, 0))
			serve();
	}
	/* answers without a question, and nonsense */
	for (i = 0; i < 20; i++) {
		g.kind = (uint16_t)i;
		g.status = 0;
		g.grant = UINT32_MAX;
		g.length = UINT64_MAX;
		bcl_socket_send(NULL, fd, &g, sizeof(g), &active, 1);
		serve();
	}
	ck_assert_int_eq(bcl_poll(port, &event), BCL_ERR_EMPTY);
	close(fd);
	for (i = 0; i < 200; i++)
		serve();
	expect_lost();
	check_port();
}
END_TEST

/* A connected peer sends bytes that are no greeting. The port must lose the
 * peer, as if the peer had hung up. */
START_TEST(no_greeting)
{
	struct bcl_greeting g = hello();
	int fd = come_up(0);

	g.magic++;
	g.kind = BCL_GREETING_MEMORY;
	ck_assert(bcl_socket_send(NULL, fd, &g, sizeof(g), NULL, 0));
	expect_lost();
	close(fd);
	check_port();
}
END_TEST

/* A port calls twice. The second call must wait until the first has ended. */
START_TEST(twice)
{
	struct bcl_greeting g = hello();
	int first = come_up(0), second = call();
	struct bcl_event event;

	send_hello(second, &g);
	ck_assert_int_eq(answer(second, &g), 0);
	close(first);
	expect_lost();
	serve();
	serve();
	ck_assert_int_eq(answer(second, &g), 1);
	ck_assert_uint_eq(g.kind, BCL_GREETING_ACCEPT);
	g = hello();
	g.kind = BCL_GREETING_READY;
	ck_assert(bcl_socket_send(NULL, second, &g, sizeof(g), NULL, 0));
	serve();
	ck_assert_int_eq(bcl_poll(port, &event), BCL_OK);
	ck_assert_int_eq(event.status, BCL_OK);
	close(second);
	expect_lost();
	check_port();
}
END_TEST

/* ---- a greeting during bcl_arm() ----------------------------------------- */

static struct bcl_shm_host late_host;
static struct bcl_env late_env;
static struct {
	unsigned looks; /* at the sockets, until READY comes */
	int fd;
} late;

static void *look(void *world, int group)
{
	struct bcl_greeting g;

	if (late.looks && !--late.looks) {
		g = hello();
		g.kind = BCL_GREETING_READY;
		ck_assert(
			bcl_socket_send(NULL, late.fd, &g, sizeof(g), NULL, 0));
	}
	return bcl_shm_linux.group_next(world, group);
}

/* The port believes that a helper runs, but no thread starts. */
static enum bcl_status no_thread(void *world, void (*run)(void *arg), void *arg,
				 struct bcl_thread **thread)
{
	(void)world;
	(void)run;
	(void)arg;
	*thread = NULL;
	return BCL_OK;
}

static void no_join(void *world, struct bcl_thread *thread)
{
	(void)world;
	(void)thread;
}

static void set_up_late(void)
{
	const struct bcl_context_options options = {
		.struct_size = sizeof(options),
		.job_key = job_key,
	};

	set_up();
	bcl_close(context);
	setenv("BCL_HELPER", "1", 1);
	late_host = bcl_shm_linux;
	late_host.group_next = look;
	late_env = bcl_env_linux;
	late_env.shm_host = &late_host;
	late_env.thread_start = no_thread;
	late_env.thread_join = no_join;
	ck_assert_int_eq(bcl_context_open(&late_env, &options, -1, &context),
			 BCL_OK);
	ck_assert_int_eq(bcl_port_open(context, NULL, &port), BCL_OK);
}

/* READY comes at one of the looks at the sockets while the port arms. The port
 * must not sleep over the greeting. */
START_TEST(while_arming)
{
	struct pollfd pollfd = { .fd = bcl_port_fd(port), .events = POLLIN };
	struct bcl_greeting g = hello();
	struct bcl_event event;
	enum bcl_status status;
	int i;

	late.fd = call();
	send_hello(late.fd, &g);
	ck_assert_int_eq(answer(late.fd, &g), 1);
	/* few passes look at the sockets: the loop begins at each pass */
	for (i = 0; i < _i / 3; i++)
		ck_assert_int_eq(bcl_poll(port, &event), BCL_ERR_EMPTY);
	late.looks = 1 + (unsigned)_i % 3;
	status = bcl_arm(port);
	if (status == BCL_OK)
		ck_assert(late.looks || poll(&pollfd, 1, 0) == 1);
	else
		ck_assert_int_eq(status, BCL_ERR_AGAIN);
	late.looks = 0;
	close(late.fd);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("greeting");
	TCase *late_tc = tcase_create("late");
	TCase *tc = tcase_create("greeting");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_test(tc, proper);
	tcase_add_loop_test(tc, wrong_field, 0, sizeof(wrong) / sizeof(*wrong));
	tcase_add_loop_test(tc, wrong_file, 0, 3 * NFILES);
	tcase_add_loop_test(tc, wrong_file, 3 * NFILES + BLOCKING,
			    3 * NFILES + BLOCKING + 1);
	tcase_add_loop_test(tc, wrong_size, 0, 5);
	tcase_add_loop_test(tc, wrong_count, 0, 4);
	tcase_add_test(tc, too_many_files);
	tcase_add_loop_test(tc, hangs_up, 0, 3);
	tcase_add_test(tc, silent);
	tcase_add_loop_test(tc, proof, 0, 2);
	tcase_add_test(tc, requests);
	tcase_add_test(tc, no_greeting);
	tcase_add_test(tc, twice);
	suite_add_tcase(suite, tc);
	tcase_add_checked_fixture(late_tc, set_up_late, tear_down);
	tcase_add_loop_test(late_tc, while_arming, 0, 3 * 32);
	suite_add_tcase(suite, late_tc);
	return unit_run(suite);
}
