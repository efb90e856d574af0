/* SPDX-License-Identifier: MIT */
/*
 * Ping-pong of cache lines, the lower bound of every message inside a host. If
 * both sides write one line, the fetch of the message also brings ownership,
 * and the store of the answer is local: one coherence transaction per way. With
 * a line for each direction there are two transactions: the writer invalidates
 * the reader's copy, and the reader fetches the line again.
 *
 * A processor of several dies keeps the directory of a page on one die. The
 * place of the page changes the time of a transaction by up to a factor of two.
 * So every sample covers several pages, and the next sample takes the next
 * pages.
 */
#include "ref.h"

enum {
	PAGE = 4096,
	PAGES = 256,
	APART = 2 * REF_LINE, /* prefetchers fetch lines in pairs */
};

/* Plays the round trips with the lines of one page. */
static void play_page(struct ref *ref, uint8_t *page, size_t lines,
		      size_t round_trips)
{
	/* One line and two lines use different words, with separate
	 * counts. */
	uint8_t *first = page + (lines == 2 ? 0 : 2 * APART);
	size_t apart = lines == 2 ? APART : REF_LINE / 2;
	_Atomic uint64_t *mine = (void *)(first + ref->side * apart);
	_Atomic uint64_t *theirs = (void *)(first + !ref->side * apart);
	uint64_t n = atomic_load_explicit(mine, memory_order_relaxed);

	while (round_trips--) {
		n++;
		if (ref->side)
			ref_await(theirs, n);
		/* Pairs with the acquire in ref_await(). */
		atomic_store_explicit(mine, n, memory_order_release);
		if (!ref->side)
			ref_await(theirs, n);
	}
}

static void touch_pages(struct ref *ref)
{
	size_t page;

	/* Page faults happen now, in each process. */
	for (page = 0; page < PAGES; page++)
		atomic_fetch_add_explicit((_Atomic uint64_t *)ref->shared +
						  (page + 1) * PAGE / 8 - 1,
					  1, memory_order_relaxed);
}

static void pass_lines(struct ref *ref)
{
	size_t lines = ref_number(ref, "lines");
	size_t iterations = ref_number(ref, "iterations");
	size_t pages = ref_number(ref, "pages"), page;
	size_t samples = ref_number(ref, "samples"), s;
	static size_t turn; /* equal in both sides */

	if (!pages)
		ref_exit(ref, 1, "pages must be at least 1");
	for (s = 0; s <= samples; s++) {
		uint64_t start = ref_now();

		for (page = 0; page < pages; page++)
			play_page(ref,
				  (uint8_t *)ref->shared +
					  turn++ % PAGES * PAGE,
				  lines, iterations);
		if (s)
			ref_sample(ref,
				   (double)(ref_now() - start) /
					   (double)(2 * iterations * pages));
	}
}

static const struct ref_program program = {
	.name = "line",
	.unit = "ns",
	.about = "ping-pong of cache lines, one way",
	.sides = 2,
	.shared = (size_t)PAGES * PAGE,
	.open = touch_pages,
	.round = pass_lines,
	.param = { { "lines", "1", "1: both sides write it; 2: one each" },
		   { "pages", "16", "pages in a sample" },
		   { "iterations", "200", "round trips in each page" } },
};

int main(int argc, char **argv)
{
	return ref_main(argc, argv, &program);
}
