/* SPDX-License-Identifier: MIT */
/* Peers come, are met by surprise, are lost, and come again. */
#include "unit.h"

#include <signal.h>
#include <unistd.h>

#include "pairs.h"
#include "transport/port.h"
#include "transport/shm/pair.h"

/* Open the port of the rank and publish the address, without any peer. */
static void open_alone(struct rank *rank, enum bcl_path path)
{
	uint8_t address[BCL_ADDRESS_MAX];
	size_t length;

	memset(rank, 0, sizeof(*rank));
	must(!bcl_boot_open(&bcl_env_linux, &rank->boot));
	rank_path(rank->boot->rank, path);
	must(!bcl_open(NULL, &rank->context));
	must(!bcl_port_open(rank->context, NULL, &rank->port));
	must(!bcl_port_address(rank->port, address, &length));
	must(!bcl_boot_put(rank->boot, "address", address, length));
	must(!bcl_boot_fence(rank->boot));
}

static struct bcl_peer *open_peer(struct rank *rank, unsigned other)
{
	uint8_t address[BCL_ADDRESS_MAX];
	struct bcl_peer *peer;
	size_t length;

	must(!bcl_boot_get(rank->boot, other, "address", address,
			   sizeof(address), &length));
	must(!bcl_peer_open(rank->port, address, length, &peer));
	return peer;
}

static void send_text(struct bcl_peer *peer, const char *text)
{
	const struct iovec iov = { (void *)text, strlen(text) + 1 };

	must(!bcl_send(peer, 2, 0, &iov, 1, 0));
}

/* The next event of the kind. Only PEER with OK may come before. */
static struct bcl_event event_of(struct rank *rank, enum bcl_event_kind kind)
{
	struct bcl_event event = rank_event(rank);

	while (event.kind != kind) {
		must(event.kind == BCL_EVENT_PEER && !event.status);
		event = rank_event(rank);
	}
	return event;
}

static int stranger(unsigned me, void *path)
{
	struct bcl_event event;
	struct rank rank;

	open_alone(&rank, *(enum bcl_path *)path);
	if (me == 0) {
		struct bcl_peer *peer = open_peer(&rank, 1);

		/* the card takes messages before the card has met the peer */
		if (*(enum bcl_path *)path == BCL_PATH_SHARED)
			must(bcl_send(peer, 2, 0, NULL, 0, 0) == BCL_ERR_AGAIN);
		event = rank_event(&rank);
		must(event.kind == BCL_EVENT_PEER && event.peer == peer);
		send_text(peer, "hello");
		event = event_of(&rank, BCL_EVENT_MESSAGE);
		must(event.peer == peer);
		must(!strcmp(event.data, "welcome"));
	} else {
		event = event_of(&rank, BCL_EVENT_MESSAGE);
		must(!strcmp(event.data, "hello"));
		must(!bcl_peer_user(event.peer));
		send_text(event.peer, "welcome");
		/* opening rank 0 must give the peer that has written */
		must(open_peer(&rank, 0) == event.peer);
	}
	rank_close(&rank);
	return 0;
}

START_TEST(a_stranger_writes_first)
{
	ck_assert_int_eq(rank_pair(stranger, _i), 0);
}
END_TEST

static int crossing(unsigned me, void *path)
{
	struct bcl_peer *peer;
	struct rank rank;

	for (unsigned i = 0; i < 30; i++) {
		struct bcl_event event;

		open_alone(&rank, *(enum bcl_path *)path);
		peer = open_peer(&rank, 1 - me);
		event = rank_event(&rank);
		must(event.kind == BCL_EVENT_PEER && !event.status);
		must(event.peer == peer);
		send_text(peer, "crossed");
		event = rank_event(&rank);
		must(event.kind == BCL_EVENT_MESSAGE && event.peer == peer);
		rank_close(&rank);
	}
	return 0;
}

START_TEST(both_open_at_once)
{
	ck_assert_int_eq(rank_pair(crossing, _i), 0);
}
END_TEST

/*
 * Ranks 0 and 1 are connected and only poll, busy or in vain, without a helper.
 * Rank 2 comes later, and both ranks must hear rank 2.
 */
static int late(unsigned me, void *argument)
{
	bool busy = *(bool *)argument;
	unsigned known = 0, heard = 0;
	struct rank rank;

	setenv("BCL_HELPER", "off", 1);
	open_alone(&rank, BCL_PATH_SHARED);
	if (me < 2)
		open_peer(&rank, 1 - me);
	while (me < 2 && !heard) {
		struct bcl_event event;

		if (bcl_poll(rank.port, &event))
			continue;
		if (event.kind == BCL_EVENT_PEER && !known++) {
			must(!event.status);
			must(!bcl_boot_put(rank.boot, "known", "", 0));
			/* enough messages under way to keep the port busy */
			for (unsigned i = 0; busy && i < 64; i++)
				must(!bcl_send(event.peer, 1, 0, NULL, 0, 0));
		} else if (event.kind == BCL_EVENT_MESSAGE) {
			heard = event.type == 2;
			if (!heard)
				bcl_send(event.peer, 1, 0, NULL, 0, 0);
		}
	}
	for (unsigned i = 0; me == 2 && i < 2; i++) {
		struct bcl_peer *peer;
		size_t length;
		char none;

		while (bcl_boot_get(rank.boot, i, "known", &none, 1, &length))
			bcl_env_linux.yield(NULL);
		peer = open_peer(&rank, i);
		must(rank_event(&rank).peer == peer);
		must(!bcl_send(peer, 2, 0, NULL, 0, 0));
	}
	rank_close(&rank);
	return 0;
}

START_TEST(a_newcomer_is_heard_by_who_only_polls)
{
	bool busy = _i;

	ck_assert_int_eq(bcl_boot_job_run(3, late, &busy), 0);
}
END_TEST

static int killed(unsigned me, void *path)
{
	struct bcl_event event;
	struct bcl_peer *peer;
	struct rank rank;

	rank_open(&rank, *(enum bcl_path *)path);
	if (me == 1) {
		for (unsigned i = 0; i < 2; i++) {
			must(!bcl_send(rank.peer[0], 1, 0, NULL, 0, 1));
			must(rank_event(&rank).kind == BCL_EVENT_SENT);
		}
		raise(SIGKILL);
	}
	/* the port must deliver the peer's messages, then report the end
	 * once */
	peer = rank.peer[1];
	must(rank_event(&rank).kind == BCL_EVENT_MESSAGE);
	must(rank_event(&rank).kind == BCL_EVENT_MESSAGE);
	event = rank_event(&rank);
	must(event.kind == BCL_EVENT_PEER && event.status == BCL_ERR_DEAD);
	must(event.peer == peer);
	must(bcl_wait(rank.port, 30000000) == BCL_ERR_TIMEOUT);
	must(bcl_send(peer, 1, 0, NULL, 0, 0) == BCL_ERR_DEAD);
	must(bcl_fence(peer, 1) == BCL_ERR_DEAD);
	must(rank_counter(&rank, "core.peers_lost") == 1);
	must(rank_counter(&rank, "core.send_lost") == 2);
	bcl_peer_close(peer);
	bcl_close(rank.context);
	bcl_boot_close(rank.boot);
	return 0;
}

START_TEST(a_peer_is_killed)
{
	/* only the killed rank ends badly */
	ck_assert_int_eq(rank_pair(killed, _i), 1);
}
END_TEST

/* A port of a process closes and opens again. The other port must lose the peer
 * and find the peer again. */
START_TEST(a_port_comes_again)
{
	const struct bcl_port_options options = { .struct_size =
							  sizeof(options),
						  .number = 77 };
	uint8_t address[BCL_ADDRESS_MAX];
	struct bcl_port *here, *there;
	struct bcl_context *context;
	struct bcl_peer *peer, *again;
	struct bcl_event event;
	size_t length;

	ck_assert_int_eq(bcl_open(NULL, &context), BCL_OK);
	ck_assert_int_eq(bcl_port_open(context, NULL, &here), BCL_OK);
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_int_eq(bcl_port_open(context, &options, &there),
				 BCL_OK);
		bcl_port_address(there, address, &length);
		ck_assert_int_eq(bcl_peer_open(here, address, length, &again),
				 BCL_OK);
		if (i)
			ck_assert_ptr_eq(again, peer);
		peer = again;
		while (bcl_poll(here, &event))
			bcl_poll(there, &event);
		ck_assert_int_eq(event.kind, BCL_EVENT_PEER);
		ck_assert_int_eq(event.status, BCL_OK);
		bcl_port_close(there);
		ck_assert_int_eq(bcl_wait(here, 10000000000), BCL_OK);
		bcl_poll(here, &event);
		ck_assert_int_eq(event.kind, BCL_EVENT_PEER);
		ck_assert_int_eq(event.status, BCL_ERR_DEAD);
	}
	bcl_close(context);
}
END_TEST

/* A port must forget lost peers that the program has not opened. */
START_TEST(strangers_are_forgotten)
{
	uint8_t address[BCL_ADDRESS_MAX];
	struct bcl_port *here, *there;
	struct bcl_context *context;
	struct bcl_peer *peer;
	struct bcl_event event;
	size_t length;

	ck_assert_int_eq(bcl_open(NULL, &context), BCL_OK);
	ck_assert_int_eq(bcl_port_open(context, NULL, &here), BCL_OK);
	bcl_port_address(here, address, &length);
	for (unsigned i = 0; i < 200; i++) {
		ck_assert_int_eq(bcl_port_open(context, NULL, &there), BCL_OK);
		ck_assert_int_eq(bcl_peer_open(there, address, length, &peer),
				 BCL_OK);
		do {
			bcl_poll(there, &event);
		} while (bcl_poll(here, &event));
		ck_assert_int_eq(event.kind, BCL_EVENT_PEER);
		ck_assert_int_eq(event.status, BCL_OK);
		bcl_port_close(there);
		ck_assert_int_eq(bcl_wait(here, 10000000000), BCL_OK);
		bcl_poll(here, &event);
		ck_assert_int_eq(event.status, BCL_ERR_DEAD);
		bcl_wait(here, 1000000);
	}
	ck_assert_uint_le(here->npeers, 2);
	bcl_close(context);
}
END_TEST

enum {
	CLOSED = 100,
};

/* Rank 0 sends, closes the peer and waits until the close has ended. Then rank
 * 1 writes. */
static int closes(unsigned me, void *path)
{
	struct bcl_event event;
	struct bcl_peer *peer;
	struct rank rank;

	(void)path;
	open_alone(&rank, BCL_PATH_CARD);
	for (unsigned i = 0; i < CLOSED; i++) {
		if (me) {
			event = event_of(&rank, BCL_EVENT_MESSAGE);
			must(event.immediate == i);
			continue;
		}
		peer = open_peer(&rank, 1);
		must(event_of(&rank, BCL_EVENT_PEER).peer == peer);
		must(!bcl_send(peer, 1, i, NULL, 0, 7));
		bcl_peer_close(peer);
		event = rank_event(&rank);
		must(event.kind == BCL_EVENT_SENT && !event.status);
		must(event.peer == peer && event.cookie == 7);
		while (rank.port->npeers)
			must(bcl_wait(rank.port, 1000000) == BCL_ERR_TIMEOUT);
	}
	must(!bcl_boot_fence(rank.boot));
	if (me) {
		send_text(event.peer, "as a stranger");
	} else {
		peer = event_of(&rank, BCL_EVENT_PEER).peer;
		must(event_of(&rank, BCL_EVENT_MESSAGE).peer == peer);
	}
	rank_close(&rank);
	return 0;
}

/* Between hosts a port must free the record of a closed peer once the requests
 * of the peer have ended. */
START_TEST(closed_peers_are_forgotten)
{
	ck_assert_int_eq(rank_pair(closes, 1), 0);
}
END_TEST

static const struct {
	unsigned ranks, slots;
} rings[] = { { 2, 16384 }, { 4, 4096 }, { 16, 1024 } };

static int ring_slots(unsigned me, void *slots)
{
	struct rank rank;

	(void)me;
	rank_open(&rank, BCL_PATH_SHARED);
	for (unsigned i = 0; i < rank.port->npairs; i++)
		must(rank.port->pairs[i]->mask + 1 == *(unsigned *)slots);
	must(rank.port->npairs == rank.boot->size - 1);
	rank_close(&rank);
	return 0;
}

START_TEST(few_ranks_have_long_rings)
{
	unsigned slots = rings[_i].slots;

	ck_assert_int_eq(bcl_boot_job_run(rings[_i].ranks, ring_slots, &slots),
			 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("peer");
	TCase *tcase = tcase_create("peer");

	setenv("BCL_RAILS", "none", 1);
	tcase_add_loop_test(tcase, a_stranger_writes_first, 0, 2);
	tcase_add_loop_test(tcase, both_open_at_once, 0, 2);
	tcase_add_loop_test(tcase, a_newcomer_is_heard_by_who_only_polls, 0, 2);
	tcase_add_loop_test(tcase, a_peer_is_killed, 0, 2);
	tcase_add_test(tcase, a_port_comes_again);
	tcase_add_test(tcase, strangers_are_forgotten);
	tcase_add_test(tcase, closed_peers_are_forgotten);
	tcase_add_loop_test(tcase, few_ranks_have_long_rings, 0,
			    sizeof(rings) / sizeof(*rings));
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
