/* SPDX-License-Identifier: MIT */
/* The buffers of a case, and the calls in all forms. See coll_case.h. */
#include "tests/unit/coll_case.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	GUARD = 32, /* bytes around a buffer that no operation may change */
};

unsigned char *case_buffer(struct test *test, size_t length)
{
	unsigned char *memory = malloc(length + 2 * GUARD);
	unsigned i = 0;

	while (test->buffers[i].memory)
		i++;
	test->buffers[i].memory = memory + GUARD;
	test->buffers[i].length = length;
	memset(memory, CASE_GUARD_BYTE, length + 2 * GUARD);
	return memory + GUARD;
}

void case_fail(struct test *test, const char *why, size_t at)
{
	if (test->failures++ < 3)
		fprintf(stderr,
			"%s: rank %u of %u, root %u, %zu bytes, in place %d, "
			"form %d: %s at %zu\n",
			test->what, test->rank, test->size, test->root,
			test->length, test->in_place, (int)test->form, why, at);
}

void case_buffer_free(struct test *test, unsigned char *buffer, size_t length)
{
	size_t i = 0;

	while (test->buffers[i].memory != buffer)
		i++;
	test->buffers[i].memory = NULL;

	for (i = 0; i < GUARD; i++)
		if (buffer[length + i] != CASE_GUARD_BYTE ||
		    (buffer - GUARD)[i] != CASE_GUARD_BYTE) {
			case_fail(test, "wrote beyond the buffer", i);
			break;
		}
	free(buffer - GUARD);
}

unsigned char case_byte(unsigned from, unsigned to, size_t at)
{
	uint32_t i = (uint32_t)at;

	return (unsigned char)(from * 101 + to * 29 + i * 7 + (i >> 8) * 13);
}

void case_fill(unsigned char *block, unsigned from, unsigned to, size_t length)
{
	size_t i;

	for (i = 0; i < length; i++)
		block[i] = case_byte(from, to, i);
}

void case_check(struct test *test, const unsigned char *block, unsigned from,
		unsigned to, size_t length)
{
	size_t i;

	for (i = 0; i < length; i++)
		if (block[i] != case_byte(from, to, i)) {
			case_fail(test, "wrong byte", i);
			return;
		}
}

void case_expect_ok(struct test *test, enum bcl_status status)
{
	if (status != BCL_OK)
		case_fail(test, bcl_strstatus(status), 0);
}

/* Runs the operation of the test to its end, in one of the two ways. */
static void run_once(struct test *test)
{
	struct bcl_adi_request *request;
	enum bcl_status status;

	if (++test->calls % 2) {
		case_expect_ok(test, bcl_persistent_run(test->operation));
		return;
	}
	status = bcl_persistent_start(test->operation, &request);
	if (status == BCL_OK)
		status = bcl_adi_wait(test->adi, &request, NULL);
	case_expect_ok(test, status);
}

/* Runs a persistent operation, in both ways if more than once, and before each
 * time puts back what was in the buffers. So each run must leave the operation
 * as it was. */
static void run_again(struct test *test)
{
	unsigned char *before[CASE_BUFFERS] = { NULL };
	unsigned rounds = test->runs, i;

	for (i = 0; i < CASE_BUFFERS; i++) {
		before[i] = malloc(test->buffers[i].length + 1);
		if (test->buffers[i].memory)
			memcpy(before[i], test->buffers[i].memory,
			       test->buffers[i].length);
	}
	while (rounds--) {
		for (i = 0; i < CASE_BUFFERS; i++)
			if (test->buffers[i].memory)
				memcpy(test->buffers[i].memory, before[i],
				       test->buffers[i].length);
		run_once(test);
	}
	for (i = 0; i < CASE_BUFFERS; i++)
		free(before[i]);
	bcl_persistent_free(test->operation);
}

void case_end(struct test *test, enum bcl_status status)
{
	if (status == BCL_OK && test->form == PERSISTENT) {
		run_again(test);
		return;
	}
	if (status == BCL_OK && test->form == STARTED)
		status = bcl_adi_wait(test->adi, &test->request, NULL);
	case_expect_ok(test, status);
}
