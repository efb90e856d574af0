/* SPDX-License-Identifier: MIT */
/* A message of more than 4 GB inside a host, both ways of copying, in little
 * memory: buffers of the same pages again and again. */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/ranks.h"
#include "tests/unit/unit.h"

enum {
	PIECE = 16 << 20,
	TIMES = 270,
};

static uint8_t *repeated(void)
{
	int fd = memfd_create("repeated", MFD_CLOEXEC);
	uint8_t *at;
	size_t i;

	ck_assert_int_eq(ftruncate(fd, PIECE), 0);
	at = mmap(NULL, (size_t)PIECE * TIMES, PROT_NONE,
		  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(at, MAP_FAILED);
	for (i = 0; i < TIMES; i++)
		ck_assert_ptr_ne(mmap(at + i * PIECE, PIECE,
				      PROT_READ | PROT_WRITE,
				      MAP_SHARED | MAP_FIXED, fd, 0),
				 MAP_FAILED);
	close(fd);
	return at;
}

static void pass(struct rank *rank)
{
	const size_t length = (size_t)PIECE * TIMES - 5;
	uint8_t *at = repeated(), token[BCL_KEY_MAX];
	struct bcl_event event;
	size_t i;

	ck_assert_int_eq(rank_connect(rank, !rank->me), BCL_OK);
	if (rank->me == 0) {
		for (i = 0; i < PIECE; i++)
			at[i] = (uint8_t)(i * 7 + (i >> 12));
		ck_assert_int_eq(
			bcl_offer(rank->peers[1], at, length, 4, token),
			BCL_OK);
		rank_send(rank, 1, 0, token, sizeof(token));
		rank_expect(rank, BCL_EVENT_READ, &event);
	} else {
		rank_expect(rank, BCL_EVENT_MESSAGE, &event);
		ck_assert_int_eq(
			bcl_pull(rank->peers[0], event.data, at, length, 5),
			BCL_OK);
		rank_expect(rank, BCL_EVENT_PULLED, &event);
		ck_assert_uint_eq(event.length, length);
		for (i = 0; i < PIECE; i++)
			if (at[i] != (uint8_t)(i * 7 + (i >> 12)))
				ck_abort_msg("byte %zu is wrong", i);
	}
	ck_assert_int_eq(event.status, BCL_OK);
	rank_barrier(rank);
}

START_TEST(long_message)
{
	setenv("BCL_ATTACH", _i ? "1" : "0", 1);
	ranks_run(2, pass, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("beyond 4 GB");
	TCase *tc = tcase_create("beyond 4 GB");

	tcase_add_loop_test(tc, long_message, 0, 2);
	suite_add_tcase(suite, tc);
	return unit_run(suite);
}
