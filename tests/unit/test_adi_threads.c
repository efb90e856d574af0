/* SPDX-License-Identifier: MIT */
/*
 * Jobs with BCL_ADI_THREADS: several threads of a rank send, receive, sleep and
 * wake each other. Two ranks run as real threads of one process, on the mock
 * transport. A failed need() ends the program.
 */
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
	LEFT = 40, /* messages: more than a ring of the mock holds, if the ring
		    * is bounded (the second of kinds[]) */
};

static struct bcl_env env;
static struct mock *mock;
static struct bcl_adi *adi[RANKS];

/* A thread of a rank, and the function that the thread runs. */
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
		.struct_size = sizeof(options),
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

/* ---- each thread with its own partner ---- */

/* Thread i of rank 0 and thread i of rank 1 send a message back and forth, in
 * context i. */

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
			/* a pause: the partner falls asleep now and then */
			if (i % 100 == thread * 20)
				doze(30000);
		}
	}
	free(buffer);
}

/* All messages must arrive at the thread that receives in their context, with
 * the right bytes. */
START_TEST(pairs_of_threads)
{
	run_threads(&kinds[_i], THREADS, pairs);
}
END_TEST

/* ---- threads that compete for messages ---- */

/* How often each message was received, by the value in the message. */
static _Atomic unsigned taken[THREADS * ROUNDS];

/* The threads of rank 0 send ROUNDS messages each, some synchronous. All
 * threads of rank 1 receive from any source, some by matched probes. */

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

/* Each message must be received exactly once. */
START_TEST(crowds_of_threads)
{
	unsigned i;

	memset(taken, 0, sizeof(taken));
	run_threads(&kinds[_i], THREADS, crowd);
	for (i = 0; i < THREADS * ROUNDS; i++)
		need_equal(taken[i], 1);
}
END_TEST

/* ---- a thread that sleeps, and a thread that wakes the sleeper ---- */

/*
 * Thread 0 of rank 0 sleeps in a receive. Thread 1 polls: the poll may complete
 * the receive of thread 0, and disarms the port that would have woken thread 0.
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
			/* until thread 0 sleeps; then poll, send, and stay out
			 * of the library for long */
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

/* Thread 1 must wake thread 0: otherwise the receive never ends. */
START_TEST(a_sleeper_is_woken)
{
	run_threads(&kinds[_i], 2, sleeper);
}
END_TEST

/*
 * Thread 0 of rank 0 sleeps until an answer comes. Rank 1 answers after it has
 * received all messages of thread 1. Thread 1 finds the ring full, and leaves
 * the library with messages still queued (chores), without a wait.
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

/* Thread 0 must send the queued messages of thread 1: otherwise no answer
 * comes. */
START_TEST(chores_are_not_left)
{
	run_threads(&kinds[_i], 2, leaver);
}
END_TEST

/* A packet that a rank sends to itself over and over, until `stops` is set. */
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
 * Thread 0 of rank 0 waits for an answer, and each turn of thread 0 finds a
 * packet. Thread 1 needs the lock to send the message that rank 1 answers.
 */
static void busy_waiter(struct bcl_adi *a, unsigned rank, unsigned thread)
{
	static const struct bcl_adi_packet_ops ops = { .struct_size =
							       sizeof(ops),
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
		doze(50000); /* until thread 0 turns */
		need_equal(bcl_adi_send(a, &value, 4, 1, 1, 0), BCL_OK);
	}
}

/* Thread 0 must let thread 1 have the lock, although no turn of thread 0 is
 * empty. */
START_TEST(a_busy_waiter_leaves_the_lock)
{
	run_threads(&kinds[_i], 2, busy_waiter);
}
END_TEST

/* Thread 0 of each rank waits for packets, but no packet is sent. Thread 1
 * calls bcl_adi_packet_wake() until the wait of thread 0 has ended. */
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

/* bcl_adi_packet_wake() must end each wait for packets. */
START_TEST(wake_by_hand)
{
	run_threads(&kinds[_i], 2, waker);
}
END_TEST

/* ---- upcalls ---- */

struct answerer {
	struct bcl_adi *adi;
	bool answered;
};

/* Sends. The packet is valid during the upcall, so it must stay as it is. */
static void answer_at_once(void *arg, struct bcl_peer *peer, unsigned type,
			   const void *packet, size_t length)
{
	struct answerer *answerer = arg;

	need(pattern_is(packet, length, 1));
	need_equal(bcl_adi_packet_send(answerer->adi, peer, type, packet, 8,
				       NULL, 0, 0),
		   BCL_OK);
	need(pattern_is(packet, length, 1));
	answerer->answered = true;
}

/* Waits until another thread sleeps in the library, and takes the job's
 * lock. */
static void lock_beside_sleeper(struct bcl_adi *a)
{
	for (;;) {
		pthread_mutex_lock(&a->lock);
		if (a->sleepers)
			return;
		pthread_mutex_unlock(&a->lock);
		doze(1000);
	}
}

/*
 * Thread 0 of rank 0 sleeps. Thread 1 has the lock and polls: the upcall for
 * the packet of rank 1 sends, and so enters and leaves the library once more.
 */
static void answerer(struct bcl_adi *a, unsigned rank, unsigned thread)
{
	static const struct bcl_adi_packet_ops ops = {
		.struct_size = sizeof(ops), .receive = answer_at_once
	};
	static struct answerer it;
	static _Atomic bool ready;
	unsigned char packet[1000];
	struct bcl_peer *peer;

	if (rank == 0 && thread == 0) {
		it = (struct answerer){ .adi = a };
		need_equal(bcl_adi_packet_open(a, &ops, &it), BCL_OK);
		need_equal(bcl_adi_packet_wait(a, UINT64_MAX), BCL_OK);
	} else if (rank == 0) {
		lock_beside_sleeper(a);
		atomic_store(&ready, true);
		while (!it.answered)
			bcl_adi_packet_poll(a);
		pthread_mutex_unlock(&a->lock);
		bcl_adi_packet_wake(a);
	} else if (thread == 0) {
		while (!atomic_load(&ready))
			doze(1000);
		pattern_fill(packet, sizeof(packet), 1);
		need_equal(bcl_adi_peer(a, 0, &peer), BCL_OK);
		need_equal(bcl_adi_packet_send(a, peer, 2, packet,
					       sizeof(packet), NULL, 0, 0),
			   BCL_OK);
		atomic_store(&ready, false);
	}
}

/* A packet must stay in place when its upcall leaves the library, although
 * another thread sleeps, for which the port is armed again. */
START_TEST(a_packet_stays_during_its_upcall)
{
	run_threads(&kinds[_i], 2, answerer);
}
END_TEST

/* ---- yields ---- */

/* The job that this thread polls; NULL: none. */
static _Thread_local struct bcl_adi *polled;

static void *take_the_lock(void *arg)
{
	struct bcl_adi *a = arg;

	need(!pthread_mutex_trylock(&a->lock));
	pthread_mutex_unlock(&a->lock);
	return NULL;
}

/* The environment's yield(): another thread takes the lock meanwhile. */
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

/* On a crowded host a thread that polls without success yields. The lock must
 * be free during the yield. */
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
	tcase_add_loop_test(tcase, a_packet_stays_during_its_upcall, 0, KINDS);
	tcase_add_test(tcase, yields_leave_the_lock_to_others);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
