/* SPDX-License-Identifier: MIT */
/* How often bcl_poll() asks the network beside shared memory. */
#include <stdlib.h>
#include <string.h>

#include <bcl/bcl.h>

#include "transport/context.h"
#include "transport/port.h"
#include "unit.h"

static struct bcl_port *port[3]; /* two on one node, one on another */
static struct bcl_peer *peer[3]; /* of port[0] */

static void open_port(unsigned i, const char *node)
{
	struct bcl_context *context;

	setenv("BCL_NODE", node, 1);
	ck_assert_int_eq(bcl_open(NULL, &context), BCL_OK);
	ck_assert_int_eq(bcl_port_open(context, NULL, &port[i]), BCL_OK);
}

/* Poll until port[to] has an event of the kind. */
static struct bcl_event next(unsigned to, enum bcl_event_kind kind)
{
	struct bcl_event event, other;

	do {
		while (bcl_poll(port[to], &event))
			for (unsigned i = 0; i < 3; i++)
				if (i != to)
					bcl_poll(port[i], &other);
	} while (event.kind != kind);
	return event;
}

static void meet(unsigned i)
{
	uint8_t address[BCL_ADDRESS_MAX];
	size_t length;

	ck_assert_int_eq(bcl_port_address(port[i], address, &length), BCL_OK);
	ck_assert_int_eq(bcl_peer_open(port[0], address, length, &peer[i]),
			 BCL_OK);
	ck_assert_int_eq(next(0, BCL_EVENT_PEER).status, BCL_OK);
}

/* How often port[0] asks the network in `passes` passes that find nothing. */
static unsigned questions(unsigned passes)
{
	const struct bcl_counter_page *page = port[0]->context->counters;
	uint64_t before = page->values[BCL_COUNT_host_polls];
	struct bcl_event event;

	while (passes--)
		ck_assert_int_eq(bcl_poll(port[0], &event), BCL_ERR_EMPTY);
	return (unsigned)(page->values[BCL_COUNT_host_polls] - before);
}

START_TEST(an_answer_is_looked_for)
{
	unsigned i, seldom, often;

	open_port(0, "here");
	open_port(1, "here");
	open_port(2, "there");
	for (i = 1; i < 3; i++)
		meet(i);
	ck_assert_uint_eq(port[0]->npairs, 1);
	questions(4096);
	seldom = questions(256);
	ck_assert_int_eq(bcl_send(peer[2], 1, 0, NULL, 0, 0), BCL_OK);
	often = questions(128);
	questions(4096);
	ck_assert_uint_le(seldom, 256 / 16 + 4);
	ck_assert_uint_ge(often, 128 / 4 - 1);
	ck_assert_uint_le(questions(256), 256 / 16 + 4);
	for (i = 0; i < 3; i++)
		bcl_close(port[i]->context);
}
END_TEST

/* Messages keep coming from shared memory. The port must ask the network
 * nevertheless, and must say when to ask again. */
START_TEST(messages_do_not_hide_the_network)
{
	struct bcl_peer *back;
	unsigned i;

	open_port(0, "here");
	open_port(1, "here");
	open_port(2, "there");
	for (i = 1; i < 3; i++)
		meet(i);
	ck_assert_int_eq(bcl_send(peer[1], 1, 0, NULL, 0, 0), BCL_OK);
	back = next(1, BCL_EVENT_MESSAGE).peer;
	port[0]->network.limit = 0;
	while (!port[0]->network.limit) {
		ck_assert_int_eq(bcl_send(back, 1, 0, NULL, 0, 0), BCL_OK);
		next(0, BCL_EVENT_MESSAGE);
		ck_assert_int_eq(bcl_send(peer[1], 1, 0, NULL, 0, 0), BCL_OK);
		next(1, BCL_EVENT_MESSAGE);
	}
	/* however long the answers took */
	ck_assert_uint_ge(port[0]->network.limit, 20000);
	ck_assert_uint_le(port[0]->network.limit, 50000);
	for (i = 0; i < 3; i++)
		bcl_close(port[i]->context);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("poll");
	TCase *tcase = tcase_create("poll");

	setenv("BCL_RAILS", "udp", 1);
	setenv("BCL_NET", "lo", 1);
	setenv("BCL_HELPER", "0", 1);
	tcase_add_test(tcase, an_answer_is_looked_for);
	tcase_add_test(tcase, messages_do_not_hide_the_network);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
