/* SPDX-License-Identifier: MIT */
/* The resources that a port gives back, or keeps, when a program closes a peer
 * on the same host. */
#include <dirent.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/unit/ranks.h"
#include "tests/unit/unit.h"
#include "transport/peer.h"
#include "transport/shm/leave.h"
#include "transport/shm/message.h"
#include "transport/shm/port.h"

/* ---- resources of a process ---- */

struct held {
	unsigned descriptors, maps;
};

static unsigned count_descriptors(void)
{
	DIR *all = opendir("/proc/self/fd");
	unsigned n = 0;

	ck_assert_ptr_nonnull(all);
	while (readdir(all))
		n++;
	closedir(all);
	return n - 3; /* without ".", ".." and `all` */
}

/* Maps of memory that ports share. */
static unsigned count_maps(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];
	unsigned n = 0;

	ck_assert_ptr_nonnull(maps);
	while (fgets(line, sizeof(line), maps))
		n += strstr(line, "/memfd:bcl-") != NULL;
	fclose(maps);
	return n;
}

static struct held held(void)
{
	return (struct held){ count_descriptors(), count_maps() };
}

static void check_held(struct held now, struct held before)
{
	ck_assert_uint_eq(now.descriptors, before.descriptors);
	ck_assert_uint_eq(now.maps, before.maps);
}

/* ---- two ports of one process ---- */

static struct bcl_context *context;
static struct bcl_port *here, *there;

static void open_port(struct bcl_port **port)
{
	ck_assert_int_eq(bcl_port_open(context, NULL, port), BCL_OK);
}

static void open_ports(void)
{
	setenv("BCL_RAILS", "none", 1);
	ck_assert_int_eq(bcl_open(NULL, &context), BCL_OK);
	open_port(&here);
	open_port(&there);
}

static struct bcl_peer *open_peer(struct bcl_port *from, struct bcl_port *to)
{
	uint8_t address[BCL_ADDRESS_MAX];
	struct bcl_peer *peer;
	size_t length;

	ck_assert_int_eq(bcl_port_address(to, address, &length), BCL_OK);
	ck_assert_int_eq(bcl_peer_open(from, address, length, &peer), BCL_OK);
	return peer;
}

/* The next event of `port`. The other port goes on, too. */
static struct bcl_event next(struct bcl_port *port)
{
	struct bcl_port *other = port == here ? there : here;
	struct bcl_event event;

	while (bcl_poll(port, &event)) {
		bcl_wait(other, 0);
		sched_yield();
	}
	return event;
}

static struct bcl_event expect(struct bcl_port *port, enum bcl_event_kind kind,
			       enum bcl_status status)
{
	struct bcl_event event = next(port);

	ck_assert_int_eq(event.kind, kind);
	ck_assert_int_eq(event.status, status);
	return event;
}

static uint64_t counter(const char *name)
{
	struct rank rank = { .context = context };

	return rank_counter(&rank, name);
}

/* Both ports go on until `connections` connections have ended. No event may
 * come. */
static void await_left(uint64_t connections)
{
	struct bcl_event event;

	while (counter("shm.left") < connections) {
		if (!bcl_poll(here, &event) || !bcl_poll(there, &event))
			ck_abort_msg("event %d, status %d", event.kind,
				     event.status);
		sched_yield();
	}
}

/* Connect both ports: `here` opens the peer. */
static struct bcl_peer *meet(void)
{
	struct bcl_peer *peer = open_peer(here, there);

	expect(here, BCL_EVENT_PEER, BCL_OK);
	expect(there, BCL_EVENT_PEER, BCL_OK);
	return peer;
}

static void send_number(struct bcl_peer *peer, uint64_t number)
{
	ck_assert_int_eq(bcl_send(peer, 1, number, NULL, 0, 0), BCL_OK);
}

static void expect_number(struct bcl_port *port, uint64_t number)
{
	ck_assert_uint_eq(expect(port, BCL_EVENT_MESSAGE, BCL_OK).immediate,
			  number);
}

/* The program has closed the peer. The port must free the record at the next
 * service. */
static void await_no_peer(struct bcl_port *port)
{
	while (port->npeers)
		ck_assert_int_eq(bcl_wait(port, 1000000), BCL_ERR_TIMEOUT);
}

/* One port opens the peer and closes the peer. The other port was only
 * called. */
START_TEST(one_closes)
{
	struct held before;

	open_ports();
	before = held();
	for (unsigned i = 1; i <= 20; i++) {
		bcl_peer_close(meet());
		expect(there, BCL_EVENT_PEER, BCL_ERR_DEAD);
		await_left(2 * i);
		await_no_peer(here);
		await_no_peer(there);
	}
	check_held(held(), before);
	ck_assert_uint_eq(counter("shm.leaves_unanswered"), 0);
	bcl_close(context);
}
END_TEST

/* Both ports open the peer, and one port closes. The other port must go on
 * undisturbed until both ports have closed. */
START_TEST(the_other_holds)
{
	struct bcl_peer *peer[2];
	struct held before;

	open_ports();
	before = held();
	peer[0] = meet();
	peer[1] = open_peer(there, here);
	bcl_peer_close(peer[0]);
	for (unsigned i = 0; i < 100; i++) {
		send_number(peer[1], i);
		expect_number(here, i);
	}
	bcl_peer_close(peer[1]);
	/* messages have named the closed peer, so the port reports the end */
	expect(here, BCL_EVENT_PEER, BCL_ERR_DEAD);
	await_left(2);
	check_held(held(), before);
	ck_assert_uint_eq(counter("shm.leaves_unanswered"), 0);
	bcl_close(context);
}
END_TEST

START_TEST(both_close)
{
	struct held before;

	open_ports();
	before = held();
	for (unsigned i = 1; i <= 20; i++) {
		struct bcl_peer *peer = meet();

		bcl_peer_close(open_peer(there, here));
		bcl_peer_close(peer);
		await_left(2 * i);
	}
	await_no_peer(here);
	check_held(held(), before);
	bcl_close(context);
}
END_TEST

/* Both sides send before the end. All messages must be delivered, then both
 * ports report the end. */
START_TEST(last_words)
{
	struct bcl_peer *peer, *stranger;

	open_ports();
	peer = open_peer(here, there);
	expect(here, BCL_EVENT_PEER, BCL_OK);
	stranger = expect(there, BCL_EVENT_PEER, BCL_OK).peer;
	for (unsigned i = 0; i < 100; i++)
		send_number(peer, i);
	bcl_peer_close(peer);
	for (unsigned i = 0; i < 100; i++)
		send_number(stranger, 1000 + i);
	for (unsigned i = 0; i < 100; i++)
		expect_number(there, i);
	for (unsigned i = 0; i < 100; i++)
		expect_number(here, 1000 + i);
	expect(there, BCL_EVENT_PEER, BCL_ERR_DEAD);
	expect(here, BCL_EVENT_PEER, BCL_ERR_DEAD);
	ck_assert_uint_eq(counter("shm.left"), 2);
	bcl_close(context);
}
END_TEST

/* The program closes the peer and opens the peer again at once, at each moment
 * of the closing. */
START_TEST(opened_again)
{
	struct bcl_peer *peer;
	struct bcl_event event;
	struct held before;

	open_ports();
	before = held();
	peer = meet();
	for (unsigned i = 0; i < 50; i++) {
		enum bcl_status status;

		bcl_peer_close(peer);
		for (unsigned turns = 0; turns < i % 5; turns++)
			if (!bcl_poll(turns % 2 ? here : there, &event))
				ck_assert_int_eq(event.kind, BCL_EVENT_PEER);
		peer = open_peer(here, there);
		while ((status = bcl_send(peer, 1, i, NULL, 0, 0))) {
			ck_assert_int_eq(status, BCL_ERR_AGAIN);
			if (!bcl_poll(here, &event))
				ck_assert_int_eq(event.kind, BCL_EVENT_PEER);
			if (!bcl_poll(there, &event))
				ck_assert_int_eq(event.kind, BCL_EVENT_PEER);
		}
		do
			event = next(there);
		while (event.kind == BCL_EVENT_PEER);
		ck_assert_uint_eq(event.immediate, i);
	}
	bcl_peer_close(peer);
	do
		event = next(there);
	while (!event.status);
	while (here->npeers || there->npeers) {
		bcl_wait(here, 1000000);
		bcl_wait(there, 1000000);
		bcl_poll(here, &event);
	}
	check_held(held(), before);
	ck_assert_uint_gt(counter("shm.left"), 2);
	ck_assert_uint_eq(counter("shm.leaves_unanswered"), 0);
	bcl_close(context);
}
END_TEST

/* No port may wait for an answer any longer, and the peer must still be up. */
static void check_kept(const struct bcl_peer *peer)
{
	struct bcl_event event;

	while (here->shm->waiting || there->shm->waiting) {
		if (!bcl_poll(here, &event) || !bcl_poll(there, &event))
			ck_abort_msg("event %d, status %d", event.kind,
				     event.status);
		sched_yield();
	}
	ck_assert_uint_eq(counter("shm.leaves_unanswered"), 0);
	ck_assert_uint_eq(peer->state, BCL_PEER_UP);
}

/* The program opens the peer again while an offer is under way. The time limit
 * for the offer must no longer apply. */
START_TEST(opened_again_in_time)
{
	uint8_t token[BCL_KEY_MAX];
	struct bcl_peer *peer;

	setenv("BCL_PEER_TIMEOUT", "500ms", 1);
	open_ports();
	peer = meet();
	ck_assert_int_eq(bcl_offer(peer, token, 1, 0, token), BCL_OK);
	bcl_peer_close(peer);
	ck_assert_uint_eq(here->shm->waiting, 1);
	ck_assert_ptr_eq(open_peer(here, there), peer);
	check_kept(peer);
	bcl_close(context);
}
END_TEST

/* `there` opens the peer that `here` has closed: before `there` has heard of
 * the close, or after, but before the answer. */
START_TEST(opened_there)
{
	struct bcl_event event;
	struct bcl_peer *peer;

	setenv("BCL_PEER_TIMEOUT", "500ms", 1);
	setenv("BCL_HELPER", "0", 1);
	open_ports();
	peer = meet();
	bcl_peer_close(peer);
	if (_i)
		ck_assert_int_eq(
			bcl_pair_receive(there->pairs[0], false, &event),
			BCL_ERR_AGAIN);
	open_peer(there, here);
	check_kept(peer);
	ck_assert_uint_eq(counter("shm.left"), 0);
	bcl_close(context);
}
END_TEST

/* A program closes and opens a peer all the time. The outbox must not fill
 * up. */
START_TEST(opened_all_the_time)
{
	struct bcl_peer *peer;

	open_ports();
	peer = meet();
	while (!bcl_send(peer, 1, 0, NULL, 0, 0))
		;
	for (unsigned i = 0; i < 2 * BCL_OUTBOX_MAX; i++) {
		struct bcl_event event;

		bcl_peer_close(peer);
		ck_assert_int_eq(bcl_poll(here, &event), BCL_ERR_EMPTY);
		ck_assert_ptr_eq(open_peer(here, there), peer);
		ck_assert_int_eq(bcl_poll(here, &event), BCL_ERR_EMPTY);
	}
	ck_assert(!peer->pair->broken);
	bcl_close(context);
}
END_TEST

/* The program closes the peer before the connection is up. */
START_TEST(closed_while_connecting)
{
	struct held before;

	open_ports();
	before = held();
	bcl_peer_close(open_peer(here, there));
	expect(there, BCL_EVENT_PEER, BCL_OK);
	expect(here, BCL_EVENT_PEER, BCL_OK);
	expect(there, BCL_EVENT_PEER, BCL_ERR_DEAD);
	await_left(2);
	check_held(held(), before);
	bcl_close(context);
}
END_TEST

/* Ports and contexts must give back all their resources, too. */
START_TEST(whole_contexts)
{
	struct held before = held();
	struct bcl_event event;

	for (unsigned i = 0; i < 10; i++) {
		open_ports();
		meet();
		bcl_port_close(there);
		while (bcl_poll(here, &event))
			sched_yield();
		ck_assert_int_eq(event.status, BCL_ERR_DEAD);
		open_port(&there);
		meet();
		bcl_close(context);
		check_held(held(), before);
	}
}
END_TEST

/* ---- requests under way ---- */

enum {
	SIZE = 200000,
};

static uint8_t source[SIZE], target[SIZE];

/* A put that the owner of the memory carries out, an atomic, a message for a
 * channel that is posted later, and an offer that is read later. All requests
 * must end well, then the connection ends. */
START_TEST(requests_end)
{
	uint8_t key[BCL_KEY_MAX], token[BCL_KEY_MAX];
	struct bcl_memory *memory;
	struct bcl_peer *peer, *stranger;
	struct held before;
	uint64_t old = 0;

	if (_i)
		setenv("BCL_ATTACH", "0", 1);
	memset(source, 7, SIZE);
	memset(target, 0, SIZE);
	open_ports();
	ck_assert_int_eq(bcl_memory_register(
				 context, target, SIZE,
				 BCL_REMOTE_WRITE | BCL_REMOTE_ATOMIC, &memory),
			 BCL_OK);
	bcl_memory_key(memory, key);
	before = held();
	peer = open_peer(here, there);
	expect(here, BCL_EVENT_PEER, BCL_OK);
	stranger = expect(there, BCL_EVENT_PEER, BCL_OK).peer;
	if (_i)
		ck_assert_int_eq(bcl_put(peer, key, 8, source, SIZE - 8, 1),
				 BCL_OK);
	ck_assert_int_eq(bcl_fetch_add(peer, key, 0, 5, &old, 2), BCL_OK);
	ck_assert_int_eq(bcl_send_channel(peer, 3, source, SIZE, 3), BCL_OK);
	ck_assert_int_eq(bcl_offer(peer, source, SIZE, 4, token), BCL_OK);
	bcl_peer_close(peer);
	for (unsigned left = _i ? 2 : 1; left; left--)
		expect(here, BCL_EVENT_SENT, BCL_OK);
	ranks_show_order(context);
	ck_assert_uint_eq(*(uint64_t *)target, 5);
	ck_assert(!_i || !memcmp(target + 8, source, SIZE - 8));
	ck_assert_int_eq(bcl_wait(there, 2000000), BCL_ERR_TIMEOUT);
	ck_assert_uint_eq(counter("shm.left"), 0);
	ck_assert_int_eq(bcl_post(there, 3, target, SIZE, 5), BCL_OK);
	expect(there, BCL_EVENT_CHANNEL, BCL_OK);
	ck_assert(!memcmp(target, source, SIZE));
	expect(here, BCL_EVENT_SENT, BCL_OK);
	ck_assert_uint_eq(counter("shm.left"), 0);
	memset(target, 0, SIZE);
	ck_assert_int_eq(bcl_pull(stranger, token, target, SIZE, 6), BCL_OK);
	expect(there, BCL_EVENT_PULLED, BCL_OK);
	ck_assert(!memcmp(target, source, SIZE));
	expect(here, BCL_EVENT_READ, BCL_OK);
	expect(there, BCL_EVENT_PEER, BCL_ERR_DEAD);
	await_left(2);
	check_held(held(), before);
	bcl_memory_release(memory);
	bcl_close(context);
}
END_TEST

/* Mapped memory must stay in place until the program unmaps the memory. */
START_TEST(mapped)
{
	uint8_t key[BCL_KEY_MAX];
	struct bcl_memory *memory;
	struct bcl_peer *peer;
	struct held before;
	void *address;

	open_ports();
	ck_assert_int_eq(
		bcl_memory_allocate(context, SIZE, BCL_REMOTE_READ, &memory),
		BCL_OK);
	bcl_memory_key(memory, key);
	before = held();
	peer = meet();
	ck_assert_int_eq(bcl_memory_map(peer, key, &address), BCL_OK);
	bcl_peer_close(peer);
	expect(there, BCL_EVENT_PEER, BCL_ERR_DEAD);
	await_left(2);
	*(uint8_t *)bcl_memory_address(memory) = 9;
	ck_assert_int_eq(*(volatile uint8_t *)address, 9);
	ck_assert_uint_eq(count_maps(), before.maps + 1);
	peer = meet();
	bcl_memory_unmap(peer, key);
	bcl_peer_close(peer);
	expect(there, BCL_EVENT_PEER, BCL_ERR_DEAD);
	await_left(4);
	check_held(held(), before);
	bcl_close(context);
}
END_TEST

/* The owner has released memory. The user of the memory must not keep a map. */
START_TEST(released)
{
	uint8_t key[BCL_KEY_MAX];
	struct bcl_memory *memory;
	struct bcl_peer *peer;
	unsigned maps;
	void *address;

	open_ports();
	peer = meet();
	maps = count_maps();
	for (unsigned i = 0; i < 2; i++) {
		ck_assert_int_eq(bcl_memory_allocate(context, SIZE,
						     BCL_REMOTE_READ, &memory),
				 BCL_OK);
		bcl_memory_key(memory, key);
		ck_assert_int_eq(bcl_memory_map(peer, key, &address), BCL_OK);
		if (i)
			bcl_memory_unmap(peer, key);
		bcl_memory_release(memory);
		if (!i)
			bcl_memory_unmap(peer, key);
		ck_assert_uint_eq(count_maps(), maps + i);
	}
	/* the port finds the last released memory when the program asks for the
	 * next */
	ck_assert_int_eq(
		bcl_memory_allocate(context, SIZE, BCL_REMOTE_READ, &memory),
		BCL_OK);
	bcl_memory_key(memory, key);
	ck_assert_int_eq(bcl_memory_map(peer, key, &address), BCL_OK);
	bcl_memory_unmap(peer, key);
	bcl_memory_release(memory);
	ck_assert_uint_eq(count_maps(), maps + 1);
	bcl_close(context);
}
END_TEST

/* ---- in any order ---- */

enum {
	STEPS = 20000 / (UNIT_SLOW ? 10 : 1),
};

/* A port that opens, closes, sends and receives at random. */
struct side {
	struct bcl_port *port;
	struct bcl_peer *peer; /* NULL: closed */
	uint64_t sent, received, asked, answered;
	uint64_t words[2];
};

static struct side sides[2];
static uint8_t word_key[BCL_KEY_MAX];
static uint64_t word;

static void take_events(struct side *side, unsigned most)
{
	struct bcl_event event;

	while (most-- && !bcl_poll(side->port, &event)) {
		if (event.kind == BCL_EVENT_MESSAGE)
			ck_assert_uint_eq(event.immediate, side->received++);
		else if (event.kind == BCL_EVENT_SENT)
			side->answered++;
		else
			ck_assert_int_eq(event.kind, BCL_EVENT_PEER);
		if (event.kind == BCL_EVENT_SENT)
			ck_assert_int_eq(event.status, BCL_OK);
	}
}

static void step(struct side *side, unsigned chance)
{
	const struct side *other = &sides[side == sides];

	switch (chance % 16) {
	case 0:
		if (side->peer)
			bcl_peer_close(side->peer);
		side->peer = NULL;
		break;
	case 1:
	case 2:
		side->peer = open_peer(side->port, other->port);
		break;
	case 3:
		if (side->peer && !bcl_fetch_add(side->peer, word_key, 0, 1,
						 &side->words[0], 0))
			side->asked++;
		break;
	case 4:
	case 5:
	case 6:
	case 7:
		if (side->peer &&
		    !bcl_send(side->peer, 1, side->sent, NULL, 0, 0))
			side->sent++;
		break;
	default:
		take_events(side, chance / 16 % 8);
	}
}

/* Connecting takes as long as the processors are busy. */
static bool had_enough(void)
{
	return sides[0].sent > 10 && sides[1].sent > 10 && sides[0].asked &&
	       sides[1].asked && counter("shm.left") > 4;
}

/* Each message must come once and in order, each request must be answered, and
 * no resource may be left in the end. */
START_TEST(any_order)
{
	struct bcl_memory *memory;
	uint64_t random = (uint64_t)_i + 1;
	struct held before;

	/* longer than the test, so that a wait in vain fails the test */
	setenv("BCL_PEER_TIMEOUT", "1000s", 1);
	if (_i % 2)
		setenv("BCL_HELPER", "0", 1);
	open_ports();
	sides[0].port = here;
	sides[1].port = there;
	ck_assert_int_eq(bcl_memory_register(context, &word, sizeof(word),
					     BCL_REMOTE_ATOMIC, &memory),
			 BCL_OK);
	bcl_memory_key(memory, word_key);
	before = held();
	for (unsigned i = 0; i < STEPS || !had_enough(); i++) {
		random = random * UINT64_C(6364136223846793005) + 1;
		step(&sides[random >> 63], (unsigned)(random >> 40) & 0x7fffff);
	}
	for (unsigned i = 0; i < 2; i++)
		if (sides[i].peer)
			bcl_peer_close(sides[i].peer);
	while (here->npeers || there->npeers) {
		for (unsigned i = 0; i < 2; i++) {
			bcl_wait(sides[i].port, 300000);
			take_events(&sides[i], 100);
		}
	}
	for (unsigned i = 0; i < 2; i++) {
		ck_assert_uint_eq(sides[i].received, sides[!i].sent);
		ck_assert_uint_eq(sides[i].answered, sides[i].asked);
	}
	ck_assert_uint_eq(word, sides[0].asked + sides[1].asked);
	ck_assert_uint_eq(counter("shm.leaves_unanswered"), 0);
	check_held(held(), before);
	bcl_memory_release(memory);
	bcl_close(context);
}
END_TEST

/* ---- peers that break the rules ---- */

/* The peer says END and goes on, or says words that do not exist. */
START_TEST(liar)
{
	const uint64_t words[][2] = { { BCL_LEAVE_END, BCL_LEAVE_STAY },
				      { BCL_LEAVE_END + 1, 0 },
				      { UINT64_MAX, 0 } };
	struct bcl_peer *peer, *stranger;
	struct held before;

	open_ports();
	before = held();
	peer = open_peer(here, there);
	expect(here, BCL_EVENT_PEER, BCL_OK);
	stranger = expect(there, BCL_EVENT_PEER, BCL_OK).peer;
	for (unsigned i = 0; i < 2; i++)
		bcl_pair_send(stranger->pair, BCL_SHM_LEAVE, words[_i][i], NULL,
			      0);
	if (_i)
		expect(here, BCL_EVENT_PEER, BCL_ERR_DEAD);
	else
		/* `here` believes END alone, and connects again */
		expect(here, BCL_EVENT_PEER, BCL_OK);
	bcl_peer_close(peer);
	while (here->npeers || there->npeers) {
		struct bcl_event event;

		bcl_wait(here, 1000000);
		bcl_poll(here, &event);
		bcl_wait(there, 1000000);
		bcl_poll(there, &event);
	}
	check_held(held(), before);
	bcl_close(context);
}
END_TEST

/* ---- processes ---- */

enum {
	PORTS = 40,
	ROUNDS = 5,
};

/* In shared memory of both processes. */
static struct {
	size_t length;
	uint8_t address[BCL_ADDRESS_MAX];
} * addresses;

/* A server answers its clients until all clients are gone. */
static void serve(struct rank *rank)
{
	struct bcl_port *port[PORTS];
	struct held before;
	struct bcl_event event;
	unsigned gone = 0;

	for (unsigned i = 0; i < PORTS; i++) {
		ck_assert_int_eq(bcl_port_open(rank->context, NULL, &port[i]),
				 BCL_OK);
		ck_assert_int_eq(bcl_port_address(port[i], addresses[i].address,
						  &addresses[i].length),
				 BCL_OK);
	}
	before = held();
	rank_barrier(rank);
	while (gone < ROUNDS * PORTS) {
		for (unsigned i = 0; i < PORTS; i++) {
			if (bcl_poll(port[i], &event))
				continue;
			if (event.kind == BCL_EVENT_MESSAGE)
				send_number(event.peer, event.immediate);
			gone += event.kind == BCL_EVENT_PEER && event.status;
		}
		sched_yield();
	}
	check_held(held(), before);
	ck_assert_uint_eq(rank_counter(rank, "shm.left"), ROUNDS * PORTS);
	for (unsigned i = 0; i < PORTS; i++)
		await_no_peer(port[i]);
	rank_barrier(rank);
}

static void one_round(struct rank *rank, struct held before)
{
	struct bcl_peer *peer[PORTS];
	struct bcl_event event;

	for (unsigned i = 0; i < PORTS; i++)
		ck_assert_int_eq(bcl_peer_open(rank->port, addresses[i].address,
					       addresses[i].length, &peer[i]),
				 BCL_OK);
	for (unsigned i = 0; i < PORTS; i++) {
		rank_expect(rank, BCL_EVENT_PEER, &event);
		ck_assert_int_eq(event.status, BCL_OK);
	}
	ck_assert_uint_le(count_descriptors(), before.descriptors + 2 * PORTS);
	for (unsigned i = 0; i < PORTS; i++)
		send_number(peer[i], i);
	for (unsigned i = 0; i < PORTS; i++)
		rank_expect(rank, BCL_EVENT_MESSAGE, &event);
	for (unsigned i = 0; i < PORTS; i++)
		bcl_peer_close(peer[i]);
}

static void use(struct rank *rank)
{
	struct held before = held();

	rank_barrier(rank);
	for (unsigned i = 1; i <= ROUNDS; i++) {
		one_round(rank, before);
		while (rank_counter(rank, "shm.left") < i * PORTS)
			rank_idle(rank, 0);
		await_no_peer(rank->port);
		check_held(held(), before);
	}
	ck_assert_uint_eq(rank_counter(rank, "shm.leaves_unanswered"), 0);
	rank_barrier(rank);
}

static void server_or_client(struct rank *rank)
{
	if (rank->me)
		use(rank);
	else
		serve(rank);
}

START_TEST(long_lived)
{
	addresses =
		mmap(NULL, PORTS * sizeof(*addresses), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(addresses, MAP_FAILED);
	ranks_run(2, server_or_client, 0);
}
END_TEST

/* The state of a process, a letter. */
static char state_of(unsigned pid)
{
	char path[64], state = 0;
	FILE *stat;

	snprintf(path, sizeof(path), "/proc/%u/stat", pid);
	stat = fopen(path, "r");
	if (!stat)
		return 0;
	if (fscanf(stat, "%*d %*s %c", &state) != 1)
		state = 0;
	fclose(stat);
	return state;
}

/* The rank is stopped, and the peer gives the connection's resources back after
 * BCL_PEER_TIMEOUT. When the stopped rank goes on, the rank must find the
 * message, then the end. */
static void is_stopped(struct rank *rank, struct held before)
{
	struct bcl_event event;

	rank_expect(rank, BCL_EVENT_PEER, &event);
	atomic_store(&rank->all->signals[0], (unsigned)getpid());
	raise(SIGSTOP);
	rank_expect(rank, BCL_EVENT_MESSAGE, &event);
	rank_expect(rank, BCL_EVENT_PEER, &event);
	ck_assert_int_eq(event.status, BCL_ERR_DEAD);
	await_no_peer(rank->port);
	check_held(held(), before);
}

static void closes_it(struct rank *rank, struct held before)
{
	_Atomic unsigned *other = &rank->all->signals[0];

	ck_assert_int_eq(rank_connect(rank, 1), BCL_OK);
	while (!atomic_load(other) || state_of(atomic_load(other)) != 'T')
		rank_idle(rank, 1);
	rank_send(rank, 1, 1, NULL, 0);
	bcl_peer_close(rank->peers[1]);
	await_no_peer(rank->port);
	check_held(held(), before);
	ck_assert_uint_eq(rank_counter(rank, "shm.leaves_unanswered"), 1);
	ck_assert_uint_eq(rank_counter(rank, "shm.left"), 0);
	kill((pid_t)atomic_load(other), SIGCONT);
}

static void stopped(struct rank *rank)
{
	struct held before;

	setenv("BCL_PEER_TIMEOUT", "100ms", 1);
	rank_open(rank, NULL);
	before = held();
	rank_barrier(rank);
	if (rank->me)
		is_stopped(rank, before);
	else
		closes_it(rank, before);
	rank_close(rank);
}

START_TEST(unanswered)
{
	ranks_run_bare(2, stopped, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("leave");
	TCase *tc = tcase_create("leave");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, one_closes);
	tcase_add_test(tc, the_other_holds);
	tcase_add_test(tc, both_close);
	tcase_add_test(tc, last_words);
	tcase_add_test(tc, opened_again);
	tcase_add_test(tc, opened_again_in_time);
	tcase_add_loop_test(tc, opened_there, 0, 2);
	tcase_add_test(tc, opened_all_the_time);
	tcase_add_test(tc, closed_while_connecting);
	tcase_add_test(tc, whole_contexts);
	tcase_add_loop_test(tc, requests_end, 0, 2);
	tcase_add_test(tc, mapped);
	tcase_add_test(tc, released);
	tcase_add_loop_test(tc, any_order, 0, 8);
	tcase_add_loop_test(tc, liar, 0, 3);
	tcase_add_test(tc, long_lived);
	tcase_add_test(tc, unanswered);
	suite_add_tcase(suite, tc);
	return unit_run(suite);
}
