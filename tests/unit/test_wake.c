/* SPDX-License-Identifier: MIT */
/* Sleeping: no wake-up may be lost, and a rank that waits must sleep. */
#include "unit.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "pairs.h"
#include "transport/shm/port.h"

enum {
	ROUNDS = 3000,
	SLOW_ROUNDS = 8,
};

/* The environment of the machine, with a count of the sleepers' membarriers. */
static struct bcl_env counting;
static _Atomic unsigned barriers;

static void count_barrier(void *world)
{
	barriers++;
	bcl_env_linux.barrier(world);
}

static void open_counted(struct rank *rank, enum bcl_path path)
{
	counting = bcl_env_linux;
	counting.barrier = count_barrier;
	rank_env = &counting;
	rank_open(rank, path);
}

/* Receive a number by poll() on the port's descriptor, as an event loop
 * does. */
static uint64_t receive_by_poll(struct rank *rank)
{
	struct pollfd pollfd = { .fd = bcl_port_fd(rank->port),
				 .events = POLLIN };
	struct bcl_event event;
	uint64_t number;

	while (bcl_poll(rank->port, &event)) {
		enum bcl_status status = bcl_arm(rank->port);

		if (status == BCL_ERR_AGAIN)
			continue;
		must(!status);
		/* a lost wake-up shows here */
		must(poll(&pollfd, 1, 10000) == 1);
	}
	must(event.kind == BCL_EVENT_MESSAGE && event.length == 8);
	memcpy(&number, event.data, 8);
	return number;
}

/* Wait up to 40 us, so that messages come before, while and after a rank
 * arms. */
static void pause_a_little(uint32_t *random)
{
	uint64_t end;

	*random = *random * 1664525 + 1013904223;
	end = rank_now() + (*random >> 16) % 40000;
	while (rank_now() < end)
		;
}

/* Fences of the last ping_pong_by_poll(). */
static uint64_t fences;

static int ping_pong_by_poll(unsigned me, void *path)
{
	struct rank rank;
	uint32_t random = me + 1;

	open_counted(&rank, *(enum bcl_path *)path);
	for (uint64_t i = 0; i < ROUNDS; i++) {
		if (me == 0)
			rank_send(&rank, 1, i);
		must(receive_by_poll(&rank) == i);
		pause_a_little(&random);
		if (me == 1)
			rank_send(&rank, 0, i);
	}
	/* the rank must have slept */
	if (*(enum bcl_path *)path == BCL_PATH_SHARED)
		must(rank_counter(&rank, "shm.wakes") > ROUNDS / 10);
	fences = rank_counter(&rank, "shm.fences");
	rank_close(&rank);
	return 0;
}

START_TEST(event_loops)
{
	ck_assert_int_eq(rank_pair(ping_pong_by_poll, _i), 0);
}
END_TEST

/* Only the sleeper's membarrier orders a sender's write before the sender's
 * look at the sleeper. Without the membarrier hardly a wake-up in a million is
 * lost, so the test counts membarriers. */
static int with_membarrier(unsigned me, void *path)
{
	must(!ping_pong_by_poll(me, path));
	must(barriers > ROUNDS / 10);
	must(fences == 0);
	return 0;
}

START_TEST(sleepers_order_senders)
{
	enum bcl_path path = BCL_PATH_SHARED;

	if (!bcl_env_linux.barrier_register(NULL))
		return; /* the next test tests a system without membarrier */
	ck_assert_int_eq(bcl_boot_job_run(2, with_membarrier, &path), 0);
}
END_TEST

/* As in containers: the call exists, and is refused. */
static void forbid_membarrier(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
			 offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = { sizeof(code) / sizeof(*code), code };

	must(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	must(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
	must(syscall(SYS_membarrier, 0, 0, 0) < 0);
}

static int without_membarrier(unsigned me, void *which)
{
	enum bcl_path path = BCL_PATH_SHARED;

	if (*(unsigned *)which & 1 << me)
		forbid_membarrier();
	must(!ping_pong_by_poll(me, &path));
	must(fences >= ROUNDS);
	return 0;
}

START_TEST(event_loops_without_membarrier)
{
	unsigned which = (unsigned)_i;

	ck_assert_int_eq(bcl_boot_job_run(2, without_membarrier, &which), 0);
}
END_TEST

/* A stream to a receiver that sleeps whenever possible. */
static int stream(unsigned me, void *path)
{
	struct rank rank;
	uint32_t random = 7;

	rank_open(&rank, *(enum bcl_path *)path);
	for (uint64_t i = 0; i < ROUNDS; i++) {
		if (me == 1) {
			must(receive_by_poll(&rank) == i);
			continue;
		}
		if (i % 16 == 0)
			pause_a_little(&random);
		rank_send(&rank, 1, i);
	}
	rank_close(&rank);
	return 0;
}

START_TEST(a_stream)
{
	ck_assert_int_eq(rank_pair(stream, _i), 0);
}
END_TEST

static void sleep_ms(unsigned ms)
{
	const struct timespec time = { .tv_nsec = ms * 1000000L };

	nanosleep(&time, NULL);
}

/* Long waits must end in sleep, and cost next to no processor time. */
static int long_waits(unsigned me, void *path)
{
	struct timespec cpu;
	struct rank rank;

	rank_open(&rank, *(enum bcl_path *)path);
	for (uint64_t i = 0; i < SLOW_ROUNDS; i++) {
		if (me == 0) {
			sleep_ms(60);
			rank_send(&rank, 1, i);
		} else {
			must(rank_event(&rank).kind == BCL_EVENT_MESSAGE);
		}
	}
	if (me == 1) {
		/* all waits sleep, unless other processes keep the machine
		 * busy */
		must(rank_counter(&rank, "core.sleeps") >= SLOW_ROUNDS / 4);
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &cpu);
		/* 20 of each 60 ms are yields */
		must(cpu.tv_sec == 0);
	}
	rank_close(&rank);
	return 0;
}

START_TEST(long_waits_sleep)
{
	ck_assert_int_eq(rank_pair(long_waits, _i), 0);
}
END_TEST

static int time_out(unsigned me, void *path)
{
	struct bcl_event event;
	struct rank rank;
	uint64_t start;

	rank_open(&rank, *(enum bcl_path *)path);
	if (me == 0) {
		must(bcl_wait(rank.port, 0) == BCL_ERR_TIMEOUT);
		start = rank_now();
		must(bcl_wait(rank.port, 50000000) == BCL_ERR_TIMEOUT);
		must(rank_now() - start >= 50000000);
		must(bcl_poll(rank.port, &event) == BCL_ERR_EMPTY);
		rank_send(&rank, 1, 1);
	} else {
		must(rank_event(&rank).kind == BCL_EVENT_MESSAGE);
	}
	rank_close(&rank);
	return 0;
}

START_TEST(waits_end_in_time)
{
	ck_assert_int_eq(rank_pair(time_out, _i), 0);
}
END_TEST

/* bcl_wait() finds an event. The event must be there for bcl_poll(), and only
 * once. */
static int found_and_kept(unsigned me, void *path)
{
	struct bcl_event event;
	struct rank rank;

	rank_open(&rank, *(enum bcl_path *)path);
	if (me == 0) {
		rank_send(&rank, 1, 5);
		rank_send(&rank, 1, 6);
	} else {
		must(!bcl_wait(rank.port, UINT64_MAX));
		must(!bcl_wait(rank.port, UINT64_MAX));
		must(bcl_arm(rank.port) == BCL_ERR_AGAIN);
		must(!bcl_poll(rank.port, &event));
		must(*(const uint64_t *)event.data == 5);
		must(rank_event(&rank).length == 8);
		must(bcl_wait(rank.port, 1000) == BCL_ERR_TIMEOUT);
		must(!bcl_arm(rank.port));
		must(bcl_poll(rank.port, &event) == BCL_ERR_EMPTY);
	}
	rank_close(&rank);
	return 0;
}

START_TEST(a_wait_keeps_what_it_finds)
{
	ck_assert_int_eq(rank_pair(found_and_kept, _i), 0);
}
END_TEST

/* ---- a sender without room ---- */

enum {
	LONG = 1000, /* bytes */
};

static _Atomic uint32_t *shared; /* by the ranks of a job */

static bool sleeps(const struct bcl_peer *peer)
{
	const struct bcl_connection *c = peer->path;
	uint32_t attention = atomic_load(&c->its_attention[c->its_watch]);

	return attention & BCL_ATTENTION_SLEEPING;
}

/* Rank 0 sends until no room is left, and sleeps. Rank 1 does not look until
 * then, and takes all messages without an answer. */
static int refused(unsigned me, void *argument)
{
	static uint8_t bytes[LONG];
	const struct iovec iov = { bytes, LONG };
	struct bcl_event event;
	enum bcl_status status;
	struct rank rank;
	uint32_t sent = 0;

	setenv("BCL_RING_SLOTS", "256", 1);
	setenv("BCL_REQUESTS", "16", 1);
	rank_open(&rank, *(enum bcl_path *)argument);
	if (me == 1) {
		while (!atomic_load(shared))
			usleep(1000);
		while (rank.peer[0]->pair && !sleeps(rank.peer[0]))
			usleep(1000);
		for (uint32_t heard = 0; heard < atomic_load(shared);
		     heard += event.kind == BCL_EVENT_MESSAGE)
			event = rank_event(&rank);
		must(!bcl_boot_fence(rank.boot));
		atomic_store(shared, 0);
		rank_close(&rank);
		return 0;
	}
	while (!(status = bcl_send(rank.peer[1], 1, 0, &iov, 1, 0)))
		sent++;
	must(status == BCL_ERR_AGAIN);
	atomic_store(shared, sent);
	/* neither an event nor the end of time */
	must(bcl_wait(rank.port, UINT64_MAX) == BCL_ERR_AGAIN);
	must(bcl_poll(rank.port, &event) == BCL_ERR_EMPTY);
	must(!bcl_boot_fence(rank.boot));
	/* told once */
	must(bcl_wait(rank.port, 1000) == BCL_ERR_TIMEOUT);
	must(!bcl_send(rank.peer[1], 1, 0, &iov, 1, 0));
	rank_close(&rank);
	return 0;
}

START_TEST(woken_for_room)
{
	shared = ranks_share();
	ck_assert_int_eq(rank_pair(refused, _i), 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("wake");
	TCase *tcase = tcase_create("wake");

	tcase_add_loop_test(tcase, event_loops, 0, 2);
	tcase_add_test(tcase, sleepers_order_senders);
	tcase_add_loop_test(tcase, event_loops_without_membarrier, 1, 4);
	tcase_add_loop_test(tcase, a_stream, 0, 2);
	tcase_add_loop_test(tcase, long_waits_sleep, 0, 2);
	tcase_add_loop_test(tcase, woken_for_room, 0, 2);
	tcase_add_loop_test(tcase, waits_end_in_time, 0, 2);
	tcase_add_loop_test(tcase, a_wait_keeps_what_it_finds, 0, 2);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
