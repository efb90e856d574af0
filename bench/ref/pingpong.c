/* SPDX-License-Identifier: MIT */
#include "pingpong.h"

#include <time.h>
#include <unistd.h>

enum {
	HELLO_NS = 10000000,
	HELLO = 16,
	MEET_SECONDS = 10
};

void pingpong_meet(struct ref *ref, const struct wire *wire)
{
	const struct timespec pause = { .tv_nsec = HELLO_NS };
	uint64_t sequence;

	alarm(MEET_SECONDS);
	while (!wire->hear(ref, &sequence)) {
		if (!ref->side)
			wire->say(ref, 0, HELLO);
		nanosleep(&pause, NULL);
	}
	if (ref->side)
		wire->say(ref, 0, HELLO);
	alarm(0);
}

static void expect_sequence(struct ref *ref, const struct wire *wire,
			    uint64_t sequence)
{
	uint64_t heard = 0;

	while (!wire->hear(ref, &heard) || heard != sequence)
		;
}

void pingpong_play(struct ref *ref, const struct wire *wire)
{
	size_t iterations = ref_number(ref, "iterations"), i;
	size_t samples = ref_number(ref, "samples"), s;
	size_t size = ref_number(ref, "size");

	for (s = 0; s <= samples; s++) {
		uint64_t start = ref_now();

		for (i = 0; i < iterations; i++) {
			uint64_t sequence = s * iterations + i + 1;

			if (ref->side)
				expect_sequence(ref, wire, sequence);
			wire->say(ref, sequence, size);
			if (!ref->side)
				expect_sequence(ref, wire, sequence);
		}
		if (s)
			ref_sample(ref, (double)(ref_now() - start) /
						(double)(2 * iterations));
	}
}
