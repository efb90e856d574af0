/* SPDX-License-Identifier: MIT */
/*
 * The writer of a ring turns back to the start of the ring: shm/pair.c, where
 * the writer asks for room. In this test the marks are every 16 slots, closer
 * than in the library (skip.weak).
 */
#include <stdio.h>

#include "tests/weak/pair.h"
#include "tests/weak/weak.h"

enum {
	LENGTH = 2 * BCL_SLOT_SIZE - BCL_SLOT_HEAD, /* two slots */
	MESSAGES = 16,				    /* two marks and more */
};

static unsigned turned, went_on; /* numbers of executions */

/* The test writes only the last word of a message, so that the second slot may
 * still have a header of the previous lap. */
static uint64_t *last_word(void *payload)
{
	return (uint64_t *)((char *)payload + LENGTH - 8);
}

static void write_ring(void)
{
	void *room;

	for (uint64_t i = 0; i < MESSAGES; i++) {
		weak_until(bcl_pair_reserve(&pair[0], LENGTH, &room) == BCL_OK);
		*last_word(room) = i;
		bcl_pair_commit(&pair[0], 1, i, LENGTH);
	}
}

static void read_ring(void)
{
	struct bcl_event event = { .length = 0 };
	enum bcl_status status;

	for (uint64_t i = 0; i < MESSAGES; i++) {
		do {
			weak_until((status = bcl_pair_receive(&pair[1], false,
							      &event)) !=
				   BCL_ERR_EMPTY);
		} while (status == BCL_ERR_AGAIN);
		weak_assert(!status && event.immediate == i &&
			    event.length == LENGTH);
		weak_assert(*last_word((void *)event.data) == i);
	}
}

static void count(void)
{
	if (pair[0].tail == 2 * MESSAGES)
		went_on++;
	else
		turned++;
	weak_assert(pair[0].tail == pair[1].head);
	weak_assert(pair[0].sent_ring == MESSAGES &&
		    pair[1].received == MESSAGES);
}

int main(void)
{
	static const struct weak_test tests[] = {
		{ "turning back",
		  pair_set_up,
		  { write_ring, read_ring },
		  count },
		{ .name = NULL },
	};
	int status = weak_main(tests);

	printf("turned back in %u, not in %u\n", turned, went_on);
	return status ? status : !turned || !went_on;
}
