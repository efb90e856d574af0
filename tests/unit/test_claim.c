/* SPDX-License-Identifier: MIT */
/* The claim word: sender and receiver each claim chunks of a large message to
 * copy. */
#include <pthread.h>
#include <sched.h>
#include <string.h>

#include "tests/unit/unit.h"
#include "transport/shm/claim.h"

enum {
	GENERATION = 0xfffe,
	CHUNKS_MAX = 5,
	STEPS_MAX = 12,
	ROUNDS = 3000, /* of two threads */
	CHUNKS = 40,
};

static const uint64_t front_step = (uint64_t)1 << BCL_CLAIM_FRONT_SHIFT;

/*
 * The steps of the two sides. The test plays all strings of up to STEPS_MAX
 * steps. Each step takes effect by a single successful compare-and-swap, so the
 * strings are all interleavings that the two sides can see.
 */
enum step {
	WITHDRAW, /* sender */
	JOIN,	  /* sender takes a chunk */
	BEGIN,	  /* receiver */
	PULL,	  /* receiver takes a chunk */
	CLOSE,	  /* receiver gives up */
	NSTEPS,
};

struct world {
	struct bcl_claim claim;
	uint32_t n;
	uint8_t taken[CHUNKS_MAX]; /* 1 sender, 2 receiver */
	bool offered, begun, closed;
	uint32_t closed_front;
};

static void take(struct world *w, uint32_t index, uint8_t who)
{
	ck_assert_uint_lt(index, w->n);
	ck_assert_uint_eq(w->taken[index], 0);
	w->taken[index] = who;
}

static void play(struct world *w, enum step step)
{
	uint64_t word;

	switch (step) {
	case WITHDRAW:
		if (!w->offered)
			return;
		if (bcl_claim_withdraw(&w->claim, GENERATION)) {
			ck_assert(!w->begun);
			w->offered = false;
		} else {
			ck_assert(w->begun);
		}
		return;
	case JOIN: /* after the receiver's message only */
		if (w->begun && bcl_claim_take(&w->claim, GENERATION, w->n,
					       front_step, &word))
			take(w, bcl_claim_front(word), 1);
		return;
	case BEGIN:
		if (w->begun)
			return;
		w->begun = bcl_claim_begin(&w->claim, GENERATION);
		ck_assert(w->begun == w->offered);
		if (w->begun)
			take(w, w->n - 1, 2);
		return;
	case PULL:
		if (w->begun && !w->closed &&
		    bcl_claim_take(&w->claim, GENERATION, w->n, 1, &word))
			take(w, w->n - 1 - bcl_claim_back(word), 2);
		return;
	default:
		if (!w->begun || w->closed)
			return;
		w->closed = true;
		w->closed_front = bcl_claim_close(&w->claim, GENERATION, w->n);
	}
}

/* After each string of steps the word must agree with the chunks that were
 * taken. */
static void check(struct world *w)
{
	uint64_t word = atomic_load(&w->claim.word);
	uint32_t front = 0, back = 0, i;

	for (i = 0; i < w->n; i++) {
		front += w->taken[i] == 1;
		back += w->taken[i] == 2;
		/* the sender takes chunks from the start, the receiver from the
		 * end */
		ck_assert(w->taken[i] != 1 || i < front || front == i + 1);
	}
	ck_assert_uint_eq(bcl_claim_generation(word), GENERATION);
	if (!w->offered) {
		ck_assert_uint_eq(bcl_claim_front(word), BCL_CLAIM_CLOSED);
		ck_assert_uint_eq(front + back, 0);
		return;
	}
	ck_assert_uint_eq(bcl_claim_front(word), front);
	if (w->closed) {
		ck_assert_uint_eq(w->closed_front, front);
		ck_assert(!bcl_claim_left(word, GENERATION, w->n));
	} else {
		ck_assert_uint_eq(bcl_claim_back(word), back);
	}
}

static unsigned explore(const struct world *before, unsigned depth)
{
	unsigned count = 1;
	int step;

	if (!depth)
		return 1;
	for (step = 0; step < NSTEPS; step++) {
		struct world w;

		memcpy(&w, before, sizeof(w));
		play(&w, (enum step)step);
		if (!memcmp(&w, before, sizeof(w)))
			continue; /* longer strings show nothing new */
		check(&w);
		count += explore(&w, depth - 1);
	}
	return count;
}

START_TEST(interleavings)
{
	struct world w;
	unsigned count;

	memset(&w, 0, sizeof(w));
	w.n = (uint32_t)_i;
	w.offered = true;
	bcl_claim_open(&w.claim, GENERATION);
	count = explore(&w, STEPS_MAX);
	ck_assert_uint_gt(count, _i > 2 ? 10 : 3);
}
END_TEST

START_TEST(stale)
{
	struct bcl_claim claim;
	uint64_t word;

	memset(&claim, 0, sizeof(claim));
	bcl_claim_open(&claim, 5);
	ck_assert(!bcl_claim_begin(&claim, 4));
	ck_assert(!bcl_claim_withdraw(&claim, 4));
	ck_assert(bcl_claim_begin(&claim, 5));
	ck_assert(!bcl_claim_begin(&claim, 5));
	ck_assert(!bcl_claim_take(&claim, 4, 9, 1, &word));
	bcl_claim_free(&claim, 5);
	ck_assert(!bcl_claim_take(&claim, 5, 9, 1, &word));
	ck_assert(!bcl_claim_take(&claim, 5, BCL_CLAIM_MAX, 1, &word));
	ck_assert_uint_eq(bcl_claim_close(&claim, 5, 9), BCL_CLAIM_CLOSED);
}
END_TEST

/* A peer may write any bytes into the word. No step may loop or claim a chunk
 * beyond n. */
START_TEST(nonsense)
{
	static const uint64_t words[] = {
		0,
		UINT64_MAX,
		(uint64_t)GENERATION << 48 | 0xffffff,
		(uint64_t)GENERATION << 48 | (uint64_t)7 << 24 | 0xfffffe,
		(uint64_t)GENERATION << 48 | (uint64_t)0xfffffe << 24 | 2,
		(uint64_t)GENERATION << 48 | (uint64_t)4 << 24 | 3,
	};
	unsigned i;

	for (i = 0; i < sizeof(words) / sizeof(*words); i++) {
		struct bcl_claim claim;
		uint64_t word;
		uint32_t n;

		memset(&claim, 0, sizeof(claim));
		for (n = 0; n < 9; n++) {
			atomic_store(&claim.word, words[i]);
			if (bcl_claim_take(&claim, GENERATION, n, front_step,
					   &word))
				ck_assert_uint_lt(bcl_claim_front(word), n);
			atomic_store(&claim.word, words[i]);
			if (bcl_claim_take(&claim, GENERATION, n, 1, &word))
				ck_assert_uint_lt(bcl_claim_back(word), n);
			bcl_claim_close(&claim, GENERATION, n);
			ck_assert(!bcl_claim_left(atomic_load(&claim.word),
						  GENERATION, n));
		}
	}
}
END_TEST

/* ---- two threads ---- */

static struct {
	struct bcl_claim claim;
	_Atomic uint32_t round, left;
	uint32_t owner[CHUNKS]; /* not atomic: only the claiming side writes */
} shared;

static void *sender(void *arg)
{
	uint32_t round;
	uint64_t word;

	for (round = 1; round <= ROUNDS; round++) {
		uint32_t done = 0;

		while (atomic_load_explicit(&shared.round,
					    memory_order_acquire) != round)
			sched_yield();
		while (bcl_claim_take(&shared.claim, (uint16_t)round, CHUNKS,
				      front_step, &word)) {
			shared.owner[bcl_claim_front(word)] = round;
			atomic_store_explicit(&shared.claim.done, ++done,
					      memory_order_release);
		}
		atomic_store_explicit(&shared.left, round,
				      memory_order_release);
	}
	return arg;
}

/* The receiver waits for `done` only. Then all chunks that were claimed must
 * have been written. */
START_TEST(two_threads)
{
	uint32_t round, front, i;
	pthread_t thread;
	uint64_t word;

	pthread_create(&thread, NULL, sender, NULL);
	for (round = 1; round <= ROUNDS; round++) {
		uint32_t mine = 1, limit = round % 3 ? CHUNKS : CHUNKS / 4;

		bcl_claim_open(&shared.claim, (uint16_t)round);
		ck_assert(bcl_claim_begin(&shared.claim, (uint16_t)round));
		shared.owner[CHUNKS - 1] = round;
		atomic_store_explicit(&shared.round, round,
				      memory_order_release);
		while (mine < limit &&
		       bcl_claim_take(&shared.claim, (uint16_t)round, CHUNKS, 1,
				      &word)) {
			shared.owner[CHUNKS - 1 - bcl_claim_back(word)] = round;
			mine++;
		}
		front = bcl_claim_close(&shared.claim, (uint16_t)round, CHUNKS);
		while (atomic_load_explicit(&shared.claim.done,
					    memory_order_acquire) != front)
			sched_yield();
		ck_assert_uint_le(front + mine, CHUNKS);
		for (i = 0; i < CHUNKS; i++)
			if (i < front || i >= CHUNKS - mine)
				ck_assert_uint_eq(shared.owner[i], round);
		memset(shared.owner, 0, sizeof(shared.owner));
		while (atomic_load_explicit(&shared.left,
					    memory_order_acquire) != round)
			sched_yield();
	}
	pthread_join(thread, NULL);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("claim");
	TCase *tc = tcase_create("claim");

	tcase_add_loop_test(tc, interleavings, 1, CHUNKS_MAX + 1);
	tcase_add_test(tc, stale);
	tcase_add_test(tc, nonsense);
	tcase_add_test(tc, two_threads);
	suite_add_tcase(suite, tc);
	return unit_run(suite);
}
