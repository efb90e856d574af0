/* SPDX-License-Identifier: MIT */
/* A port sleeps until a message comes: wait.c, poll.c, shm/sleep.c. */
#include "tests/weak/ports.h"
#include "transport/internal.h"

static void send(uint64_t number)
{
	weak_until(bcl_pair_send(&sides[0].connection[0].pair, 1, number, NULL,
				 0) == BCL_OK);
}

static void receive(uint64_t number)
{
	struct bcl_event event = { .length = 0 };

	weak_assert(bcl_wait(&sides[1].port, UINT64_MAX) == BCL_OK);
	weak_assert(bcl_poll(&sides[1].port, &event) == BCL_OK);
	weak_assert(event.immediate == number);
}

/* A sender without membarrier has a fence of its own. */
static const _Atomic uint32_t always_attend = 1;

static void set_up_with_fence(void)
{
	struct bcl_connection *connection = &sides[0].connection[0];

	ports_set_up();
	connection->fence = true;
	connection->pair.attention = &always_attend;
	sides[1].context.barrier = false;
}

static void send_one(void)
{
	send(1);
}

static void receive_one(void)
{
	receive(1);
}

static void send_two(void)
{
	send(1);
	send(2);
}

static void receive_two(void)
{
	receive(1);
	receive(2);
}

int main(void)
{
	static const struct weak_test tests[] = {
		{ "one message, membarrier",
		  ports_set_up,
		  { send_one, receive_one },
		  NULL },
		{ "two messages, membarrier",
		  ports_set_up,
		  { send_two, receive_two },
		  NULL },
		{ "one message, fence",
		  set_up_with_fence,
		  { send_one, receive_one },
		  NULL },
		{ "two messages, fence",
		  set_up_with_fence,
		  { send_two, receive_two },
		  NULL },
		{ .name = NULL },
	};

	return weak_main(tests);
}
