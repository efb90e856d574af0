/* SPDX-License-Identifier: MIT */
/*
 * Two ranks exchange 10^5 messages there and back. Meanwhile a filter ends a
 * thread that makes a system call, and the allocator aborts. In the mode
 * `collectives` the ranks call collective operations instead: only the long
 * operations make system calls, to move their data.
 * Usage, as a job of two ranks with BCL_SPIN=1s, so that neither rank yields:
 *
 *   calls shared	inside a host: no system call
 *   calls collectives	inside a host: no system call in operations on little
 *			data, no allocation in any operation
 *   calls packet	between nodes on a mapped packet ring: one system call
 *			per send, none to receive
 */
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <bcl/coll.h>

#include "tests/unit/counter.h"

#define must(condition)                                                   \
	do {                                                              \
		if (!(condition)) {                                       \
			fprintf(stderr, "calls: line %d: %s\n", __LINE__, \
				#condition);                              \
			exit(1);                                          \
		}                                                         \
	} while (0)

enum {
	TRIPS = 100000,
	COLLECTIVES = 1000, /* of each operation and length */
	LITTLE = 3000,	    /* bytes: goes through the segment */
	MUCH = 200000,	    /* bytes: goes by announced messages */
	/* bytes: an operation has longer scratch memory than the team keeps */
	VAST = 2 << 20,
	MADE = 3,
	EARLY = 16,
	SETTLE = 1500, /* ms: the library leaves its sockets to its helper */
};

static _Thread_local bool counting;

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

static void check_allocation(void)
{
	if (counting)
		abort();
}

void *malloc(size_t size)
{
	check_allocation();
	return __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	check_allocation();
	return __libc_calloc(n, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
	check_allocation();
	return __libc_memalign(alignment, size);
}

void *realloc(void *old, size_t size)
{
	check_allocation();
	return __libc_realloc(old, size);
}

#define LOAD_NUMBER \
	BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))
#define ALLOW(number)                                        \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (number), 0, 1), \
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define REFUSE BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP)

static volatile int refused = -1; /* number of the call */

static void end_thread(int number, siginfo_t *info, void *context)
{
	(void)number;
	(void)context;
	refused = info->si_syscall;
	syscall(SYS_exit, 0);
}

/* From here on the calling thread may only exit and make the system calls `one`
 * and `other`; any further call ends the thread. */
static void forbid_calls(unsigned one, unsigned other)
{
	struct sock_filter filter[] = {
		LOAD_NUMBER, ALLOW(SYS_exit), ALLOW(one), ALLOW(other), REFUSE,
	};
	const struct sock_fprog program = {
		.len = sizeof(filter) / sizeof(*filter),
		.filter = filter,
	};
	const struct sigaction action = {
		.sa_sigaction = end_thread,
		.sa_flags = SA_SIGINFO,
	};

	must(!sigaction(SIGSYS, &action, NULL));
	must(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	must(!syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program));
}

static struct bcl_adi *adi;
static bool sending;

static void trips(unsigned n, size_t length)
{
	static uint8_t out[4096], in[4096];
	int me = (int)bcl_adi_rank(adi);

	for (unsigned i = 0; i < n; i++) {
		out[0] = (uint8_t)i;
		if (!me)
			must(!bcl_adi_send(adi, out, length, 1, 0, 0));
		must(!bcl_adi_recv(adi, in, length, 1 - me, 0, 0, NULL));
		must(!length || in[0] == (uint8_t)i);
		if (me)
			must(!bcl_adi_send(adi, out, length, 0, 0, 0));
	}
}

static struct bcl_team *world;

static void collectives(unsigned n, size_t length)
{
	const struct bcl_reduction *sum = bcl_reduction(BCL_SUM, BCL_UINT64);
	static uint64_t one[MUCH / 8], in[2 * MUCH / 8], out[2 * MUCH / 8];
	const size_t lengths[] = { length, length }, offsets[] = { 0, length };
	const size_t counts[] = { length / 8, length / 16 };
	const unsigned ranks[] = { 0, 1 };
	const struct bcl_blocks blocks = { 2, ranks, lengths, offsets };

	for (unsigned i = 0; i < n; i++) {
		must(!bcl_barrier(world));
		must(!bcl_broadcast(world, one, length, i % 2));
		must(!bcl_reduce(world, one, out, length / 8, sum, i % 2));
		must(!bcl_allreduce(world, one, out, length / 8, sum));
		must(!bcl_gather(world, one, length, out, i % 2));
		must(!bcl_scatter(world, in, one, length, i % 2));
		must(!bcl_allgather(world, one, length, out));
		must(!bcl_alltoall(world, in, out, length));
		must(!bcl_reduce_scatter(world, one, out, 1, sum));
		must(!bcl_scan(world, one, out, length / 8, sum));
		must(!bcl_exscan(world, one, out, length / 8, sum));
		must(!bcl_gatherv(world, one, length, out, lengths, offsets,
				  i % 2));
		must(!bcl_scatterv(world, in, lengths, offsets, one, length,
				   i % 2));
		must(!bcl_allgatherv(world, one, length, out, lengths,
				     offsets));
		must(!bcl_alltoallv(world, in, lengths, offsets, out, lengths,
				    offsets));
		must(!bcl_reduce_scatterv(world, in, out, counts, sum));
		must(!bcl_shift(world, one, out, length, 1));
		must(!bcl_exchange(world, in, &blocks, out, &blocks));
	}
}

static uint8_t huge[VAST];

/* Made before the measurement: inside the node by flags, by messages, and with
 * scratch memory. */
static struct bcl_persistent *made[MADE];

static void make(void)
{
	const struct bcl_reduction *sum = bcl_reduction(BCL_SUM, BCL_UINT64);
	static uint64_t one[MUCH / 8], out[MUCH / 8];

	must(!bcl_allreduce_init(world, one, out, 1, sum, &made[0]));
	must(!bcl_scan_init(world, one, out, MUCH / 8, sum, &made[1]));
	must(!bcl_shift_init(world, BCL_IN_PLACE, huge, VAST, 1, &made[2]));
}

static void persistent(unsigned n)
{
	struct bcl_adi_request *request;

	while (n--)
		for (unsigned i = 0; i < MADE; i++) {
			must(!bcl_persistent_run(made[i]));
			must(!bcl_persistent_start(made[i], &request));
			must(!bcl_adi_wait(adi, &request, NULL));
		}
}

/* Make the library allocate its memory for unexpected messages before the
 * measurement: all messages come before the first receive, and the ranks
 * receive the last message first. */
static void come_early(size_t length)
{
	static uint8_t bytes[LITTLE];
	int other = !bcl_adi_rank(adi);

	for (int tag = 0; tag < EARLY; tag++)
		must(!bcl_adi_send(adi, bytes, length, other, tag, 0));
	for (int tag = EARLY; tag--;)
		must(!bcl_adi_recv(adi, bytes, length, other, tag, 0, NULL));
}

static void *measure_collectives(void *arg)
{
	counting = true;
	collectives(COLLECTIVES / 10, MUCH);
	persistent(COLLECTIVES / 100);
	forbid_calls(SYS_exit, SYS_exit);
	collectives(COLLECTIVES, 8);
	collectives(COLLECTIVES, 1000);
	collectives(COLLECTIVES, LITTLE);
	syscall(SYS_exit, 0);
	return arg;
}

static void *measure(void *arg)
{
	counting = true;
	if (sending)
		forbid_calls(SYS_sendto, SYS_sendmsg);
	else
		forbid_calls(SYS_exit, SYS_exit);
	trips(TRIPS / 4, 0);
	trips(TRIPS / 4, 8);
	trips(TRIPS / 4, 48);
	trips(TRIPS / 4, 1000);
	syscall(SYS_exit, 0);
	return arg;
}

static uint64_t counter(const char *name)
{
	return counter_of(bcl_adi_context(adi), name);
}

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Exchange messages until SETTLE is over by the clock of rank 0. */
static void settle(void)
{
	double start = now();
	bool more;

	do {
		trips(100, 8);
		more = now() - start < SETTLE / 1e3;
		if (!bcl_adi_rank(adi))
			must(!bcl_adi_send(adi, &more, 1, 1, 1, 0));
		else
			must(!bcl_adi_recv(adi, &more, 1, 0, 1, 0, NULL));
	} while (more);
}

int main(int argc, char **argv)
{
	struct bcl_peer_info info = { .struct_size = sizeof(info) };
	struct bcl_peer *peer;
	bool collective;
	pthread_t thread;
	uint64_t sent;

	must(argc == 2);
	sending = !strcmp(argv[1], "packet");
	collective = !strcmp(argv[1], "collectives");
	must(!bcl_adi_open(NULL, &adi));
	must(bcl_adi_size(adi) == 2);
	settle();
	must(!bcl_adi_peer(adi, !bcl_adi_rank(adi), &peer));
	bcl_peer_info(peer, &info);
	must(info.path == (sending ? BCL_PATH_CARD : BCL_PATH_SHARED));
	must(!bcl_team_world(adi, &world));
	/* the first operations allocate memory for all later operations */
	make();
	collectives(4, 8);
	collectives(4, LITTLE);
	collectives(4, MUCH);
	persistent(4);
	come_early(8);
	come_early(1000);
	come_early(LITTLE);
	sent = counter("packet.sends");
	must(!pthread_create(&thread, NULL,
			     collective ? measure_collectives : measure, NULL));
	must(!pthread_join(thread, NULL));
	if (refused >= 0) {
		fprintf(stderr, "calls: rank %u made system call %d\n",
			bcl_adi_rank(adi), refused);
		return 1;
	}
	sent = counter("packet.sends") - sent;
	if (collective)
		printf("rank %u: %llu allreduces\n", bcl_adi_rank(adi),
		       (unsigned long long)counter("coll.allreduce"));
	else
		printf("rank %u: %u round trips, %llu frames sent\n",
		       bcl_adi_rank(adi), TRIPS, (unsigned long long)sent);
	/* one frame per message: most acknowledgements travel in a message */
	must(sending ? sent >= TRIPS && sent < TRIPS + TRIPS / 20 : !sent);
	for (unsigned i = 0; i < MADE; i++)
		bcl_persistent_free(made[i]);
	bcl_team_free(world);
	bcl_adi_close(adi);
	return 0;
}
