/* SPDX-License-Identifier: MIT */
#include "card_sides.h"

#include <string.h>

#include "card/ops.h"
#include "counter.h"
#include "env/counters.h"
#include "link_rail.h"
#include "transport/internal.h"
#include "unit.h"

enum {
	SECOND = 1000000000,
};

struct sim_world *sides_world;
struct side sides[2];
bool sides_apart, sides_wrong_key;

static void (*script)(struct side *side);

struct side *side_other(struct side *side)
{
	return &sides[!side->number];
}

void side_let_others(void)
{
	const struct bcl_env *env = sim_world_env(sides_world);

	env->yield(env->world);
}

uint64_t side_counter(struct side *side, const char *name)
{
	return counter_of(side->context, name);
}

void side_next(struct side *side, struct bcl_event *event)
{
	do
		ck_assert_int_eq(bcl_wait(side->port, 600ull * SECOND), BCL_OK);
	while (bcl_poll(side->port, event));
}

void side_expect(struct side *side, enum bcl_event_kind kind,
		 struct bcl_event *event)
{
	do
		side_next(side, event);
	while (event->kind == BCL_EVENT_PEER && kind != BCL_EVENT_PEER &&
	       !event->status);
	ck_assert_msg(event->kind == kind, "side %u: event %d, status %s",
		      side->number, event->kind, bcl_strstatus(event->status));
}

void side_expect_ok(struct side *side, enum bcl_event_kind kind,
		    uint64_t cookie)
{
	struct bcl_event event;

	side_expect(side, kind, &event);
	ck_assert_msg(!event.status, "side %u, event %d: %s", side->number,
		      kind, bcl_strstatus(event.status));
	ck_assert_uint_eq(event.cookie, cookie);
}

void side_say(struct side *side, unsigned type, const void *data, size_t length)
{
	const struct iovec iov = { (void *)data, length };
	enum bcl_status status;

	while ((status = bcl_send(side->peer, type, length, &iov, 1, 0)) ==
	       BCL_ERR_AGAIN)
		bcl_wait(side->port, 1000);
	ck_assert_int_eq(status, BCL_OK);
}

void side_hear(struct side *side, unsigned type, void *data, size_t length)
{
	struct bcl_event event;

	side_expect(side, BCL_EVENT_MESSAGE, &event);
	ck_assert_uint_eq(event.type, type);
	ck_assert_uint_eq(event.length, length);
	ck_assert_uint_eq(event.immediate, length);
	ck_assert_ptr_eq(event.peer, side->peer);
	if (data)
		memcpy(data, event.data, length);
}

void side_fill(uint8_t *bytes, size_t length, unsigned seed)
{
	size_t i;

	for (i = 0; i < length; i++)
		bytes[i] = (uint8_t)(i * 7 + (i >> 8) + seed);
}

void side_check(const uint8_t *bytes, size_t length, unsigned seed)
{
	size_t i;

	for (i = 0; i < length; i++)
		if (bytes[i] != (uint8_t)(i * 7 + (i >> 8) + seed))
			ck_abort_msg("byte %zu of %zu", i, length);
}

/* The two sides use different wrong keys. With equal wrong keys the cards would
 * agree again. */
static void alter_key(struct side *side)
{
	struct bcl_address address;

	ck_assert_int_eq(
		bcl_address_unpack(side->address, side->length, &address),
		BCL_OK);
	address.key[0] = (uint8_t)(1 + side->number);
	bcl_address_pack(&address, side->address);
}

static void open_side(struct side *side)
{
	const struct bcl_context_options options = {
		.struct_size = sizeof(options),
		.job_key = side->key,
	};

	ck_assert_int_eq(bcl_context_open(sim_world_env(sides_world), &options,
					  -1, &side->context),
			 BCL_OK);
	ck_assert_int_eq(bcl_port_open(side->context, NULL, &side->port),
			 BCL_OK);
	ck_assert_int_eq(
		bcl_port_address(side->port, side->address, &side->length),
		BCL_OK);
	while (!side_other(side)->length)
		side_let_others();
	if (sides_wrong_key)
		alter_key(side_other(side));
	ck_assert_int_eq(bcl_peer_open(side->port, side_other(side)->address,
				       side_other(side)->length, &side->peer),
			 BCL_OK);
}

static void run_side(void *arg)
{
	struct side *side = arg;
	struct bcl_peer_info info = { .struct_size = sizeof(info) };

	open_side(side);
	if (!sides_apart) {
		struct bcl_event event;

		side_next(side, &event);
		ck_assert_int_eq(event.kind, BCL_EVENT_PEER);
		ck_assert_int_eq(event.status, BCL_OK);
		ck_assert_ptr_eq(event.peer, side->peer);
	}
	script(side);
	bcl_peer_info(side->peer, &info);
	if (info.state == BCL_PEER_UP)
		ck_assert_int_eq(info.path, BCL_PATH_CARD);
	side->done = true;
	/* A side stays until both sides are done, so that messages in flight
	 * arrive. */
	while (!side_other(side)->done) {
		struct bcl_event event;

		bcl_wait(side->port, 1000000);
		bcl_poll(side->port, &event);
	}
	bcl_close(side->context);
}

void sides_play(void (*what)(struct side *side))
{
	script = what;
	sim_world_spawn(sides_world, run_side, &sides[0]);
	sim_world_spawn(sides_world, run_side, &sides[1]);
	ck_assert_uint_eq(sim_world_run(sides_world, 3600ull * SECOND), 0);
}

void sides_open(void)
{
	sides_world = sim_world_open(11, &bcl_host_inproc, link_rails);
	link_world(sides_world);
	sides_apart = false;
	sides_wrong_key = false;
	memset(sides, 0, sizeof(sides));
	sides[1].number = 1;
}

void sides_close(void)
{
	sim_world_close(sides_world);
}

/* ---- system messages ---- */

void side_until_sent(struct side *side, uint64_t bytes)
{
	struct bcl_event event;
	uint64_t before = side_counter(side, "card.bytes_sent");

	while (side_counter(side, "card.bytes_sent") < before + bytes) {
		ck_assert_int_eq(bcl_poll(side->port, &event), BCL_ERR_EMPTY);
		side_let_others();
	}
}
