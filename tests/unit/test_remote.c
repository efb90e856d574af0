/* SPDX-License-Identifier: MIT */
/* Remote memory access inside a host, by each way. */
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "env/env.h"
#include "tests/unit/ranks.h"
#include "tests/unit/unit.h"
#include "transport/shm/remote.h"

enum way {
	ALLOCATED, /* mapped */
	ATTACHED,  /* registered, by attach */
	MAILED,	   /* registered, no attach */
	NWAYS,
};

enum {
	ALL = BCL_REMOTE_READ | BCL_REMOTE_WRITE | BCL_REMOTE_ATOMIC,
	SIZE = 1 << 20,
};

static enum way way;
static uint8_t registered[SIZE] __attribute__((aligned(64)));

struct area {
	struct bcl_memory *memory;
	uint8_t *at;
	uint8_t key[BCL_KEY_MAX];
};

static void make_area(struct rank *rank, struct area *area, unsigned rights)
{
	if (way == ALLOCATED) {
		ck_assert_int_eq(bcl_memory_allocate(rank->context, SIZE,
						     rights, &area->memory),
				 BCL_OK);
		area->at = bcl_memory_address(area->memory);
	} else {
		ck_assert_int_eq(bcl_memory_register(rank->context, registered,
						     SIZE, rights,
						     &area->memory),
				 BCL_OK);
		area->at = registered;
	}
	bcl_memory_key(area->memory, area->key);
}

static void send_key(struct rank *rank, unsigned other, struct area *area)
{
	rank_send(rank, other, 0, area->key, BCL_KEY_MAX);
}

static void take_key(struct rank *rank, uint8_t key[BCL_KEY_MAX])
{
	struct bcl_event event;

	rank_expect(rank, BCL_EVENT_MESSAGE, &event);
	ck_assert_uint_eq(event.length, BCL_KEY_MAX);
	memcpy(key, event.data, BCL_KEY_MAX);
}

/* Repeat `call` while the status is AGAIN, then take the event. Gives the
 * status. */
#define FINISH(rank, call)                                          \
	({                                                          \
		enum bcl_status status_;                            \
		struct bcl_event event_;                            \
                                                                    \
		while ((status_ = (call)) == BCL_ERR_AGAIN)         \
			rank_idle(rank, 0);                         \
		if (!status_) {                                     \
			rank_expect(rank, BCL_EVENT_SENT, &event_); \
			ck_assert_uint_eq(event_.cookie, 5);        \
			status_ = event_.status;                    \
		}                                                   \
		status_;                                            \
	})

static void pattern(uint8_t *at, size_t length, unsigned seed)
{
	size_t i;

	for (i = 0; i < length; i++)
		at[i] = (uint8_t)(i * 7 + (i >> 8) + seed);
}

static void run(unsigned n, rank_body *body, int which, uint64_t killed)
{
	way = (enum way)which;
	if (way == MAILED)
		setenv("BCL_ATTACH", "0", 1);
	else
		unsetenv("BCL_ATTACH");
	ranks_run(n, body, killed);
}

/* Rank 0 makes an area and rank 1 gets the key. True at rank 0. */
static bool owns(struct rank *rank, struct area *area, unsigned rights,
		 uint8_t key[BCL_KEY_MAX])
{
	ck_assert_int_eq(rank_connect(rank, !rank->me), BCL_OK);
	if (rank->me) {
		take_key(rank, key);
		return false;
	}
	make_area(rank, area, rights);
	send_key(rank, 1, area);
	return true;
}

/* Rank 0 has served enough. */
static void leave(struct rank *rank)
{
	atomic_store(&rank->all->signals[0], 1);
	rank_barrier(rank);
}

static void serve_until(struct rank *rank, unsigned signal)
{
	while (!atomic_load(&rank->all->signals[signal]))
		rank_idle(rank, 1);
}

/* ---- put and get ---- */

static void copies(struct rank *rank)
{
	static const size_t lengths[] = { 0,	1,    7,    8,	   100,
					  8191, 8192, 8193, 70000, SIZE / 2 };
	static uint8_t out[SIZE], in[SIZE];
	uint8_t key[BCL_KEY_MAX];
	struct bcl_peer *peer;
	struct area area;
	unsigned i;

	if (owns(rank, &area, ALL, key)) {
		serve_until(rank, 0);
		pattern(out, SIZE / 2, 9);
		ranks_show_order(rank->context);
		ck_assert(!memcmp(area.at + 3, out, SIZE / 2));
		bcl_memory_release(area.memory);
		rank_barrier(rank);
		serve_until(rank, 1);
		rank_barrier(rank);
		return;
	}
	peer = rank->peers[0];
	for (i = 0; i < 10; i++) {
		pattern(out, lengths[i], i);
		memset(in, 0, lengths[i] + 1);
		ck_assert_int_eq(
			FINISH(rank, bcl_put(peer, key, 3, out, lengths[i], 5)),
			BCL_OK);
		ck_assert_int_eq(
			FINISH(rank, bcl_get(peer, key, 3, in, lengths[i], 5)),
			BCL_OK);
		ck_assert(!memcmp(in, out, lengths[i]));
		ck_assert_int_eq(in[lengths[i]], 0);
	}
	/* up to the end, and not beyond */
	ck_assert_int_eq(FINISH(rank, bcl_put(peer, key, SIZE - 4, out, 4, 5)),
			 BCL_OK);
	ck_assert_int_eq(bcl_put(peer, key, SIZE - 4, out, 5, 5),
			 BCL_ERR_MEMORY);
	ck_assert_int_eq(bcl_get(peer, key, UINT64_MAX, out, 2, 5),
			 BCL_ERR_MEMORY);
	ck_assert_int_eq(FINISH(rank, bcl_fence(peer, 5)), BCL_OK);
	atomic_store(&rank->all->signals[0], 1);
	rank_barrier(rank);
	/* released meanwhile */
	ck_assert_int_eq(FINISH(rank, bcl_put(peer, key, 0, out, 10, 5)),
			 BCL_ERR_MEMORY);
	ck_assert_int_eq(FINISH(rank, bcl_get(peer, key, 0, in, 10, 5)),
			 BCL_ERR_MEMORY);
	atomic_store(&rank->all->signals[1], 1);
	rank_barrier(rank);
}

START_TEST(put_and_get)
{
	run(2, copies, _i, 0);
}
END_TEST

/* A forged key must not reach beyond the registered memory, nor allow an access
 * without the right. */
static void forged(struct rank *rank)
{
	uint8_t key[BCL_KEY_MAX], bytes[64];
	struct bcl_peer *peer;
	struct area area;
	uint64_t huge = UINT64_C(1) << 40;
	uint32_t rights = way == ALLOCATED ? 0x107 : 7, handle;

	if (owns(rank, &area, BCL_REMOTE_READ, key)) {
		serve_until(rank, 0);
		rank_barrier(rank);
		return;
	}
	peer = rank->peers[0];
	ck_assert_int_eq(bcl_put(peer, key, 0, bytes, 8, 5), BCL_ERR_MEMORY);
	memcpy(key + 16, &huge, 8);
	memcpy(key + 28, &rights, 4);
	ck_assert_int_eq(FINISH(rank, bcl_get(peer, key, SIZE, bytes, 8, 5)),
			 BCL_ERR_MEMORY);
	memcpy(&handle, key + 24, 4);
	handle ^= 0x10000;
	memcpy(key + 24, &handle, 4);
	ck_assert_int_eq(FINISH(rank, bcl_get(peer, key, 0, bytes, 8, 5)),
			 BCL_ERR_MEMORY);
	leave(rank);
}

START_TEST(forged_keys)
{
	run(2, forged, _i, 0);
}
END_TEST

/* ---- atomics ---- */

static void count(struct rank *rank)
{
	enum {
		N = 400
	};
	uint8_t key[BCL_KEY_MAX];
	unsigned i, n = rank->all->n;
	struct bcl_event event;
	struct area area;
	uint64_t old, last = 0;

	if (rank->me == 0) {
		make_area(rank, &area, ALL);
		*(uint64_t *)(area.at + 8) = 1000;
		for (i = 1; i < n; i++) {
			do
				rank_expect(rank, BCL_EVENT_PEER, &event);
			while (event.status);
			while (bcl_send(
				event.peer, 1, 0,
				&(struct iovec){ area.key, BCL_KEY_MAX }, 1, 0))
				;
		}
		/* atomics of the owner at the same time */
		for (i = 0; i < N; i++) {
			atomic_fetch_add((_Atomic uint64_t *)(area.at + 8), 1);
			rank_idle(rank, 0);
		}
		while (atomic_load(&rank->all->signals[0]) < n - 1)
			rank_idle(rank, 1);
		ck_assert_uint_eq(
			atomic_load((_Atomic uint64_t *)(area.at + 8)),
			1000 + n * N);
		rank_barrier(rank);
		return;
	}
	ck_assert_int_eq(rank_connect(rank, 0), BCL_OK);
	take_key(rank, key);
	for (i = 0; i < N / 2; i++) {
		ck_assert_int_eq(FINISH(rank, bcl_fetch_add(rank->peers[0], key,
							    8, 1, &old, 5)),
				 BCL_OK);
		ck_assert_uint_gt(old, last);
		last = old;
	}
	/* the same by compare and swap */
	for (i = 0; i < N / 2;) {
		uint64_t guess = last;

		ck_assert_int_eq(
			FINISH(rank,
			       bcl_compare_swap(rank->peers[0], key, 8, guess,
						guess + 1, &last, 5)),
			BCL_OK);
		i += last == guess;
	}
	ck_assert_int_eq(bcl_fetch_add(rank->peers[0], key, 4, 1, &old, 5),
			 BCL_ERR_ARG);
	atomic_fetch_add(&rank->all->signals[0], 1);
	rank_barrier(rank);
}

START_TEST(atomics)
{
	run(3, count, _i, 0);
}
END_TEST

/* ---- notification ---- */

static void notified(struct rank *rank)
{
	enum {
		N = 300
	};
	static uint8_t out[SIZE];
	uint8_t key[BCL_KEY_MAX];
	struct bcl_event event;
	struct bcl_peer *peer;
	struct area area;
	unsigned i;

	if (owns(rank, &area, ALL, key)) {
		for (i = 0; i < N; i++) {
			size_t length = i % 7 ? i : 30000 + i;

			rank_expect(rank, BCL_EVENT_NOTIFY, &event);
			ck_assert_uint_eq(event.immediate, i);
			ck_assert_uint_eq(event.type, i % 64);
			ck_assert_uint_eq(event.length, length);
			ck_assert_ptr_eq(event.peer, rank->peers[1]);
			if (length)
				ck_assert_int_eq(area.at[length - 1], i % 256);
			/* in order with messages */
			rank_expect(rank, BCL_EVENT_MESSAGE, &event);
			ck_assert_uint_eq(event.immediate, i);
			rank_send(rank, 1, i, NULL, 0);
		}
		rank_barrier(rank);
		return;
	}
	peer = rank->peers[0];
	for (i = 0; i < N; i++) {
		size_t length = i % 7 ? i : 30000 + i;
		struct iovec none = { 0 };
		bool sent = false, answered = false;
		enum bcl_status status;

		memset(out, (int)i, length);
		while ((status = bcl_put_notify(peer, key, 0, out, length,
						i % 64, i, 5)) == BCL_ERR_AGAIN)
			rank_idle(rank, 0);
		ck_assert_int_eq(status, BCL_OK);
		while (!sent || !answered) {
			static bool message;

			if (!message && !bcl_send(peer, 1, i, &none, 0, 0))
				message = true;
			if (bcl_poll(rank->port, &event))
				continue;
			sent |= event.kind == BCL_EVENT_SENT;
			answered |= event.kind == BCL_EVENT_MESSAGE;
			if (sent && answered)
				message = false;
		}
	}
	rank_barrier(rank);
}

START_TEST(put_notify)
{
	/* Each put follows an answer to the put before, but goes through
	 * another process: a helper that serves a put would look like a
	 * race. */
	setenv("BCL_HELPER", "0", 1);
	run(2, notified, _i, 0);
}
END_TEST

/* ---- an owner that does not call the library ---- */

static void absent(struct rank *rank)
{
	uint8_t key[BCL_KEY_MAX];
	struct bcl_peer *peer;
	uint64_t word = 0, began;
	struct area area;

	if (owns(rank, &area, ALL, key)) {
		while (!atomic_load(&rank->all->signals[0]))
			usleep(10000);
		rank_idle(rank, 5);
		rank_barrier(rank);
		return;
	}
	peer = rank->peers[0];
	began = rank_now();
	word = 77;
	ck_assert_int_eq(FINISH(rank, bcl_put(peer, key, 16, &word, 8, 5)),
			 BCL_OK);
	ck_assert_int_eq(
		FINISH(rank, bcl_fetch_add(peer, key, 16, 3, &word, 5)),
		BCL_OK);
	ck_assert_uint_eq(word, 77);
	ck_assert_int_eq(FINISH(rank, bcl_get(peer, key, 16, &word, 8, 5)),
			 BCL_OK);
	ck_assert_uint_eq(word, 80);
	ck_assert_uint_lt(rank_now() - began, UINT64_C(20000000000));
	leave(rank);
}

START_TEST(owner_away)
{
	run(2, absent, _i, 0);
}
END_TEST

/* ---- an owner that computes, or is at another port, for long ---- */

enum absence {
	COMPUTES,
	WAITS,
	POLLS,
	NABSENCES,
};

enum {
	/* More than fits into a ring of the fewest slots and the outbox. */
	FEW_SLOTS = 256,
	ACCESSES = 1200,
	MEMORIES = BCL_REMOTES + 8,
};

static enum absence absence;

static void be_away(struct rank *rank)
{
	struct bcl_port *elsewhere;
	struct bcl_event event;

	ck_assert_int_eq(bcl_port_open(rank->context, NULL, &elsewhere),
			 BCL_OK);
	while (!atomic_load(&rank->all->signals[0])) {
		if (absence == COMPUTES)
			usleep(1000);
		else if (absence == WAITS)
			bcl_wait(elsewhere, 100000000);
		else
			bcl_poll(elsewhere, &event);
	}
	bcl_port_close(elsewhere);
}

static void count_away(struct rank *rank)
{
	uint64_t told = rank_counter(rank, "shm.rma_by_helper");
	uint8_t key[BCL_KEY_MAX];
	struct area area;
	uint64_t word, i;

	if (!owns(rank, &area, ALL, key)) {
		for (i = 0; i < ACCESSES; i++) {
			ck_assert_int_eq(
				FINISH(rank, bcl_fetch_add(rank->peers[0], key,
							   8, 1, &word, 5)),
				BCL_OK);
			ck_assert_uint_eq(word, i);
		}
		leave(rank);
		return;
	}
	memset(area.at, 0, 16);
	be_away(rank);
	ck_assert_uint_eq(*(uint64_t *)(area.at + 8), ACCESSES);
	told = rank_counter(rank, "shm.rma_by_helper") - told;
	ck_assert_uint_ge(told, ACCESSES);
	rank_idle(rank, 1);
	rank_barrier(rank);
}

/* Lets a helper sleep until it is woken. A look of its own would hide that
 * nobody wakes it. */
static void wait_without_looks(void *world, int object, uint64_t until)
{
	bcl_env_linux.wait(world, object,
			   gettid() == getpid() ? until : UINT64_MAX);
}

static void open_without_looks(struct rank *rank)
{
	struct bcl_env env = bcl_env_linux;

	env.wait = wait_without_looks;
	rank->env = &env;
	rank_open(rank, NULL);
	count_away(rank);
	rank_close(rank);
}

static void set_away(int which)
{
	char slots[16];

	absence = (enum absence)which;
	snprintf(slots, sizeof(slots), "%d", FEW_SLOTS);
	setenv("BCL_RING_SLOTS", slots, 1);
}

START_TEST(atomics_away)
{
	set_away(_i);
	way = ATTACHED;
	ranks_run_bare(2, open_without_looks, 0);
}
END_TEST

/* Rank 1 uses more memories than a port remembers, so the port asks for the
 * memories again and again. */
static void ask_away(struct rank *rank)
{
	static uint8_t keys[MEMORIES][BCL_KEY_MAX];
	struct area area[MEMORIES];
	uint64_t word = 1;
	unsigned i;

	ck_assert_int_eq(rank_connect(rank, !rank->me), BCL_OK);
	for (i = 0; i < MEMORIES; i++) {
		if (rank->me) {
			take_key(rank, keys[i]);
		} else {
			make_area(rank, &area[i], ALL);
			send_key(rank, 1, &area[i]);
		}
	}
	if (rank->me == 0) {
		be_away(rank);
		rank_idle(rank, 1);
		rank_barrier(rank);
		return;
	}
	for (i = 0; i < ACCESSES; i++)
		ck_assert_int_eq(
			FINISH(rank, bcl_put(rank->peers[0], keys[i % MEMORIES],
					     0, &word, 8, 5)),
			BCL_OK);
	leave(rank);
}

START_TEST(questions_away)
{
	set_away(COMPUTES);
	run(2, ask_away, ATTACHED, 0);
}
END_TEST

/* ---- mapping ---- */

static void mapped(struct rank *rank)
{
	uint8_t key[BCL_KEY_MAX];
	_Atomic uint64_t *word;
	struct bcl_peer *peer;
	struct bcl_event event;
	struct area area;
	void *at, *again;

	ck_assert_int_eq(rank_connect(rank, !rank->me), BCL_OK);
	peer = rank->peers[!rank->me];
	if (rank->me == 0) {
		make_area(rank, &area, ALL);
		word = (_Atomic uint64_t *)(area.at + 64);
		send_key(rank, 1, &area);
		while (way == ALLOCATED && atomic_load(word) != 42)
			usleep(1000);
		serve_until(rank, 0);
		raise(SIGKILL);
	}
	take_key(rank, key);
	if (way != ALLOCATED) {
		ck_assert_int_eq(bcl_memory_map(peer, key, &at),
				 BCL_ERR_UNSUPPORTED);
		atomic_store(&rank->all->signals[0], 1);
		rank_expect(rank, BCL_EVENT_PEER, &event);
		return;
	}
	ck_assert_int_eq(bcl_memory_map(peer, key, &at), BCL_OK);
	ck_assert_int_eq(bcl_memory_map(peer, key, &again), BCL_OK);
	ck_assert_ptr_eq(at, again);
	bcl_memory_unmap(peer, key);
	atomic_store((_Atomic uint64_t *)((char *)at + 64), 42);
	atomic_store(&rank->all->signals[0], 1);
	rank_expect(rank, BCL_EVENT_PEER, &event);
	ck_assert_int_eq(event.status, BCL_ERR_DEAD);
	/* a map outlives the owner */
	ck_assert_uint_eq(*(uint64_t *)((char *)at + 64), 42);
	memset(at, 1, SIZE);
}

START_TEST(map)
{
	run(2, mapped, _i, 1);
}
END_TEST

/* More than can be mapped at a time are refused at once. */
static void many_mapped(struct rank *rank)
{
	enum {
		N = BCL_REMOTES + 1
	};
	static uint8_t keys[N][BCL_KEY_MAX];
	struct area area[N];
	struct bcl_peer *peer;
	unsigned i;
	void *at;

	ck_assert_int_eq(rank_connect(rank, !rank->me), BCL_OK);
	peer = rank->peers[!rank->me];
	for (i = 0; i < N && rank->me == 0; i++) {
		make_area(rank, &area[i], ALL);
		send_key(rank, 1, &area[i]);
	}
	if (rank->me == 0) {
		serve_until(rank, 0);
		rank_barrier(rank);
		return;
	}
	for (i = 0; i < N; i++)
		take_key(rank, keys[i]);
	for (i = 0; i < BCL_REMOTES; i++)
		ck_assert_int_eq(bcl_memory_map(peer, keys[i], &at), BCL_OK);
	ck_assert_int_eq(bcl_memory_map(peer, keys[i], &at), BCL_ERR_NOMEM);
	bcl_memory_unmap(peer, keys[7]);
	ck_assert_int_eq(bcl_memory_map(peer, keys[i], &at), BCL_OK);
	ck_assert_int_eq(bcl_memory_map(peer, keys[7], &at), BCL_ERR_NOMEM);
	leave(rank);
}

START_TEST(map_many)
{
	run(2, many_mapped, ALLOCATED, 0);
}
END_TEST

/* More memories than are known at a time, again and again. */
static void many(struct rank *rank)
{
	enum {
		N = 150
	};
	static uint8_t keys[N][BCL_KEY_MAX];
	struct area area[N];
	struct bcl_peer *peer;
	unsigned i;

	ck_assert_int_eq(rank_connect(rank, !rank->me), BCL_OK);
	peer = rank->peers[!rank->me];
	if (rank->me == 0) {
		for (i = 0; i < N; i++) {
			make_area(rank, &area[i], ALL);
			send_key(rank, 1, &area[i]);
		}
		serve_until(rank, 0);
		for (i = 0; i < N; i++)
			bcl_memory_release(area[i].memory);
		rank_barrier(rank);
		return;
	}
	for (i = 0; i < N; i++)
		take_key(rank, keys[i]);
	for (i = 0; i < 3 * N; i++) {
		uint64_t word = i;

		ck_assert_int_eq(FINISH(rank, bcl_put(peer, keys[i * 7 % N],
						      i * 8, &word, 8, 5)),
				 BCL_OK);
	}
	leave(rank);
}

START_TEST(many_memories)
{
	run(2, many, _i, 0);
}
END_TEST

/* The owner is killed in the middle of everything. */
static void owner_dies(struct rank *rank)
{
	static uint8_t out[SIZE];
	uint8_t key[BCL_KEY_MAX];
	struct bcl_event event;
	struct area area;
	enum bcl_status status;

	if (owns(rank, &area, ALL, key)) {
		serve_until(rank, 0);
		raise(SIGKILL);
	}
	for (;;) {
		status = bcl_put(rank->peers[0], key, 0, out, SIZE, 5);
		if (status == BCL_ERR_DEAD)
			break;
		atomic_store(&rank->all->signals[0], 1);
		if (!bcl_poll(rank->port, &event) && event.status)
			ck_assert_int_eq(event.status, BCL_ERR_DEAD);
	}
}

START_TEST(dies)
{
	run(2, owner_dies, _i, 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("remote");
	TCase *tc = tcase_create("remote");

	tcase_add_loop_test(tc, put_and_get, 0, NWAYS);
	tcase_add_loop_test(tc, forged_keys, 0, NWAYS);
	tcase_add_loop_test(tc, atomics, 0, NWAYS);
	tcase_add_loop_test(tc, put_notify, 0, NWAYS);
	tcase_add_loop_test(tc, owner_away, 0, NWAYS);
	tcase_add_loop_test(tc, map, 0, NWAYS);
	tcase_add_test(tc, map_many);
	tcase_add_loop_test(tc, many_memories, 0, NWAYS);
	tcase_add_loop_test(tc, dies, 0, NWAYS);
	suite_add_tcase(suite, tc);
	tc = tcase_create("away");
	tcase_set_timeout(tc, 120);
	tcase_add_loop_test(tc, atomics_away, 0, NABSENCES);
	tcase_add_test(tc, questions_away);
	suite_add_tcase(suite, tc);
	return unit_run(suite);
}
