/* SPDX-License-Identifier: MIT */
/*
 * pins INTERFACE NAME: prints how many instructions it takes to pin the memory
 * of a message of 64 KB, and of a megabyte, and to give the memory back, or to
 * find the pin, if the card keeps pins: a channel for that memory is posted and
 * taken back, beside a channel for nothing. The guest's emulator advances the
 * clock by a nanosecond for each instruction.
 */
#include "kmod_user.h"

enum {
	MIDDLE = 64 << 10,
	LARGE = 1 << 20,
	ROUNDS = 200,
};

static struct user user;

static void post_and_take_back(uint8_t *memory, size_t length)
{
	CHECK(post(&user, 1, 1, memory, length, 0) == BCL_OK);
	CHECK(unpost(&user, 1) == BCL_OK);
}

/* Returns the mean, as the kernel may give memory back at any later time. */
static uint64_t cost_of(uint8_t *memory, size_t length)
{
	uint64_t began;
	unsigned i;

	for (i = 0; i < ROUNDS; i++)
		post_and_take_back(memory, length);
	began = __builtin_ia32_rdtsc();
	for (i = 0; i < ROUNDS; i++)
		post_and_take_back(memory, length);
	return (__builtin_ia32_rdtsc() - began) / ROUNDS;
}

int main(int argc, char **argv)
{
	uint8_t *memory = memory_of(LARGE);
	uint64_t nothing;

	CHECK(argc == 3);
	fill(memory, LARGE, 1);
	open_card(&user, argv[1]);
	open_port(&user, 1);
	nothing = cost_of(memory, 0);
	printf("cost: %s middle %lu\n", argv[2],
	       cost_of(memory, MIDDLE) - nothing);
	printf("cost: %s large %lu\n", argv[2],
	       cost_of(memory, LARGE) - nothing);
	close_card(&user);
	return 0;
}
