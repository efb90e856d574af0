/* SPDX-License-Identifier: MIT */
/*
 * The time in which every side does one bare sched_yield(): the lower bound of
 * a barrier among more ranks than CPUs.
 */
#include "ref.h"

#include <sched.h>

enum {
	SIDES = 64
};

struct meeting {
	_Atomic uint64_t arrived;
	struct {
		_Alignas(REF_LINE) uint64_t start, end;
	} side[SIDES];
};

/* Returns when all sides have called the function once more. */
static void meet_sides(struct ref *ref)
{
	struct meeting *m = ref->shared;
	/* Release and acquire of one counter order everything before. */
	uint64_t before =
		atomic_fetch_add_explicit(&m->arrived, 1, memory_order_acq_rel);
	uint64_t all = (before / ref->sides + 1) * ref->sides;

	while (atomic_load_explicit(&m->arrived, memory_order_acquire) < all)
		sched_yield();
}

static void measure_yields(struct ref *ref)
{
	size_t iterations = ref_number(ref, "iterations"), i;
	size_t samples = ref_number(ref, "samples"), s;
	struct meeting *m = ref->shared;

	for (s = 0; s <= samples; s++) {
		uint64_t start = UINT64_MAX, end = 0;

		meet_sides(ref);
		m->side[ref->side].start = ref_now();
		for (i = 0; i < iterations; i++)
			sched_yield();
		m->side[ref->side].end = ref_now();
		meet_sides(ref);
		if (ref->side || !s)
			continue;
		for (i = 0; i < ref->sides; i++) {
			if (m->side[i].start < start)
				start = m->side[i].start;
			if (m->side[i].end > end)
				end = m->side[i].end;
		}
		ref_sample(ref, (double)(end - start) / (double)iterations);
	}
}

static const struct ref_program program = {
	.name = "yield",
	.unit = "ns",
	.about = "a round of bare sched_yield() by all sides",
	.shared = sizeof(struct meeting) + REF_LINE,
	.round = measure_yields,
	.param = { { "sides", "8", "processes" },
		   { "iterations", "500", "yields of each in a sample" } },
};

int main(int argc, char **argv)
{
	return ref_main(argc, argv, &program);
}
