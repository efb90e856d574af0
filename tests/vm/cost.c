/* SPDX-License-Identifier: MIT */
/*
 * cost NAME ADDRESS SPACE: sends messages from this network namespace to
 * another, SPACE, where the process has a second card, or over TCP, if NAME is
 * "tcp", to ADDRESS there. Prints how many instructions messages of 64 bytes,
 * of 64 KB and of a megabyte take, on both sides together. The guest's emulator
 * advances the clock by a nanosecond for each instruction, and the guest has
 * one processor.
 *
 * If NAME is kernel-packet or kernel-udp, the process also prints what the
 * kernel counted for a round trip and for a megabyte. Then it gives up all
 * system calls but the doorbell of /dev/bcl, and exchanges more messages, also
 * by a channel that is posted again for each.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bcl/bcl.h>
#include <bcl/card_device.h>

enum {
	SMALL = 64,
	MIDDLE = 64 << 10,
	LARGE = 1 << 20,
	ROUNDS = 200,
	LARGE_ROUNDS = 8,
	TRAPS = 50000,
	POSTINGS = 10000,
};

#define NEED(condition)                                                     \
	do {                                                                \
		if (!(condition)) {                                         \
			fprintf(stderr, "%s:%d: %s (errno %d)\n", __FILE__, \
				__LINE__, #condition, errno);               \
			exit(1);                                            \
		}                                                           \
	} while (0)

static uint8_t out[LARGE], in[LARGE];

static uint64_t instructions(void)
{
	return __builtin_ia32_rdtsc();
}

/* ---- the library ---- */

struct side {
	struct bcl_context *context;
	struct bcl_port *port;
	struct bcl_peer *peer;
	uint8_t address[BCL_ADDRESS_MAX];
	size_t length;
};

static struct side side[2];

static void open_side(struct side *own)
{
	NEED(!bcl_open(NULL, &own->context));
	NEED(!bcl_port_open(own->context, NULL, &own->port));
	NEED(!bcl_port_address(own->port, own->address, &own->length));
}

/* Waits until a side has an event. A program that polled would keep threads of
 * the kernel from the one processor. */
static void wait_for_both(struct bcl_event *event)
{
	struct pollfd pollfd[2] = { { .events = POLLIN },
				    { .events = POLLIN } };
	unsigned i;

	for (i = 0; i < 2; i++)
		pollfd[i].fd = bcl_port_fd(side[i].port);
	while (bcl_poll(side[0].port, event) && bcl_poll(side[1].port, event))
		if (!bcl_arm(side[0].port) && !bcl_arm(side[1].port))
			poll(pollfd, 2, 1000);
}

static void enter(int space)
{
	NEED(!setns(space, CLONE_NEWNET));
}

static void connect_sides(const int space[2])
{
	struct bcl_event event;
	unsigned up = 0;

	open_side(&side[0]);
	enter(space[1]);
	open_side(&side[1]);
	enter(space[0]);
	NEED(!bcl_peer_open(side[0].port, side[1].address, side[1].length,
			    &side[0].peer));
	NEED(!bcl_peer_open(side[1].port, side[0].address, side[0].length,
			    &side[1].peer));
	while (up < 2) {
		wait_for_both(&event);
		NEED(event.kind == BCL_EVENT_PEER && !event.status);
		up++;
	}
}

/* One message from side `from` to the other, which takes it. */
static void send_small(unsigned from)
{
	struct iovec iov = { out, SMALL };
	struct bcl_event event;
	enum bcl_status status;

	while ((status = bcl_send(side[from].peer, 1, 0, &iov, 1, 0))) {
		NEED(status == BCL_ERR_AGAIN);
		bcl_poll(side[from].port, &event);
	}
	while (bcl_poll(side[!from].port, &event))
		;
	NEED(event.kind == BCL_EVENT_MESSAGE && event.length == SMALL);
}

static void library_round_trip(void)
{
	send_small(0);
	send_small(1);
}

/* Side 1 pulls the memory that side 0 offers. */
static void library_pull(size_t length)
{
	uint8_t token[BCL_KEY_MAX];
	struct bcl_event event;
	unsigned left = 2;

	NEED(!bcl_offer(side[0].peer, out, length, 7, token));
	NEED(!bcl_pull(side[1].peer, token, in, length, 8));
	while (left--) {
		wait_for_both(&event);
		NEED(event.kind == BCL_EVENT_READ ||
		     event.kind == BCL_EVENT_PULLED);
		NEED(!event.status);
	}
}

static void library_middle(void)
{
	library_pull(MIDDLE);
}

static void library_large(void)
{
	library_pull(LARGE);
}

/* A message from side 0 to a channel that side 1 posts before. */
static void library_channel(void)
{
	struct bcl_event event;
	unsigned left = 2;

	NEED(!bcl_post(side[1].port, 0, in, SMALL, 9));
	NEED(!bcl_send_channel(side[0].peer, 0, out, SMALL, 10));
	while (left) {
		if (bcl_poll(side[0].port, &event) &&
		    bcl_poll(side[1].port, &event))
			continue;
		NEED(event.cookie == 9 || event.cookie == 10);
		NEED(!event.status);
		left--;
	}
}

/* ---- TCP ---- */

static int tcp[2];

static void connect_tcp(const int space[2], const char *where)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t length = sizeof(address);
	int listening, one = 1;
	unsigned i;

	NEED(inet_aton(where, &address.sin_addr));
	enter(space[1]);
	listening = socket(AF_INET, SOCK_STREAM, 0);
	NEED(!bind(listening, (void *)&address, sizeof(address)));
	NEED(!listen(listening, 1));
	NEED(!getsockname(listening, (void *)&address, &length));
	enter(space[0]);
	tcp[0] = socket(AF_INET, SOCK_STREAM, 0);
	NEED(!connect(tcp[0], (void *)&address, sizeof(address)));
	tcp[1] = accept(listening, NULL, NULL);
	for (i = 0; i < 2; i++)
		NEED(!setsockopt(tcp[i], IPPROTO_TCP, TCP_NODELAY, &one,
				 sizeof(one)));
	close(listening);
}

static void tcp_round_trip(void)
{
	unsigned i;

	for (i = 0; i < 2; i++) {
		NEED(send(tcp[i], out, SMALL, 0) == SMALL);
		NEED(recv(tcp[!i], in, SMALL, MSG_WAITALL) == SMALL);
	}
}

static void tcp_stream(size_t length)
{
	size_t sent = 0, received = 0;
	ssize_t n;

	while (received < length) {
		n = send(tcp[0], out + sent, length - sent, MSG_DONTWAIT);
		if (n > 0)
			sent += (size_t)n;
		n = recv(tcp[1], in + received, length - received,
			 MSG_DONTWAIT);
		if (n > 0)
			received += (size_t)n;
	}
}

static void tcp_middle(void)
{
	tcp_stream(MIDDLE);
}

static void tcp_large(void)
{
	tcp_stream(LARGE);
}

/* ---- measuring ---- */

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Returns the median of some runs. */
static uint64_t cost_of(void (*run)(void), unsigned rounds)
{
	uint64_t cost[ROUNDS], began;
	unsigned i;

	for (i = 0; i < rounds; i++) /* caches and windows fill */
		run();
	for (i = 0; i < rounds; i++) {
		began = instructions();
		run();
		cost[i] = instructions() - began;
	}
	qsort(cost, rounds, sizeof(*cost), compare);
	return cost[rounds / 2];
}

/* ---- the kernel's card ---- */

/* Adds up what the kernel has counted for the cards of this process. */
static struct bcl_device_counters count(int device)
{
	struct bcl_device_counters sum = { 0 };
	struct bcl_device_card card = { 0 };

	while (ioctl(device, BCL_DEVICE_CARD, &card) == BCL_OK) {
		sum.doorbells += card.counters.doorbells;
		sum.bytes_copied_out += card.counters.bytes_copied_out;
		sum.bytes_copied_in += card.counters.bytes_copied_in;
		sum.card[BCL_CARD_posted_again] +=
			card.counters.card[BCL_CARD_posted_again];
	}
	return sum;
}

static void show_counts(const char *name)
{
	struct bcl_device_counters before, small, large, channel;
	int device = open(BCL_DEVICE_PATH, O_RDONLY);

	NEED(device >= 0);
	before = count(device);
	library_round_trip();
	small = count(device);
	library_large();
	large = count(device);
	library_channel(); /* the first time by a call */
	library_channel();
	channel = count(device);
	printf("cost: %s doorbells %lu\n", name,
	       small.doorbells - before.doorbells);
	printf("cost: %s copied out %lu\n", name,
	       large.bytes_copied_out - small.bytes_copied_out);
	printf("cost: %s copied in %lu\n", name,
	       large.bytes_copied_in - small.bytes_copied_in);
	printf("cost: %s posted again %lu\n", name,
	       channel.card[BCL_CARD_posted_again]);
	fflush(stdout);
	close(device);
}

/* From now on any system call of this thread but the doorbell and the end kills
 * the process. */
static void give_up_calls(void)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 4, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_ioctl, 0, 2),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, args[1])),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
			 (uint32_t)BCL_DEVICE_DOORBELL, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {
		.len = sizeof(filter) / sizeof(*filter),
		.filter = filter,
	};

	NEED(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	NEED(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
}

int main(int argc, char **argv)
{
	bool is_tcp = argc == 4 && !strcmp(argv[1], "tcp");
	int space[2];
	unsigned i;

	NEED(argc == 4);
	space[0] = open("/proc/self/ns/net", O_RDONLY);
	space[1] = open(argv[3], O_RDONLY);
	NEED(space[0] >= 0 && space[1] >= 0);
	memset(out, 1, sizeof(out)); /* TCP would send the page of zeros */
	if (is_tcp)
		connect_tcp(space, argv[2]);
	else
		connect_sides(space);
	printf("cost: %s small %lu\n", argv[1],
	       cost_of(is_tcp ? tcp_round_trip : library_round_trip, ROUNDS) /
		       2);
	printf("cost: %s middle %lu\n", argv[1],
	       cost_of(is_tcp ? tcp_middle : library_middle, LARGE_ROUNDS));
	printf("cost: %s large %lu\n", argv[1],
	       cost_of(is_tcp ? tcp_large : library_large, LARGE_ROUNDS));
	fflush(stdout);
	if (strcmp(argv[1], "kernel-packet") && strcmp(argv[1], "kernel-udp"))
		return 0;
	show_counts(argv[1]);
	give_up_calls();
	for (i = 0; i < TRAPS; i++)
		library_round_trip();
	for (i = 0; i < POSTINGS; i++)
		library_channel();
	_exit(0);
}
