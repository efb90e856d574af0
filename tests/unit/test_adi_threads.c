/* SPDX-License-Identifier: MIT */
/* Several threads of a rank: BCL_ADI_THREADS, on real threads. */
#include "unit.h"

#include <bcl/adi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "adi/job.h"
#include "mock_transport.h"
#include "need.h"

enum {
	RANKS = 2,
	THREADS = 4,
	ROUNDS = 300,
	LONGEST = 9000,
	LEFT = 40, /* messages: more than a ring of the mock holds */
};

static struct bcl_env env;
static struct mock *mock;
static struct bcl_adi *adi[RANKS];

struct part {
	unsigned rank, thread;
	void (*run)(struct bcl_adi *adi, unsigned rank, unsigned thread);
	pthread_t id;
};

static void *run_part(void *arg)
{
	struct part *part = arg;

	part->run(adi[part->rank], part->rank, part->thread);
	return NULL;
}

static void *run_open(void *arg)
{
	unsigned rank = (unsigned)(uintptr_t)arg;
	struct bcl_adi_options options = {
		.flags = BCL_ADI_THREADS,
		.context = mock_context(mock, rank),
		.boot = mock_boot(mock, rank, RANKS),
	};

	need_equal(bcl_adi_open(&options, &adi[rank]), BCL_OK);
	return NULL;
}

static void *run_close(void *arg)
{
	bcl_adi_close(adi[(uintptr_t)arg]);
	return NULL;
}

static void all_ranks(void *(*run)(void *arg))
{
	pthread_t ids[RANKS];
	uintptr_t i;

	for (i = 0; i < RANKS; i++)
		need(!pthread_create(&ids[i], NULL, run, (void *)i));
	for (i = 0; i < RANKS; i++)
		pthread_join(ids[i], NULL);
}

static void run_threads(const struct mock_options *options, unsigned threads,
			void (*run)(struct bcl_adi *adi, unsigned rank,
				    unsigned thread))
{
	struct part parts[RANKS][THREADS];
	unsigned i, j;

	mock = mock_open(&env, options);
	all_ranks(run_open);
	for (i = 0; i < RANKS; i++) {
		for (j = 0; j < threads; j++) {
			parts[i][j] = (struct part){ i, j, run, 0 };
			need(!pthread_create(&parts[i][j].id, NULL, run_part,
					     &parts[i][j]));
		}
	}
	for (i = 0; i < RANKS; i++)
		for (j = 0; j < threads; j++)
			pthread_join(parts[i][j].id, NULL);
	all_ranks(run_close);
	mock_close(mock);
}

static void doze(unsigned us)
{
	const struct timespec time = { .tv_nsec = us * 1000l };

	nanosleep(&time, NULL);
}

static const struct mock_options kinds[] = {
	{ .ports = RANKS, .seed = 1 },
	{ .ports = RANKS, .seed = 2, .again = 30, .ring = 4, .offers = 40 },
};

enum {
	KINDS = sizeof(kinds) / sizeof(kinds[0]),
};

/* ---- each thread with its own partner --------------------------------------
 */

static void pairs(struct bcl_adi *a, unsigned rank, unsigned thread)
{
	unsigned char *buffer = malloc(LONGEST);
	int peer = 1 - (int)rank;
	unsigned i;

	for (i = 0; i < ROUNDS; i++) {
		size_t length = (i * 37 + thread * 1000) % LONGEST;

		if (rank == 0) {
			pattern_fill(buffer, length, i + thread);
			need_equal(bcl_adi_send(a, buffer, length, peer, (int)i,
						thread),
				   BCL_OK);
		}
		memset(buffer, 0, length);
		need_equal(bcl_adi_recv(a, buffer, LONGEST, peer, (int)i,
					thread, NULL),
			   BCL_OK);
		need(pattern_is(buffer, length, i + thread));
		if (rank == 1) {
			need_equal(bcl_adi_send(a, buffer, length, peer, (int)i,
						thread),
				   BCL_OK);
			/* the others fall asleep now and then */
			if (i % 100 == thread * 20)
				doze(30000);
		}
	}
	free(buffer);
}

START_TEST(pairs_of_threads)
{
	run_threads(&kinds[_i], THREADS, pairs);
}
END_TEST

/* ---- threads that take from one another ---- */

static _Atomic unsigned taken[THREADS * ROUNDS];

static void crowd(struct bcl_adi *a, unsigned rank, unsigned thread)
{
	struct bcl_adi_request *requests[8];
	struct bcl_adi_message *message;
	struct bcl_adi_status status;
	unsigned i, index, values[8];
	enum bcl_status result;

	for (i = 0; i < ROUNDS; i++) {
		if (rank == 0) {
			values[0] = thread * ROUNDS + i;
			if (i % 3)
				result = bcl_adi_isend(a, values, 4, 1, 7, 0,
						       &requests[0]);
			else
				result = bcl_adi_issend(a, values, 4, 1, 7, 0,
							&requests[0]);
			need_equal(result, BCL_OK);
			need_equal(bcl_adi_wait(a, &requests[0], NULL), BCL_OK);
			continue;
		}
		if (thread % 2 && i % 2) {
			while (bcl_adi_improbe(a, BCL_ANY_SOURCE, 7, 0,
					       &message, &status))
				;
			need_equal(bcl_adi_imrecv(a, values, 4, &message,
						  &requests[0]),
				   BCL_OK);
			need_equal(bcl_adi_waitany(a, requests, 1, &index,
						   &status),
				   BCL_OK);
		} else {
			need_equal(bcl_adi_recv(a, values, 4, BCL_ANY_SOURCE,
						BCL_ANY_TAG, 0, &status),
				   BCL_OK);
		}
		need(values[0] < THREADS * ROUNDS);
		atomic_fetch_add(&taken[values[0]], 1);
	}
}

START_TEST(crowds_of_threads)
{
	unsigned i;

	memset(taken, 0, sizeof(taken));
	run_threads(&kinds[_i], THREADS, crowd);
	for (i = 0; i < THREADS * ROUNDS; i++)
		need_equal(taken[i], 1);
}
END_TEST

/* ---- sleepers and those who wake them ---- */

/*
 * Thread 0 sleeps in a wait; thread 1 polls and so completes what thread 0
 * waits for, and disarms what would have woken it.
 */
static void sleeper(struct bcl_adi *a, unsigned rank, unsigned thread)
{
	struct bcl_adi_request *r = NULL;
	unsigned value = 1, i, j;

	for (i = 0; i < 5; i++) {
		if (thread == 0 && rank == 0) {
			need_equal(bcl_adi_recv(a, &value, 4, 1, 0, 0, NULL),
				   BCL_OK);
		} else if (rank == 0) {
			/* until thread 0 sleeps; poll once; come back late */
			doze(60000);
			for (j = 0; j < 3; j++) {
				need_equal(bcl_adi_test(a, &r, NULL), BCL_OK);
				bcl_adi_progress(a);
			}
			need_equal(bcl_adi_send(a, &value, 4, 1, 1, 0), BCL_OK);
			doze(20000);
		} else if (thread == 0) {
			need_equal(bcl_adi_recv(a, &value, 4, 0, 1, 0, NULL),
				   BCL_OK);
			doze(5000);
			need_equal(bcl_adi_send(a, &value, 4, 0, 0, 0), BCL_OK);
		}
	}
}

START_TEST(a_sleeper_is_woken)
{
	run_threads(&kinds[_i], 2, sleeper);
}
END_TEST

/*
 * Thread 0 sleeps until an answer comes; to what thread 1 sends, which finds
 * the ring full and goes away without waiting.
 */
static void leaver(struct bcl_adi *a, unsigned rank, unsigned thread)
{
	static _Atomic bool answered;
	struct bcl_adi_request *requests[LEFT];
	unsigned value[LEFT] = { 0 }, i;

	if (rank == 1 && thread == 0) {
		doze(100000);
		for (i = 0; i < LEFT; i++)
			need_equal(bcl_adi_recv(a, value, 4, 0, 1, 0, NULL),
				   BCL_OK);
		need_equal(bcl_adi_send(a, value, 4, 0, 0, 0), BCL_OK);
	} else if (rank == 0 && thread == 0) {
		need_equal(bcl_adi_recv(a, value, 4, 1, 0, 0, NULL), BCL_OK);
		atomic_store(&answered, true);
	} else if (rank == 0) {
		doze(60000); /* until thread 0 sleeps */
		for (i = 0; i < LEFT; i++)
			need_equal(bcl_adi_isend(a, &value[i], 4, 1, 1, 0,
						 &requests[i]),
				   BCL_OK);
		while (!atomic_load(&answered))
			doze(1000);
		need_equal(bcl_adi_waitall(a, requests, LEFT, NULL), BCL_OK);
		atomic_store(&answered, false);
	}
}

START_TEST(chores_are_not_left)
{
	run_threads(&kinds[_i], 2, leaver);
}
END_TEST

/* A packet that its rank sends to itself for ever, until it is told to stop. */
struct circle {
	struct bcl_adi *adi;
	_Atomic bool stops;
};

static void send_on(void *arg, struct bcl_peer *peer, unsigned type,
		    const void *packet, size_t length)
{
	struct circle *circle = arg;

	if (!atomic_load(&circle->stops))
		need_equal(bcl_adi_packet_send(circle->adi, peer, type, packet,
					       length, NULL, 0, 0),
			   BCL_OK);
}

/*
 * Thread 0 of rank 0 waits for an answer, and each of its turns finds a packet.
 * Thread 1 asks for the answer, for which it needs the lock.
 */
static void busy_waiter(struct bcl_adi *a, unsigned rank, unsigned thread)
{
	static const struct bcl_adi_packet_ops ops = { .size = sizeof(ops),
						       .receive = send_on };
	static struct circle circle;
	struct bcl_peer *self;
	unsigned value = 0;

	if (rank == 1 && thread == 0) {
		need_equal(bcl_adi_recv(a, &value, 4, 0, 1, 0, NULL), BCL_OK);
		need_equal(bcl_adi_send(a, &value, 4, 0, 0, 0), BCL_OK);
	} else if (rank == 0 && thread == 0) {
		circle.adi = a;
		atomic_store(&circle.stops, false);
		need_equal(bcl_adi_packet_open(a, &ops, &circle), BCL_OK);
		need_equal(bcl_adi_peer(a, 0, &self), BCL_OK);
		need_equal(
			bcl_adi_packet_send(a, self, 0, &value, 4, NULL, 0, 0),
			BCL_OK);
		need_equal(bcl_adi_recv(a, &value, 4, 1, 0, 0, NULL), BCL_OK);
		atomic_store(&circle.stops, true);
	} else if (rank == 0) {
		doze(50000); /* until thread 0 is at it */
		need_equal(bcl_adi_send(a, &value, 4, 1, 1, 0), BCL_OK);
	}
}

START_TEST(a_busy_waiter_leaves_the_lock)
{
	run_threads(&kinds[_i], 2, busy_waiter);
}
END_TEST

/* Thread 0 waits for packets; the others wake it by hand. */
static void waker(struct bcl_adi *a, unsigned rank, unsigned thread)
{
	static _Atomic unsigned stage[RANKS];
	unsigned i;

	for (i = 0; i < 3; i++) {
		if (thread == 0) {
			while (bcl_adi_packet_poll(a))
				;
			need_equal(bcl_adi_packet_wait(a, UINT64_MAX), BCL_OK);
			atomic_fetch_add(&stage[rank], 1);
		} else {
			doze(i * 40000);
			while (atomic_load(&stage[rank]) == i) {
				bcl_adi_packet_wake(a);
				doze(1000);
			}
		}
	}
	atomic_store(&stage[rank], 0);
}

START_TEST(wake_by_hand)
{
	run_threads(&kinds[_i], 2, waker);
}
END_TEST

/* ---- yields ---- */

static _Thread_local struct bcl_adi *polled;

static void *take_the_lock(void *arg)
{
	struct bcl_adi *a = arg;

	need(!pthread_mutex_trylock(&a->lock));
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

static void yield_to_another_thread(void *arg)
{
	pthread_t id;

	(void)arg;
	if (!polled)
		return;
	need(!pthread_create(&id, NULL, take_the_lock, polled));
	pthread_join(id, NULL);
}

static void poll_in_vain(struct bcl_adi *a, unsigned rank, unsigned thread)
{
	(void)thread;
	bcl_adi_context(a)->crowded = true;
	polled = a;
	while (!mock_count(mock, rank, BCL_COUNT_core_yields))
		bcl_adi_packet_poll(a);
	polled = NULL;
}

START_TEST(yields_leave_the_lock_to_others)
{
	env.yield = yield_to_another_thread;
	run_threads(&kinds[0], 1, poll_in_vain);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("adi_threads");
	TCase *tcase = tcase_create("threads");

	env = bcl_env_linux;
	tcase_set_timeout(tcase, 100);
	tcase_add_loop_test(tcase, pairs_of_threads, 0, KINDS);
	tcase_add_loop_test(tcase, crowds_of_threads, 0, KINDS);
	tcase_add_loop_test(tcase, a_sleeper_is_woken, 0, KINDS);
	tcase_add_loop_test(tcase, chores_are_not_left, 0, KINDS);
	tcase_add_loop_test(tcase, a_busy_waiter_leaves_the_lock, 0, KINDS);
	tcase_add_loop_test(tcase, wake_by_hand, 0, KINDS);
	tcase_add_test(tcase, yields_leave_the_lock_to_others);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
