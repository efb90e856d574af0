/* SPDX-License-Identifier: MIT */
/*
 * Waking a process that sleeps on another CPU. Side 0 computes, then writes a
 * word and wakes side 1. Side 1 stores the delay. With "job" side 2 stands for
 * a foreign job and computes on the CPU of side 1. The second figure is the
 * share of the CPU that side 2 gets.
 */
#include "ref.h"

#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

struct meeting {
	_Atomic uint32_t word; /* wake-ups so far: the futex */
	_Atomic uint32_t seen; /* wake-ups seen by side 1 */
	_Atomic uint32_t stop; /* rounds that side 0 has ended */
	_Atomic uint32_t left; /* rounds that side 2 has ended */
	uint64_t time; /* of the last wake-up, ns; `word` publishes it */
	uint64_t late; /* delay of side 1, ns; published by `seen` */
	double share;  /* of side 2, in %; published by `left` */
};

static void compute_for(uint64_t us)
{
	uint64_t end = ref_now() + us * 1000;

	while (ref_now() < end)
		;
}

static uint32_t load_word(_Atomic uint32_t *word)
{
	return atomic_load_explicit(word, memory_order_acquire);
}

/* Adds 1 to a word, which has a single writer. Release: pairs with the acquire
 * in load_word(). */
static void advance_word(_Atomic uint32_t *word)
{
	atomic_store_explicit(
		word, atomic_load_explicit(word, memory_order_relaxed) + 1,
		memory_order_release);
}

static void sleep_repeatedly(struct meeting *m, size_t wakes)
{
	uint32_t n = load_word(&m->seen);

	for (; wakes--; n++) {
		while (load_word(&m->word) == n)
			syscall(SYS_futex, &m->word, FUTEX_WAIT, n, NULL);
		m->late = ref_now() - m->time;
		advance_word(&m->seen);
	}
}

static void foreign_job(struct meeting *m)
{
	uint64_t start = ref_now(), wall;
	struct timespec before, after;
	uint32_t n = load_word(&m->left);

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
	while (load_word(&m->stop) == n)
		;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
	wall = ref_now() - start;
	m->share = ((double)(after.tv_sec - before.tv_sec) * 1e9 +
		    (double)(after.tv_nsec - before.tv_nsec)) *
		   100 / (double)wall;
	advance_word(&m->left);
}

static void measure_wakes(struct ref *ref)
{
	size_t compute_us = ref_number(ref, "compute");
	size_t samples = ref_number(ref, "samples"), s;
	int share = !strcmp(ref_string(ref, "figure"), "share");
	int job = share || ref_number(ref, "job");
	struct meeting *m = ref->shared;

	if (ref->side == 1)
		sleep_repeatedly(m, samples + 1);
	if (ref->side == 2 && job)
		foreign_job(m);
	if (ref->side)
		return;
	for (s = 0; s <= samples; s++) {
		compute_for(compute_us);
		m->time = ref_now();
		advance_word(&m->word);
		syscall(SYS_futex, &m->word, FUTEX_WAKE, 1);
		while (load_word(&m->seen) != load_word(&m->word))
			ref_pause();
		if (s && !share)
			ref_sample(ref, (double)m->late / 1000);
	}
	if (!job)
		return;
	advance_word(&m->stop);
	while (load_word(&m->left) != load_word(&m->stop))
		ref_pause();
	if (share) {
		ref->unit = "%";
		ref_sample(ref, m->share);
	}
}

static const struct ref_program program = {
	.name = "wake",
	.unit = "us",
	.about = "from a futex wake-up until the sleeper runs",
	.sides = 3,
	.shared = sizeof(struct meeting),
	.preset = "cpus=0,1,1",
	.round = measure_wakes,
	.param = { { "compute", "1000", "us between wake-ups" },
		   { "job", "0", "1: a foreign job on the sleeper's CPU" },
		   { "figure", "late", "late; share: of the foreign job" } },
};

int main(int argc, char **argv)
{
	return ref_main(argc, argv, &program);
}
