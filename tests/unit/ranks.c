/* SPDX-License-Identifier: MIT */
#include "tests/unit/ranks.h"

#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/counter.h"
#include "tests/unit/unit.h"
#include "transport/internal.h"

enum {
	LIMIT = 30, /* seconds, for each wait */
};

uint64_t rank_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* For conditions in loops: a ck_assert() writes to a file at each call, even if
 * the assertion holds. */
#define check_quietly(condition, ...)              \
	do {                                       \
		if (!(condition))                  \
			ck_abort_msg(__VA_ARGS__); \
	} while (0)

static uint64_t limit(void)
{
	return rank_now() + LIMIT * UINT64_C(1000000000);
}

/* Waits for the end of any rank. Returns the number of the rank. */
static unsigned wait_for_rank(const struct ranks *all, int *status)
{
	pid_t pid = wait(status);
	unsigned i = 0;

	ck_assert_int_gt(pid, 0);
	while (i < all->n && all->rank[i].pid != pid)
		i++;
	ck_assert_uint_lt(i, all->n);
	return i;
}

static void kill_ranks(const struct ranks *all, uint64_t living)
{
	for (unsigned i = 0; i < all->n; i++)
		if (living >> i & 1)
			kill(all->rank[i].pid, SIGKILL);
}

void ranks_run_bare(unsigned n, rank_body *body, uint64_t killed)
{
	struct ranks *all = mmap(NULL, sizeof(*all), PROT_READ | PROT_WRITE,
				 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t living = 0;
	unsigned i;
	int status;

	ck_assert_ptr_ne(all, MAP_FAILED);
	ck_assert_uint_le(n, RANKS_MAX);
	all->n = n;
	for (i = 0; i < n; i++) {
		struct rank rank = { .all = all, .me = i };
		pid_t pid = fork();

		ck_assert_int_ge(pid, 0);
		if (!pid) {
			/* no rails, unless the test has set BCL_RAILS */
			setenv("BCL_RAILS", "none", 0);
			body(&rank);
			_exit(0);
		}
		all->rank[i].pid = pid;
		living |= UINT64_C(1) << i;
	}
	while (living) {
		i = wait_for_rank(all, &status);
		living &= ~(UINT64_C(1) << i);
		if (killed >> i & 1 ? WIFSIGNALED(status)
				    : WIFEXITED(status) && !WEXITSTATUS(status))
			continue;
		/* The others may wait for this rank. */
		kill_ranks(all, living);
		ck_abort_msg("rank %u ended with status 0x%x", i, status);
	}
	munmap(all, sizeof(*all));
}

static _Thread_local rank_body *opened_body;

static void open_and_run(struct rank *rank)
{
	rank_open(rank, NULL);
	opened_body(rank);
	rank_close(rank);
}

void ranks_run(unsigned n, rank_body *body, uint64_t killed)
{
	opened_body = body;
	ranks_run_bare(n, open_and_run, killed);
}

void ranks_show_order(struct bcl_context *context)
{
	struct bcl_memory *memory;
	uint8_t byte;

	ck_assert_int_eq(bcl_memory_register(context, &byte, 1, 0, &memory),
			 BCL_OK);
	bcl_memory_release(memory);
}

void rank_open(struct rank *rank, const struct bcl_context_options *options)
{
	struct bcl_context_options own = { .struct_size = sizeof(own),
					   .local_ranks = rank->all->n };
	size_t length;

	ck_assert_int_eq(
		bcl_context_open(rank->env ? rank->env : &bcl_env_linux,
				 options ? options : &own, -1, &rank->context),
		BCL_OK);
	/* tests do not depend on the number of processors */
	rank->context->crowded = false;
	ck_assert_int_eq(bcl_port_open(rank->context, NULL, &rank->port),
			 BCL_OK);
	ck_assert_int_eq(bcl_port_address(rank->port,
					  rank->all->rank[rank->me].address,
					  &length),
			 BCL_OK);
	rank->all->rank[rank->me].length = length;
	atomic_store(&rank->all->rank[rank->me].ready, 1);
}

void rank_close(struct rank *rank)
{
	bcl_close(rank->context);
}

void rank_barrier_of(struct rank *rank, unsigned n)
{
	uint64_t end = limit();
	unsigned target = ++rank->barriers * n;

	atomic_fetch_add(&rank->all->arrived, 1);
	while (atomic_load(&rank->all->arrived) < target) {
		check_quietly(rank_now() < end, "rank %u: nobody comes",
			      rank->me);
		sched_yield();
	}
}

struct bcl_peer *rank_begin(struct rank *rank, unsigned other)
{
	uint64_t end = limit();

	while (!atomic_load(&rank->all->rank[other].ready)) {
		check_quietly(rank_now() < end, "rank %u: no address",
			      rank->me);
		sched_yield();
	}
	ck_assert_int_eq(bcl_peer_open(rank->port,
				       rank->all->rank[other].address,
				       rank->all->rank[other].length,
				       &rank->peers[other]),
			 BCL_OK);
	return rank->peers[other];
}

enum bcl_status rank_connect(struct rank *rank, unsigned other)
{
	struct bcl_peer_info info = { .struct_size = sizeof(info) };
	struct bcl_event event;

	rank_begin(rank, other);
	for (;;) {
		bcl_peer_info(rank->peers[other], &info);
		if (info.state != BCL_PEER_CONNECTING)
			break;
		rank_expect(rank, BCL_EVENT_PEER, &event);
	}
	return info.state == BCL_PEER_UP ? BCL_OK : info.status;
}

void rank_event(struct rank *rank, struct bcl_event *event)
{
	uint64_t end = limit();

	while (bcl_poll(rank->port, event)) {
		check_quietly(rank_now() < end, "rank %u: no event", rank->me);
		sched_yield();
	}
}

void rank_expect(struct rank *rank, enum bcl_event_kind kind,
		 struct bcl_event *event)
{
	rank_event(rank, event);
	ck_assert_msg(event->kind == kind,
		      "rank %u: event %d (status %d), expected %d", rank->me,
		      event->kind, event->status, kind);
}

void rank_send(struct rank *rank, unsigned other, uint64_t immediate,
	       const void *data, size_t length)
{
	struct iovec iov = { (void *)(uintptr_t)data, length };
	uint64_t end = limit();
	enum bcl_status status;

	while ((status = bcl_send(rank->peers[other], 1, immediate, &iov, 1,
				  0))) {
		struct bcl_event event;

		check_quietly(status == BCL_ERR_AGAIN, "status %d", status);
		check_quietly(bcl_poll(rank->port, &event) == BCL_ERR_EMPTY,
			      "rank %u: event %d while sending", rank->me,
			      event.kind);
		check_quietly(rank_now() < end, "rank %u: full", rank->me);
		sched_yield();
	}
}

void rank_idle(struct rank *rank, unsigned milliseconds)
{
	uint64_t end = rank_now() + milliseconds * UINT64_C(1000000);
	struct bcl_event event;

	do {
		check_quietly(bcl_poll(rank->port, &event) == BCL_ERR_EMPTY,
			      "rank %u: event %d (status %d) while idle",
			      rank->me, event.kind, event.status);
		sched_yield();
	} while (rank_now() < end);
}

uint64_t rank_counter(struct rank *rank, const char *name)
{
	return counter_of(rank->context, name);
}
