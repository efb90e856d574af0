/* SPDX-License-Identifier: MIT */
/* A card talks to many cards, in virtual time. */
#include <bcl/bcl.h>

#include "card/ops.h"
#include "link_rail.h"
#include "sim/world.h"
#include "transport/context.h"
#include "unit.h"

enum {
	NODES = 15, /* besides the hub; at first its card has room for fewer */
	SECOND = 1000000000,
};

static struct sim_world *world;
static uint8_t hub[BCL_ADDRESS_MAX];
static size_t hub_length;
static unsigned answered;

static struct bcl_port *open_port(struct bcl_context **context)
{
	struct bcl_port *port;

	ck_assert_int_eq(
		bcl_context_open(sim_world_env(world), NULL, -1, context),
		BCL_OK);
	ck_assert_int_eq(bcl_port_open(*context, NULL, &port), BCL_OK);
	return port;
}

static void message(struct bcl_port *port, struct bcl_event *event)
{
	do {
		ck_assert_int_eq(bcl_wait(port, 600ull * SECOND), BCL_OK);
	} while (bcl_poll(port, event) || event->kind == BCL_EVENT_PEER);
	ck_assert_int_eq(event->kind, BCL_EVENT_MESSAGE);
}

/* The hub answers all nodes after all nodes have called. */
static void run_hub(void *arg)
{
	struct bcl_peer *peers[NODES];
	struct bcl_context *context;
	struct bcl_port *port = open_port(&context);
	struct bcl_event event;
	unsigned i;

	(void)arg;
	ck_assert_int_eq(bcl_port_address(port, hub, &hub_length), BCL_OK);
	for (i = 0; i < NODES; i++) {
		message(port, &event);
		ck_assert_uint_lt(event.immediate, NODES);
		peers[event.immediate] = event.peer;
	}
	for (i = 0; i < NODES; i++)
		ck_assert_int_eq(bcl_send(peers[i], 0, i, NULL, 0, 0), BCL_OK);
	while (answered < NODES) {
		bcl_wait(port, 1000000);
		bcl_poll(port, &event);
	}
	bcl_close(context);
}

static void run_node(void *arg)
{
	uint64_t number = (uintptr_t)arg;
	const struct bcl_env *env = sim_world_env(world);
	struct bcl_context *context;
	struct bcl_port *port = open_port(&context);
	struct bcl_event event;
	struct bcl_peer *peer;

	while (!hub_length)
		env->yield(env->world);
	ck_assert_int_eq(bcl_peer_open(port, hub, hub_length, &peer), BCL_OK);
	do
		ck_assert_int_eq(bcl_wait(port, 600ull * SECOND), BCL_OK);
	while (bcl_poll(port, &event));
	ck_assert_int_eq(event.kind, BCL_EVENT_PEER);
	ck_assert_int_eq(event.status, BCL_OK);
	ck_assert_int_eq(bcl_send(peer, 0, number, NULL, 0, 0), BCL_OK);
	message(port, &event);
	ck_assert_uint_eq(event.immediate, number);
	answered++;
	bcl_close(context);
}

START_TEST(a_card_knows_as_many_nodes_as_come)
{
	world = sim_world_open(11, &bcl_host_inproc, link_rails);
	link_world(world);
	sim_world_spawn(world, run_hub, NULL);
	for (uintptr_t i = 0; i < NODES; i++)
		sim_world_spawn(world, run_node, (void *)i);
	ck_assert_uint_eq(sim_world_run(world, 3600ull * SECOND), 0);
	sim_world_close(world);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("card nodes");
	TCase *tcase = tcase_create("nodes");

	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, a_card_knows_as_many_nodes_as_come);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
