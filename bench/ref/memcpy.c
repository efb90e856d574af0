/* SPDX-License-Identifier: MIT */
/* memcpy() from one buffer to another, by one process. */
#include "ref.h"

#include <string.h>

struct buffers {
	unsigned char *from, *to;
	uint64_t turn;
};

static void make_buffers(struct ref *ref)
{
	static struct buffers b;

	b.from = ref_memory(ref);
	b.to = ref_memory(ref);
	ref->own = &b;
}

static void copy_buffers(struct ref *ref)
{
	size_t size = ref_number(ref, "size"), batch = ref_batch(size), i;
	size_t samples = ref_number(ref, "samples"), s;
	struct buffers *b = ref->own;

	for (s = 0; s <= samples; s++) {
		uint64_t start = ref_now();

		for (i = 0; i < batch; i++) {
			size_t at = ref_offset(ref, size, b->turn++);

			memcpy(b->to + at, b->from + at, size);
			/* Keeps the compiler from dropping a copy. */
			__asm__ volatile("" : : "r"(b->to) : "memory");
		}
		if (s)
			ref_sample(ref, (double)(size * batch) /
						(double)(ref_now() - start));
	}
}

static const struct ref_program program = {
	.name = "memcpy",
	.unit = "GB/s",
	.about = "bandwidth of memcpy()",
	.sides = 1,
	.open = make_buffers,
	.round = copy_buffers,
	.param = { { "size", "64K", "bytes of a copy" },
		   { "buffers", "hot", "hot: one pair; cold: rotate 64 MB" } },
};

int main(int argc, char **argv)
{
	return ref_main(argc, argv, &program);
}
