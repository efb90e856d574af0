/* SPDX-License-Identifier: MIT */
/*
 * The checker against known results. For each program the table has exactly the
 * outcomes that the model allows, and the number of executions. An outcome
 * consists of the values of r[0], r[1]... at the end, a digit each.
 */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/weak/weak.h"

enum {
	REGISTERS = 4,
	OUTCOMES = 10000,
};

struct litmus {
	struct weak_test test;
	unsigned registers;
	unsigned executions;
	const char *outcomes; /* in order; NULL: the program must fail */
};

static _Atomic int x, y;
static int plain;
static int r[REGISTERS];
static bool seen[OUTCOMES];

static void set_up(void)
{
	plain = 0;
	atomic_store(&x, 0);
	atomic_store(&y, 0);
	memset(r, 0, sizeof(r));
}

static void check(void)
{
	seen[((r[0] * 10 + r[1]) * 10 + r[2]) * 10 + r[3]] = true;
}

/* The final values of the words are the outcome. */
static void check_words(void)
{
	r[0] = atomic_load(&x);
	r[1] = atomic_load(&y);
	check();
}

#define RLX memory_order_relaxed
#define ACQ memory_order_acquire
#define REL memory_order_release
#define SC  memory_order_seq_cst

#define THREAD(name, ...)      \
	static void name(void) \
	{                      \
		__VA_ARGS__;   \
	}
#define W(word, value, order) atomic_store_explicit(&word, value, order)
#define R(word, order)	      atomic_load_explicit(&word, order)
#define ADD(word, order)      atomic_fetch_add_explicit(&word, 1, order)
#define FENCE(order)	      atomic_thread_fence(order)
#define LIGHT		      atomic_signal_fence(SC)
#define HEAVY		      weak_heavy_fence()

/* message passing */
THREAD(mp_rlx, W(x, 1, RLX); W(y, 1, RLX))
THREAD(mp_rel, W(x, 1, RLX); W(y, 1, REL))
THREAD(mp_rel_fence, W(x, 1, RLX); FENCE(REL); W(y, 1, RLX))
THREAD(mp_twice, W(x, 1, RLX); W(y, 1, REL); W(y, 2, RLX))
THREAD(mp_plain_rel, plain = 1; W(y, 1, REL))
THREAD(mp_plain_rlx, plain = 1; W(y, 1, RLX))
THREAD(read_rlx, r[0] = R(y, RLX); r[1] = R(x, RLX))
THREAD(read_acq, r[0] = R(y, ACQ); r[1] = R(x, RLX))
THREAD(read_fence, r[0] = R(y, RLX); FENCE(ACQ); r[1] = R(x, RLX))
THREAD(read_plain, r[0] = R(y, ACQ); if (r[0]) r[1] = plain)
THREAD(read_plain_always, r[0] = R(y, ACQ); r[1] = plain)
THREAD(await_plain, weak_until(R(y, ACQ)); r[1] = plain)
THREAD(write_plain_later, weak_until(R(y, ACQ)); plain = 2; r[1] = plain)
THREAD(add_between, ADD(y, RLX))

/* store buffering */
THREAD(sb0_rlx, W(x, 1, RLX); r[0] = R(y, RLX))
THREAD(sb1_rlx, W(y, 1, RLX); r[1] = R(x, RLX))
THREAD(sb0_ra, W(x, 1, REL); r[0] = R(y, ACQ))
THREAD(sb1_ra, W(y, 1, REL); r[1] = R(x, ACQ))
THREAD(sb0_sc, W(x, 1, SC); r[0] = R(y, SC))
THREAD(sb1_sc, W(y, 1, SC); r[1] = R(x, SC))
THREAD(sb0_fence, W(x, 1, RLX); FENCE(SC); r[0] = R(y, RLX))
THREAD(sb1_fence, W(y, 1, RLX); FENCE(SC); r[1] = R(x, RLX))
THREAD(sb0_light, W(x, 1, RLX); LIGHT; r[0] = R(y, RLX))
THREAD(sb1_light, W(y, 1, RLX); LIGHT; r[1] = R(x, RLX))
THREAD(sb1_heavy, W(y, 1, RLX); HEAVY; r[1] = R(x, RLX))

/* load buffering */
THREAD(lb0, r[0] = R(x, RLX); W(y, 1, RLX))
THREAD(lb1, r[1] = R(y, RLX); W(x, 1, RLX))

/* independent reads of independent writes */
THREAD(write_x, W(x, 1, RLX))
THREAD(write_y, W(y, 1, RLX))
THREAD(write_x_rel, W(x, 1, REL))
THREAD(write_y_rel, W(y, 1, REL))
THREAD(write_x_sc, W(x, 1, SC))
THREAD(write_y_sc, W(y, 1, SC))
THREAD(iriw0_acq, r[0] = R(x, ACQ); r[1] = R(y, ACQ))
THREAD(iriw1_acq, r[2] = R(y, ACQ); r[3] = R(x, ACQ))
THREAD(iriw0_sc, r[0] = R(x, SC); r[1] = R(y, SC))
THREAD(iriw1_sc, r[2] = R(y, SC); r[3] = R(x, SC))
THREAD(iriw0_fence, r[0] = R(x, RLX); FENCE(SC); r[1] = R(y, RLX))
THREAD(iriw1_fence, r[2] = R(y, RLX); FENCE(SC); r[3] = R(x, RLX))

/* coherence of one word */
THREAD(write_x_2, W(x, 2, RLX))
THREAD(corr0, r[0] = R(x, RLX); r[1] = R(x, RLX))
THREAD(corr1, r[2] = R(x, RLX); r[3] = R(x, RLX))
THREAD(coww, W(x, 1, RLX); W(x, 2, RLX))
THREAD(corw, r[0] = R(x, RLX); W(x, 1, RLX))
THREAD(cowr, W(x, 1, RLX); r[0] = R(x, RLX))
THREAD(keep_x, r[1] = R(x, RLX))

/* 2+2W */
THREAD(ww0_rlx, W(x, 1, RLX); W(y, 2, RLX))
THREAD(ww1_rlx, W(y, 1, RLX); W(x, 2, RLX))
THREAD(ww0_sc, W(x, 1, SC); W(y, 2, SC))
THREAD(ww1_sc, W(y, 1, SC); W(x, 2, SC))

/* causality through a third thread */
THREAD(wrc1, r[0] = R(x, ACQ); W(y, 1, REL))
THREAD(wrc1_rlx, r[0] = R(x, ACQ); W(y, 1, RLX))
THREAD(wrc2, r[1] = R(y, ACQ); r[2] = R(x, RLX))

/* read-modify-write */
THREAD(add0, r[0] = ADD(x, RLX))
THREAD(add1, r[1] = ADD(x, RLX))
THREAD(add2, r[2] = ADD(x, RLX))
THREAD(take0, int free = 0;
       r[0] = atomic_compare_exchange_strong_explicit(&x, &free, 1, RLX, RLX))
THREAD(take1, int free = 0;
       r[1] = atomic_compare_exchange_strong_explicit(&x, &free, 2, RLX, RLX))
THREAD(locked0, int free = 0;
       weak_until(atomic_compare_exchange_strong_explicit(&x, &free, 1, ACQ,
							  RLX));
       plain++; W(x, 0, REL))
THREAD(locked_rlx, int free = 0;
       weak_until(atomic_compare_exchange_strong_explicit(&x, &free, 1, RLX,
							  RLX));
       plain++; W(x, 0, REL))
THREAD(swap_x, r[0] = atomic_exchange_explicit(&x, 1, RLX))
THREAD(swap_x_2, r[1] = atomic_exchange_explicit(&x, 2, RLX))

static void check_plain(void)
{
	r[0] = plain;
	check();
}

static const struct litmus all[] = {
#define TEST(name, ...) \
	{               \
		.test = { name, set_up, { __VA_ARGS__ }, check }
	TEST("MP, relaxed", mp_rlx, read_rlx), 2, 4, "00 01 10 11" },
	TEST("MP, release only", mp_rel, read_rlx), 2, 4, "00 01 10 11"
}
, TEST("MP, acquire only", mp_rlx, read_acq), 2, 4, "00 01 10 11"
}
, TEST("MP", mp_rel, read_acq), 2, 3, "00 01 11"
}
, TEST("MP, fences", mp_rel_fence, read_fence), 2, 3, "00 01 11"
}
, TEST("MP, one fence", mp_rel_fence, read_rlx), 2, 4, "00 01 10 11"
}
, TEST("MP, fence and acquire", mp_rel_fence, read_acq), 2, 3, "00 01 11"
}
,
	/* not in C11, where the second store continues the release sequence */
	TEST("MP, relaxed store after", mp_twice, read_acq), 2, 5,
	"00 01 11 20 21"
}
, TEST("MP, sequence of adds", mp_rel, add_between, read_acq), 2, 9,
	"00 01 10 11 21"
}
, TEST("MP, plain", mp_plain_rel, read_plain), 2, 2, "00 11"
}
, TEST("MP, plain, awaited", mp_plain_rel, await_plain), 2, 1, "01"
}
, TEST("MP, plain, written by both", mp_plain_rel, write_plain_later), 2, 1,
	"02"
}
, TEST("MP, plain, relaxed", mp_plain_rlx, read_plain), 2, 0, NULL
}
, TEST("MP, plain, too early", mp_plain_rel, read_plain_always), 2, 0, NULL
}
, TEST("MP, plain, both write", mp_plain_rel, mp_plain_rel), 2, 0, NULL
}
, TEST("MP, nobody writes", write_x, await_plain), 2, 0, NULL
}
,

	TEST("SB, relaxed", sb0_rlx, sb1_rlx), 2, 4, "00 01 10 11"
}
, TEST("SB, release and acquire", sb0_ra, sb1_ra), 2, 4, "00 01 10 11"
}
, TEST("SB", sb0_sc, sb1_sc), 2, 3, "01 10 11"
}
, TEST("SB, one seq_cst", sb0_sc, sb1_ra), 2, 4, "00 01 10 11"
}
, TEST("SB, fences", sb0_fence, sb1_fence), 2, 3, "01 10 11"
}
, TEST("SB, one fence", sb0_fence, sb1_rlx), 2, 4, "00 01 10 11"
}
, TEST("SB, fence and seq_cst", sb0_fence, sb1_sc), 2, 3, "01 10 11"
}
, TEST("SB, light and heavy", sb0_light, sb1_heavy), 2, 3, "01 10 11"
}
, TEST("SB, heavy and fence", sb0_fence, sb1_heavy), 2, 3, "01 10 11"
}
, TEST("SB, light only", sb0_light, sb1_light), 2, 4, "00 01 10 11"
}
, TEST("SB, light and fence", sb0_light, sb1_fence), 2, 4, "00 01 10 11"
}
, TEST("SB, heavy only", sb0_rlx, sb1_heavy), 2, 4, "00 01 10 11"
}
,

	/* C11 also allows 11 */
	TEST("LB", lb0, lb1), 2, 3, "00 01 10"
}
,

	TEST("IRIW", write_x_rel, write_y_rel, iriw0_acq, iriw1_acq), 4, 16,
	"0000 0001 0010 0011 0100 0101 0110 0111 "
	"1000 1001 1010 1011 1100 1101 1110 1111"
}
, TEST("IRIW, seq_cst", write_x_sc, write_y_sc, iriw0_sc, iriw1_sc), 4, 15,
	"0000 0001 0010 0011 0100 0101 0110 0111 "
	"1000 1001 1011 1100 1101 1110 1111"
}
, TEST("IRIW, fences", write_x, write_y, iriw0_fence, iriw1_fence), 4, 15,
	"0000 0001 0010 0011 0100 0101 0110 0111 "
	"1000 1001 1011 1100 1101 1110 1111"
}
,

	TEST("CoRR", write_x, corr0), 2, 3, "00 01 11"
}
, TEST("CoRR, two writers", write_x, write_x_2, corr0, corr1), 4, 72,
	"0000 0001 0002 0011 0012 0021 0022 "
	"0100 0101 0102 0111 0112 0121 0122 "
	"0200 0201 0202 0211 0212 0221 0222 "
	"1100 1101 1102 1111 1112 1121 1122 "
	"1200 1201 1202 1211 1212 1222 "
	"2100 2101 2102 2111 2121 2122 "
	"2200 2201 2202 2211 2212 2221 2222"
}
, { { "CoWW", set_up, { coww }, check_words }, 2, 1, "20" },
	TEST("CoWW, read", coww, corr0), 2, 6, "00 01 02 11 12 22"
}
, TEST("CoRW", corw), 2, 1, "00"
}
, TEST("CoWR", cowr, write_x_2), 2, 3, "10 20"
}
,

	{ { "2+2W", set_up, { ww0_rlx, ww1_rlx }, check_words },
	  2,
	  4,
	  "11 12 21 22" },
	{ { "2+2W, seq_cst", set_up, { ww0_sc, ww1_sc }, check_words },
	  2,
	  3,
	  "12 21 22" },

	TEST("WRC", write_x_rel, wrc1, wrc2), 3, 7,
	"000 001 010 011 100 101 111"
}
, TEST("WRC, relaxed", write_x_rel, wrc1_rlx, wrc2), 3, 8,
	"000 001 010 011 100 101 110 111"
}
,

	TEST("two adds", add0, add1), 2, 2, "01 10"
}
, TEST("three adds", add0, add1, add2), 3, 6, "012 021 102 120 201 210"
}
, TEST("two swaps", swap_x, swap_x_2), 2, 2, "01 20"
}
, TEST("one compare succeeds", take0, take1), 2, 2, "01 10"
}
, TEST("add and read", add0, keep_x), 2, 2, "00 01"
}
, TEST("add and write", add0, write_x_2), 2, 2, "00 20"
}
, { { "lock", set_up, { locked0, locked0 }, check_plain }, 1, 2, "2" },
	{ { "lock, three", set_up, { locked0, locked0, locked0 }, check_plain },
	  1,
	  6,
	  "3" },
	{ { "lock, relaxed", set_up, { locked0, locked_rlx }, check_plain },
	  1,
	  0,
	  NULL },
#undef TEST
}
;

/* List the outcomes seen, in the format of the table. */
static void list(unsigned registers, char *to, size_t room)
{
	unsigned outcome, unused = 1, i;

	for (i = registers; i < REGISTERS; i++)
		unused *= 10;
	*to = 0;
	for (outcome = 0; outcome < OUTCOMES; outcome++)
		if (seen[outcome])
			snprintf(to + strlen(to), room - strlen(to), "%s%0*u",
				 *to ? " " : "", (int)registers,
				 outcome / unused);
}

static bool is_as_known(const struct litmus *litmus)
{
	struct weak_result result;
	char outcomes[512];

	memset(seen, 0, sizeof(seen));
	result = weak_explore(&litmus->test);
	if (!litmus->outcomes)
		return result.failed;
	list(litmus->registers, outcomes, sizeof(outcomes));
	if (!result.failed && result.executions == litmus->executions &&
	    !strcmp(outcomes, litmus->outcomes))
		return true;
	printf("%s: %llu executions, outcomes %s\n", litmus->test.name,
	       (unsigned long long)result.executions, outcomes);
	return false;
}

int main(void)
{
	unsigned n = sizeof(all) / sizeof(*all), wrong = 0, i;

	for (i = 0; i < n; i++)
		if (!is_as_known(&all[i])) {
			printf("%s: not as known\n", all[i].test.name);
			wrong++;
		}
	printf("%u programs, %u not as known\n", n, wrong);
	return wrong ? EXIT_FAILURE : EXIT_SUCCESS;
}
