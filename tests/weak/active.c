/* SPDX-License-Identifier: MIT */
/* Silent pairs, and senders that ask the receiver to poll: shm/watch.c. */
#include "tests/weak/ports.h"
#include "transport/internal.h"

enum {
	TICK = BCL_SHM_IDLE_PASSES,
	SWEEP = 16 * TICK, /* passes in vain until pairs become silent */
};

static struct bcl_port *const port = &sides[MIDDLE].port;
static struct bcl_shm_port *const shm = &sides[MIDDLE].shm;

static void make_silent(void)
{
	shm->nsilent = shm->silent_end = port->npairs;
	shm->watch.nwords = 1;
	for (unsigned i = 0; i < port->npairs; i++) {
		shm->silent[i] = &sides[MIDDLE].connection[i];
		shm->attention[i] = BCL_ATTENTION_SILENT;
	}
	port->npairs = 0;
}

static void set_up_one(void)
{
	ports_set_up();
	make_silent();
}

static void set_up_two(void)
{
	ports_set_up_three();
	make_silent();
}

static void send(unsigned side)
{
	weak_until(bcl_pair_send(&sides[side].connection[0].pair, 1, side, NULL,
				 0) == BCL_OK);
}

static void send_first(void)
{
	send(0);
}

static void send_second(void)
{
	send(2);
}

/* A pass that looks everywhere. Many passes look only at the polled pairs. */
static bool poll_all(struct bcl_event *event)
{
	port->network.empty = 1;
	return bcl_poll(port, event) == BCL_OK;
}

static void receive_two(void)
{
	struct bcl_event event = { .length = 0 };
	uint64_t first;

	weak_until(poll_all(&event));
	first = event.immediate;
	weak_until(poll_all(&event));
	weak_assert(first + event.immediate == 2 && first != event.immediate);
}

static void sleep_and_receive(void)
{
	struct bcl_event event = { .length = 0 };

	const struct bcl_env *env = port->context->env;

	if (poll_all(&event))
		return;
	if (bcl_arm(port) == BCL_OK)
		env->wait(env->world, port->group, UINT64_MAX);
	weak_until(poll_all(&event));
}

/* The sender may have loaded the attention word before the pair became silent,
 * without a fence. The receiver looks at the silent pair again after a
 * while. */
static void become_silent_and_receive(void)
{
	struct bcl_event event = { .length = 0 };

	shm->watch.idle = SWEEP - 1;
	if (poll_all(&event))
		return;
	weak_assert(port->npairs == 0);
	shm->watch.idle = TICK - 1;
	weak_until(poll_all(&event));
}

int main(void)
{
	static const struct weak_test tests[] = {
		{ "two silent senders",
		  set_up_two,
		  { send_first, send_second, receive_two },
		  NULL },
		{ "a silent sender wakes",
		  set_up_one,
		  { send_first, sleep_and_receive },
		  NULL },
		{ "a sender becomes silent",
		  ports_set_up,
		  { send_first, become_silent_and_receive },
		  NULL },
		{ .name = NULL },
	};

	return weak_main(tests);
}
