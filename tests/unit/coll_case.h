/* SPDX-License-Identifier: MIT */
/* One case of a test of the collective operations: buffers, calls and checks
 * for the functions that test one operation each (coll_moves.c, coll_sums.c).
 */
#ifndef BCL_TESTS_COLL_CASE_H
#define BCL_TESTS_COLL_CASE_H

#include <stdbool.h>
#include <stddef.h>

#include <bcl/coll.h>

#include "collectives/calls.h"

/* The forms of an operation. */
enum form {
	BLOCKS,
	STARTED,
	PERSISTENT,
	FORMS
};

enum {
	CASE_BUFFERS = 2,	/* of a test, at most */
	CASE_GUARD_BYTE = 0xa5, /* around buffers, and in fresh ones */
};

struct test {
	struct bcl_team *team;
	struct bcl_adi *adi;
	unsigned rank, size, root;
	size_t length;
	bool in_place;
	enum form form;
	struct bcl_adi_request *request;
	struct bcl_persistent *operation;
	const char *what;
	unsigned failures, calls;
	unsigned runs; /* of a persistent operation */
	struct {
		unsigned char *memory;
		size_t length;
	} buffers[CASE_BUFFERS];
};

/* Calls the operation bcl_NAME() in the form of the test, and waits for the
 * end of the operation. */
#define CASE_CALL(test, name, ...)                                        \
	case_end(test,                                                    \
		 (test)->form == PERSISTENT                               \
			 ? bcl_##name##_init((test)->team, ##__VA_ARGS__, \
					     &(test)->operation)          \
		 : (test)->form == STARTED                                \
			 ? bcl_i##name((test)->team, ##__VA_ARGS__,       \
				       &(test)->request)                  \
			 : bcl_##name((test)->team, ##__VA_ARGS__))

void case_fail(struct test *test, const char *why, size_t at);
void case_expect_ok(struct test *test, enum bcl_status status);
/* Ends a call of CASE_CALL() that returned this status. */
void case_end(struct test *test, enum bcl_status status);

/* A buffer between two guards, which no operation may change. */
unsigned char *case_buffer(struct test *test, size_t length);
void case_buffer_free(struct test *test, unsigned char *buffer, size_t length);

/* The byte at offset `at` of the block that rank `from` has for rank `to`. */
unsigned char case_byte(unsigned from, unsigned to, size_t at);
void case_fill(unsigned char *block, unsigned from, unsigned to, size_t length);
void case_check(struct test *test, const unsigned char *block, unsigned from,
		unsigned to, size_t length);

/* Tests of operations that move blocks, and of operations that combine; NULL
 * for other operations. */
extern void (*const case_moves[BCL_OPERATIONS])(struct test *test);
extern void (*const case_sums[BCL_OPERATIONS])(struct test *test);
/* All members must have the same bits after an allreduce. */
void case_same_everywhere(struct test *test);

#endif
