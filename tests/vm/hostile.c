/* SPDX-License-Identifier: MIT */
/*
 * hostile ONE OTHER [KILLS [SEED]]: processes that attack the kernel module
 * bcl.ko, in a guest, by two interfaces that reach each other. After an attack
 * the kernel is whole: its own checks have found nothing, and no page is
 * pinned. KILLS processes die at random moments.
 *
 * With KILLS 0 the process leaves in the middle of its messages, and nothing
 * else: frames and acknowledgements are still under way.
 */
#include "kmod_user.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "sim/random.h"

static void expect_success(pid_t pid)
{
	int status;

	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
}

/*
 * The opener has closed its file, which an heir still has. While the card is
 * given up because the opener ends, the heir closes the file for good, some
 * microseconds after the opener's last word.
 */
static void test_two_ends(const char *interface, unsigned delay)
{
	uint8_t *memory = memory_of(1 << 20);
	pid_t opener = fork(), heir;
	struct user a;
	int word[2];
	char byte = 0;

	if (opener) {
		expect_success(opener);
		munmap(memory, 1 << 20);
		return;
	}
	open_card(&a, interface);
	open_port(&a, 3);
	CHECK(add_memory(&a, 1, memory, 1 << 20, 7) == BCL_OK);
	CHECK(post(&a, 1, 1, memory, 1 << 20, 0) == BCL_OK);
	CHECK(!pipe(word));
	heir = fork();
	if (!heir) {
		if (read(word[0], &byte, 1) != 1)
			_exit(1);
		usleep(delay);
		_exit(close(a.fd) != 0);
	}
	close_card(&a);
	CHECK(write(word[1], &byte, 1) == 1);
	_exit(0);
}

static void run(const char *format, const char *interface)
{
	char command[64];

	snprintf(command, sizeof(command), format, interface);
	CHECK(!system(command));
}

/*
 * A card whose peers may be silent for some centuries asks for a call so late
 * that the kernel's clock cannot count so far: it waits for an answer, and has
 * no rail to ask again.
 */
static void test_far_deadline(const char *one, const char *other)
{
	struct bcl_device_connect connect;
	struct user a, b;

	open_card(&b, other);
	open_port(&b, 2);
	open_card_for(&a, one, 1ull << 63);
	open_port(&a, 1);
	connect = connect_argument(&b);
	connect.card = 1234567;
	CHECK(ioctl(a.fd, BCL_DEVICE_CONNECT, &connect) == BCL_OK);
	run("ifconfig %s down", one);
	usleep(500000); /* the next call is due after a tenth of a second */
	run("ifconfig %s up", one);
	close_card(&b);
	close_card(&a);
}

/* ---- descriptors and programs ---- */

static void send_descriptor(int socket, int fd)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr header;
	} control = { .header = { .cmsg_len = CMSG_LEN(sizeof(int)),
				  .cmsg_level = SOL_SOCKET,
				  .cmsg_type = SCM_RIGHTS } };
	struct iovec word = { "", 1 };
	struct msghdr message = { .msg_iov = &word,
				  .msg_iovlen = 1,
				  .msg_control = &control,
				  .msg_controllen = sizeof(control) };

	memcpy(CMSG_DATA(&control.header), &fd, sizeof(fd));
	CHECK(sendmsg(socket, &message, 0) == 1);
}

static int receive_descriptor(int socket)
{
	char bytes[CMSG_SPACE(sizeof(int))], byte;
	struct iovec word = { &byte, 1 };
	struct msghdr message = { .msg_iov = &word,
				  .msg_iovlen = 1,
				  .msg_control = bytes,
				  .msg_controllen = sizeof(bytes) };
	int fd;

	CHECK(recvmsg(socket, &message, 0) == 1);
	memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof(fd));
	return fd;
}

/* Open a card with a port, a channel and registered memory. */
static void open_all(struct user *user, const char *interface, uint8_t *memory)
{
	open_card(user, interface);
	open_port(user, 3);
	CHECK(add_memory(user, 1, memory, 1 << 20, 7) == BCL_OK);
	CHECK(post(user, 1, 1, memory, 1 << 20, 0) == BCL_OK);
}

/* The opener passes the descriptor on and ends. The card ends with the opener,
 * while the descriptor lies in a socket. The receiver of the descriptor has a
 * file that does nothing. */
static void test_passed(const char *interface)
{
	uint8_t *memory = memory_of(1 << 20);
	int ends[2], fd;
	struct user a;
	pid_t opener;

	CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
	opener = fork();
	if (!opener) {
		open_all(&a, interface, memory);
		send_descriptor(ends[1], a.fd);
		_exit(0);
	}
	expect_success(opener);
	expect_no_pins();
	fd = receive_descriptor(ends[0]);
	CHECK(ioctl(fd, BCL_DEVICE_DOORBELL, 0) < 0 && errno == EPERM);
	CHECK(ioctl(fd, BCL_DEVICE_MEMORY_REMOVE, 1) < 0 && errno == EPERM);
	CHECK(mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED &&
	      errno == EPERM);
	CHECK(!close(fd) && !close(ends[0]) && !close(ends[1]));
	munmap(memory, 1 << 20);
}

/* The process becomes a program that has the file and not the card. */
static void test_exec(const char *interface)
{
	uint8_t *memory = memory_of(1 << 20);
	struct user a;
	pid_t pid = fork();

	if (!pid) {
		open_all(&a, interface, memory);
		CHECK(!fcntl(a.fd, F_SETFD, 0));
		execl("/bin/sleep", "sleep", "1", NULL);
		_exit(1);
	}
	usleep(500000);
	expect_no_pins();
	expect_success(pid);
	munmap(memory, 1 << 20);
}

/* ---- memory ---- */

/* Neither a GET nor an atomic may write a result to memory that the process can
 * only read, and may send. */
static void test_read_only(const char *one, const char *other)
{
	uint8_t *memory = memory_of(PAGE);
	struct bcl_request request = {
		.op = BCL_REQ_GET,
		.type = BCL_GET_MEMORY,
		.dst_port = 2,
		.target = 1,
		.targ64 = 1 << 20,
		.length = 8,
		.nref = 1,
		.refs = { self(memory, 8) },
	};
	uint8_t *far = memory_of(PAGE);
	struct user a, b;

	open_card(&a, one);
	open_port(&a, 1);
	open_card(&b, other);
	open_port(&b, 2);
	connect_to(&a, &b);
	memset(far, 1, PAGE);
	CHECK(add_memory(&b, 1, far, PAGE, 7) == BCL_OK);
	CHECK(!mprotect(memory, PAGE, PROT_READ));
	CHECK(submit_and_wait(&a, request).status == BCL_ERR_ARG);
	request.op = BCL_REQ_FETCH_ADD;
	request.inline_len = 8;
	CHECK(submit_and_wait(&a, request).status == BCL_ERR_ARG);
	CHECK(memory[0] == 0 && far[0] == 1);
	CHECK(!mprotect(memory, PAGE, PROT_READ | PROT_WRITE));
	CHECK(submit_and_wait(&a, request).status == BCL_OK);
	CHECK(memory[0] == 1);
	close_card(&a);
	close_card(&b);
	munmap(memory, PAGE);
	munmap(far, PAGE);
}

/* ---- ends at any moment ---- */

/* Two cards of the process, and messages between them that nobody awaits. */
static void send_and_go(const char *one, const char *other)
{
	uint8_t *memory = memory_of(1 << 20), *far = memory_of(1 << 20);
	struct bcl_request put = {
		.op = BCL_REQ_PUT,
		.dst_port = 3,
		.target = 7,
		.targ64 = 1 << 20,
		.length = 1 << 20,
		.nref = 1,
		.refs = { self(memory, 1 << 20) },
	};
	struct user a, b;
	unsigned i;

	open_all(&b, other, far);
	CHECK(add_memory(&b, 7, far, 1 << 20, 7) == BCL_OK);
	open_all(&a, one, memory);
	connect_to(&a, &b);
	for (i = 0; i < REQUESTS / 2; i++)
		submit(&a, put);
	CHECK(doorbell(&a) == BCL_OK);
}

static void test_kills(const char *one, const char *other, unsigned n,
		       uint64_t seed)
{
	int status;
	pid_t pid;

	for (; n; n--) {
		pid = fork();
		if (!pid)
			for (;;)
				send_and_go(one, other);
		usleep((sim_random(&seed) >> 20) % 100000);
		CHECK(!kill(pid, SIGKILL));
		CHECK(waitpid(pid, &status, 0) == pid && WIFSIGNALED(status));
		expect_no_pins();
	}
}

/* ---- a card ends under a flood ---- */

enum {
	STRANGERS = 400, /* more than the routes that a card keeps */
	FRAME = 200,
};

/* The card that is flooded, for all processes. */
struct target {
	uint64_t card;
	struct sockaddr_in address;
};

/* Strangers send frames of connections that do not exist. The card answers each
 * stranger, by a route that the card has to find. */
static void flood(const volatile struct target *target)
{
	struct bcl_frame_header header = {
		.magic = bcl_put16(BCL_WIRE_MAGIC),
		.version = BCL_WIRE_VERSION,
		.kind = BCL_FRAME_DATA,
		.conn = bcl_put32(0x12345678),
	};
	uint8_t frame[FRAME] = { 0 };
	struct sockaddr_in to;
	int fd[STRANGERS];
	unsigned i;

	for (i = 0; i < STRANGERS; i++)
		fd[i] = socket(AF_INET, SOCK_DGRAM, 0);
	for (;; i++) {
		header.card = bcl_put64(target->card);
		memcpy(frame, &header, sizeof(header));
		memcpy(&to, (const void *)&target->address, sizeof(to));
		if (sendto(fd[i % STRANGERS], frame, sizeof(frame), 0,
			   (void *)&to, sizeof(to)) < 0)
			usleep(100); /* there is no card yet */
	}
}

static void test_flooded(const char *interface, unsigned n)
{
	struct target *target =
		mmap(NULL, sizeof(*target), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const struct bcl_wire_address *own;
	uint64_t answers = 0;
	struct user user;
	pid_t pid;

	CHECK(target != MAP_FAILED);
	pid = fork();
	if (!pid)
		flood(target);
	kind = BCL_WIRE_UDP4;
	while (n--) {
		open_card(&user, interface);
		open_port(&user, 1);
		own = &user.open.end[0].address;
		target->address.sin_family = AF_INET;
		memcpy(&target->address.sin_addr, own->bytes, 4);
		memcpy(&target->address.sin_port, own->bytes + 4, 2);
		target->card = user.open.card;
		usleep(10000);
		answers += counters_of(&user).card[BCL_CARD_resets_sent];
		close_card(&user);
	}
	kind = BCL_WIRE_PACKET;
	CHECK(answers > 0);
	CHECK(!kill(pid, SIGKILL) && waitpid(pid, NULL, 0) == pid);
	munmap(target, sizeof(*target));
}

int main(int argc, char **argv)
{
	unsigned kills = argc > 3 ? (unsigned)atoi(argv[3]) : 5, i;
	uint64_t seed = argc > 4 ? strtoull(argv[4], NULL, 0) : 1;

	CHECK(argc >= 3);
	setvbuf(stdout, NULL, _IONBF, 0);
	if (!kills) {
		send_and_go(argv[1], argv[2]);
		_exit(0);
	}
	printf("descriptors, programs, memory that can only be read\n");
	test_passed(argv[1]);
	test_exec(argv[1]);
	test_read_only(argv[1], argv[2]);
	printf("a flood\n");
	test_flooded("lo", 4 * kills);
	printf("%u kills, seed %lu\n", kills, seed);
	test_kills(argv[1], argv[2], kills, seed);
	printf("two ends\n");
	for (i = 0; i < 60; i++)
		test_two_ends(argv[1], i * 500);
	while (wait(NULL) > 0)
		;
	expect_no_pins();
	printf("far deadline\n");
	test_far_deadline(argv[1], argv[2]);
	expect_no_pins();
	printf("%u checks passed\n", checks);
	return 0;
}
