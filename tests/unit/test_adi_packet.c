/* SPDX-License-Identifier: MIT */
/* Packets: an interface for layers that match messages themselves. */
#include "adi_world.h"

#include "adi/internal.h"

enum {
	LONG = 70000,
	EVENTS = 4000,
	PACKETS = 300,
};

/* A record of the callbacks of a rank. */
static struct seen {
	struct bcl_adi *adi;
	unsigned received, completed, ups, losses, next;
	struct bcl_peer *from, *lost;
	unsigned type;
	size_t length;
	_Alignas(8) unsigned char packet[BCL_LONG_MAX];
	unsigned char announcement[100];  /* the last packet of type 4 */
	enum bcl_status complete[EVENTS]; /* by cookie; AGAIN: pending */
	bool echo, in_order;
} seen[WORLD_RANKS];

static void receive(void *arg, struct bcl_peer *peer, unsigned type,
		    const void *packet, size_t length)
{
	struct seen *s = arg;
	unsigned number;

	ck_assert_uint_eq((uintptr_t)packet % 8, 0);
	s->received++;
	s->from = peer;
	s->type = type;
	s->length = length;
	memcpy(s->packet, packet, length);
	if (type == 4)
		memcpy(s->announcement, packet, sizeof(s->announcement));
	if (s->in_order) {
		memcpy(&number, packet, sizeof(number));
		ck_assert_uint_eq(number, s->next++);
	}
	if (s->echo)
		ck_assert_int_eq(bcl_adi_packet_send(s->adi, peer, type, packet,
						     length, NULL, 0, 0),
				 BCL_OK);
}

static void complete(void *arg, uint64_t cookie, enum bcl_status status)
{
	struct seen *s = arg;

	ck_assert_uint_lt(cookie, EVENTS);
	ck_assert_int_eq(s->complete[cookie], BCL_ERR_AGAIN);
	s->complete[cookie] = status;
	s->completed++;
}

static void peer_changed(void *arg, struct bcl_peer *peer,
			 enum bcl_status status)
{
	struct seen *s = arg;

	if (status) {
		s->losses++;
		s->lost = peer;
	} else {
		s->ups++;
	}
}

static const struct bcl_adi_packet_ops ops = { .struct_size = sizeof(ops),
					       .receive = receive,
					       .complete = complete,
					       .peer = peer_changed };

static struct seen *open_packets(struct bcl_adi *adi, unsigned rank)
{
	struct seen *s = &seen[rank];
	unsigned i;

	memset(s, 0, sizeof(*s));
	s->adi = adi;
	for (i = 0; i < EVENTS; i++)
		s->complete[i] = BCL_ERR_AGAIN;
	ck_assert_int_eq(bcl_adi_packet_open(adi, &ops, s), BCL_OK);
	world_meet();
	return s;
}

/* Runs turns until the count is at least n. */
static void until(struct bcl_adi *adi, const unsigned *count, unsigned n)
{
	while (*count < n) {
		if (!bcl_adi_packet_poll(adi))
			bcl_adi_packet_wait(adi, 1000000);
	}
}

/* ---- sending ---- */

/* Sends a packet. A word and a single piece, without a cookie, go by the call
 * for words. */
static enum bcl_status send_shape(struct bcl_adi *adi, struct bcl_peer *peer,
				  unsigned type, const void *header,
				  size_t header_length, const struct iovec *iov,
				  unsigned niov, uint64_t cookie)
{
	enum bcl_status status;
	uint64_t word;

	if (header_length != sizeof(word) || niov != 1 || cookie)
		return bcl_adi_packet_send(adi, peer, type, header,
					   header_length, iov, niov, cookie);
	memcpy(&word, header, sizeof(word));
	while ((status = bcl_adi_packet_word(adi, peer, type, word,
					     iov->iov_base, iov->iov_len)) ==
	       BCL_ERR_AGAIN)
		bcl_adi_packet_poll(adi);
	return status;
}

static void shapes(struct bcl_adi *adi, unsigned rank)
{
	static const size_t heads[] = { 0, 8, 40, 160, 4352 };
	static const unsigned pieces[] = { 0, 1, 2, 15, 16, 40 };
	static unsigned char data[BCL_MESSAGE_MAX], whole[BCL_MESSAGE_MAX];
	struct seen *s = open_packets(adi, rank);
	unsigned i, j, k, n = 0, cookies = 0;
	struct bcl_peer *peer;
	struct iovec iov[40];
	size_t length;

	ck_assert_int_eq(bcl_adi_peer(adi, 1 - rank, &peer), BCL_OK);
	for (i = 0; i < 5 * 6 * 2; i++) {
		size_t head = heads[i / 12];
		unsigned npieces = pieces[i / 2 % 6];
		uint64_t cookie = i % 2 ? ++cookies : 0;

		length = npieces ? (BCL_MESSAGE_MAX - head) / npieces : 0;
		if (rank == 0) {
			pattern_fill(whole, head, i);
			for (j = 0; j < npieces; j++) {
				iov[j] = (struct iovec){ data + j * length,
							 length };
				for (k = 0; k < length; k++)
					data[j * length + k] = pattern_byte(
						head + j * length + k, i);
			}
			ck_assert_int_eq(send_shape(adi, peer, i % 16, whole,
						    head, iov, npieces, cookie),
					 BCL_OK);
			memset(whole, 0, sizeof(whole));
			memset(iov, 0xff, sizeof(iov));
			if (!cookie)
				memset(data, 0, sizeof(data));
			until(adi, &s->received, ++n);
			if (cookie) {
				until(adi, &s->completed, cookies);
				ck_assert_int_eq(s->complete[cookie], BCL_OK);
			}
		} else {
			until(adi, &s->received, ++n);
			ck_assert_ptr_eq(s->from, peer);
			ck_assert_uint_eq(s->type, i % 16);
			ck_assert_uint_eq(s->length, head + npieces * length);
			ck_assert(pattern_is(s->packet, s->length, i));
			ck_assert_int_eq(bcl_adi_packet_send(adi, peer, 0, "",
							     1, NULL, 0, 0),
					 BCL_OK);
		}
	}
	ck_assert_uint_eq(s->completed, rank ? 0 : cookies);
}

START_TEST(all_shapes_of_packets)
{
	world_run(&world_weather[_i], 2, shapes);
}
END_TEST

/* Sends a packet with a header and 50,000 bytes in n pieces.
 * bcl_adi_packet_try() must refuse the same packet. */
static void send_long(struct bcl_adi *adi, struct bcl_peer *peer, unsigned n,
		      uint64_t cookie)
{
	static unsigned char data[50000];
	_Alignas(8) unsigned char head[40];
	struct iovec iov[25];

	pattern_fill(head, sizeof(head), n);
	for (unsigned k = 0; k < sizeof(data); k++)
		data[k] = pattern_byte(sizeof(head) + k, n);
	for (unsigned i = 0; i < n; i++)
		iov[i] = (struct iovec){ data + i * (sizeof(data) / n),
					 sizeof(data) / n };
	ck_assert_int_eq(
		bcl_adi_packet_try(adi, peer, 2, head, sizeof(head), iov, n),
		BCL_ERR_AGAIN);
	ck_assert_int_eq(bcl_adi_packet_send(adi, peer, 2, head, sizeof(head),
					     iov, n, cookie),
			 BCL_OK);
	memset(head, 0, sizeof(head));
	memset(iov, 0xff, sizeof(iov));
	if (!cookie)
		memset(data, 0, sizeof(data));
}

static void lengthy(struct bcl_adi *adi, unsigned rank)
{
	static const unsigned pieces[] = { 1, 2, 4, 25 };
	struct seen *s = open_packets(adi, rank);
	unsigned n = 0, cookies = 0;
	struct bcl_peer *peer;

	ck_assert_int_eq(bcl_adi_peer(adi, 1 - rank, &peer), BCL_OK);
	ck_assert_uint_eq(bcl_adi_packet_longest(peer), BCL_LONG_MAX);
	for (unsigned i = 0; i < 8; i++) {
		uint64_t cookie = rank == 0 && i % 2 ? ++cookies : 0;

		if (rank == 0)
			send_long(adi, peer, pieces[i / 2], cookie);
		until(adi, &s->received, ++n);
		if (rank == 1) {
			ck_assert_uint_eq(s->length, 50040);
			ck_assert(pattern_is(s->packet, s->length,
					     pieces[i / 2]));
			ck_assert_int_eq(bcl_adi_packet_send(adi, peer, 0, "",
							     1, NULL, 0, 0),
					 BCL_OK);
		}
		until(adi, &s->completed, cookies);
	}
}

START_TEST(long_packets)
{
	const struct mock_options options = { .seed = (uint64_t)_i + 1,
					      .longs = true,
					      .again = _i ? 50 : 0,
					      .ring = _i ? 2 : 0,
					      .latency = 3000 };

	world_run(&options, 2, lengthy);
}
END_TEST

static void ordered(struct bcl_adi *adi, unsigned rank)
{
	struct seen *s = open_packets(adi, rank);
	unsigned i, cookies = 0, keep[PACKETS];
	struct bcl_peer *peer;
	struct iovec iov;

	s->in_order = true;
	ck_assert_int_eq(bcl_adi_peer(adi, 1 - rank, &peer), BCL_OK);
	for (i = 0; i < PACKETS; i++) {
		keep[i] = ~0u;
		iov = (struct iovec){ &keep[i], 4 };
		ck_assert_int_eq(bcl_adi_packet_send(
					 adi, peer, 1, &i, 4, &iov, i % 3 != 0,
					 i % 3 == 2 ? ++cookies : 0),
				 BCL_OK);
	}
	until(adi, &s->received, PACKETS);
	until(adi, &s->completed, cookies);
}

START_TEST(packets_stay_in_order)
{
	world_run(&world_weather[_i], 2, ordered);
}
END_TEST

static void echoes(struct bcl_adi *adi, unsigned rank)
{
	struct seen *s = open_packets(adi, rank);
	struct bcl_peer *peer;
	unsigned i;

	s->echo = rank == 1;
	ck_assert_int_eq(bcl_adi_peer(adi, 1 - rank, &peer), BCL_OK);
	if (rank == 0) {
		s->in_order = true;
		for (i = 0; i < PACKETS; i++)
			ck_assert_int_eq(bcl_adi_packet_send(adi, peer, 2, &i,
							     4, NULL, 0, 0),
					 BCL_OK);
	}
	until(adi, &s->received, PACKETS);
}

START_TEST(callbacks_may_send)
{
	world_run(&world_weather[_i], 2, echoes);
}
END_TEST

/*
 * Rank 0 sends a packet in any case in even turns, and only if the packet can
 * leave at once in odd turns. Each packet that a call accepted must arrive, in
 * order. A packet that a call refused must not arrive.
 */
static void tries(struct bcl_adi *adi, unsigned rank)
{
	struct seen *s = open_packets(adi, rank);
	struct bcl_peer *peer;
	enum bcl_status status = BCL_OK;
	unsigned i, next = 0, kept_back = 0;

	ck_assert_int_eq(bcl_adi_peer(adi, 1 - rank, &peer), BCL_OK);
	if (rank == 1) {
		s->in_order = true;
		until(adi, &s->received, PACKETS);
		world_turns(adi, 5000);
		ck_assert_uint_eq(s->received, PACKETS);
		return;
	}
	for (i = 0; next < PACKETS; i++) {
		if (i % 4 == 1)
			status = bcl_adi_packet_word(adi, peer, 2, next, &next,
						     sizeof(next));
		else if (i % 2)
			status = bcl_adi_packet_try(adi, peer, 2, &next, 4,
						    NULL, 0);
		else
			status = bcl_adi_packet_send(adi, peer, 2, &next, 4,
						     NULL, 0, 0);
		if (status == BCL_ERR_AGAIN) {
			ck_assert_uint_eq(i % 2, 1);
			kept_back++;
			bcl_adi_packet_poll(adi);
		} else {
			ck_assert_int_eq(status, BCL_OK);
			next++;
		}
	}
	ck_assert_uint_gt(kept_back, 0);
	world_turns(adi, 5000);
}

START_TEST(what_cannot_leave_at_once)
{
	const struct mock_options narrow = { .seed = 5, .ring = 4 };

	world_run(&narrow, 2, tries);
}
END_TEST

/* bcl_adi_packet_next() must return after each packet that it has handled. */
static void to_and_fro(struct bcl_adi *adi, unsigned rank)
{
	struct seen *s = open_packets(adi, rank);
	unsigned i, before;
	struct bcl_peer *peer;

	ck_assert_int_eq(bcl_adi_peer(adi, 1 - rank, &peer), BCL_OK);
	s->echo = rank == 1;
	for (i = 0; i < EVENTS; i++) {
		if (rank == 0)
			ck_assert_int_eq(bcl_adi_packet_send(adi, peer, 3, &i,
							     4, NULL, 0, 0),
					 BCL_OK);
		while (s->received <= i) {
			before = s->received;
			ck_assert_int_eq(bcl_adi_packet_next(adi), BCL_OK);
			ck_assert_uint_le(s->received, before + 1);
		}
	}
	world_turns(adi, 5000);
	ck_assert_uint_eq(s->received, EVENTS);
}

START_TEST(waiting_for_the_next)
{
	world_run(&world_weather[0], 2, to_and_fro);
}
END_TEST

static void refused(struct bcl_adi *adi, unsigned rank)
{
	static unsigned char data[BCL_MESSAGE_MAX + 1];
	struct bcl_adi_packet_ops none = { .struct_size = 0 };
	struct iovec iov = { data, BCL_MESSAGE_MAX }, nowhere = { NULL, 1 };
	struct bcl_peer *peer, *other;

	(void)rank;
	open_packets(adi, rank);
	ck_assert_int_eq(bcl_adi_peer(adi, 0, &peer), BCL_OK);
	ck_assert_int_eq(bcl_adi_packet_open(adi, &none, NULL), BCL_ERR_ARG);
	ck_assert_int_eq(bcl_adi_packet_peer(adi, data, 0, &other),
			 BCL_ERR_ARG);
	ck_assert_int_eq(
		bcl_adi_packet_send(adi, peer, 16, data, 1, NULL, 0, 0),
		BCL_ERR_ARG);
	ck_assert_int_eq(bcl_adi_packet_send(adi, peer, 0, data, sizeof(data),
					     NULL, 0, 0),
			 BCL_ERR_ARG);
	ck_assert_int_eq(bcl_adi_packet_send(adi, peer, 0, data, 1, &iov, 1, 0),
			 BCL_ERR_ARG);
	ck_assert_int_eq(
		bcl_adi_packet_send(adi, peer, 0, data, 1, &nowhere, 1, 0),
		BCL_ERR_ARG);
	ck_assert_int_eq(bcl_adi_packet_word(adi, peer, 16, 0, data, 1),
			 BCL_ERR_ARG);
	ck_assert_int_eq(bcl_adi_packet_word(adi, peer, 0, 0, NULL, 1),
			 BCL_ERR_ARG);
	ck_assert_int_eq(
		bcl_adi_packet_word(adi, peer, 0, 0, data, BCL_MESSAGE_MAX - 7),
		BCL_ERR_ARG);
	ck_assert_int_eq(
		bcl_adi_packet_announce(adi, peer, 16, data, 40, 0, data, 1, 0),
		BCL_ERR_ARG);
	ck_assert_int_eq(
		bcl_adi_packet_announce(adi, peer, 0, data, 39, 0, data, 1, 0),
		BCL_ERR_ARG);
	ck_assert_int_eq(
		bcl_adi_packet_announce(adi, peer, 0, data, 48, 9, data, 1, 0),
		BCL_ERR_ARG);
	ck_assert_int_eq(
		bcl_adi_packet_announce(adi, peer, 0, data, 40, 41, data, 1, 0),
		BCL_ERR_ARG);
	/* the rank's peer for itself has come up */
	until(adi, &seen[0].ups, 1);
	ck_assert_int_eq(bcl_adi_packet_wait(adi, 1000), BCL_ERR_TIMEOUT);
	bcl_adi_packet_wake(adi);
	ck_assert_int_eq(bcl_adi_packet_wait(adi, 1000), BCL_OK);
	ck_assert_int_eq(bcl_adi_packet_wait(adi, 1000), BCL_ERR_TIMEOUT);
}

static unsigned yields;
static void (*yield)(void *arg);

static void count_yield(void *arg)
{
	ck_assert_uint_lt(++yields, 1000);
	yield(arg);
}

/* No event tells rank 0 when the blocked peer has room again. So a wait must
 * not sleep: the wait must return, and rank 0 must try again. */
static void in_turn(struct bcl_adi *adi, unsigned rank)
{
	struct seen *s = open_packets(adi, rank);
	struct bcl_peer *peer;
	unsigned i;

	if (rank == 1)
		return;
	ck_assert_int_eq(bcl_adi_peer(adi, 1, &peer), BCL_OK);
	until(adi, &s->ups, 1);
	mock_block(world.mock, 0, 1, true);
	ck_assert_int_eq(
		bcl_adi_packet_send(adi, peer, 1, "12345678", 8, NULL, 0, 1),
		BCL_OK);
	while (bcl_adi_packet_poll(adi))
		;
	yields = 0;
	yield = world.env.yield;
	world.env.yield = count_yield;
	world.env.sleeps_at_once = false;
	for (i = 0; i < 100; i++) {
		ck_assert_int_eq(bcl_adi_packet_wait(adi, UINT64_MAX), BCL_OK);
		bcl_adi_packet_poll(adi);
	}
	world.env.yield = yield;
	world.env.sleeps_at_once = true;
	ck_assert_uint_eq(s->completed, 0);
	mock_block(world.mock, 0, 1, false);
	until(adi, &s->completed, 1);
}

START_TEST(what_is_queued_gets_its_turns)
{
	world_run(&world_weather[0], 2, in_turn);
}
END_TEST

/* Polls in vain, like a program that waits for another process. Returns the
 * number of yields. */
static unsigned yields_of(struct bcl_adi *adi, unsigned polls)
{
	yields = 0;
	while (polls--)
		ck_assert_uint_eq(bcl_adi_packet_poll(adi), 0);
	return yields;
}

static void in_vain(struct bcl_adi *adi, unsigned rank)
{
	struct bcl_context *context = bcl_adi_context(adi);
	struct bcl_adi_idle idle = { 0 };

	open_packets(adi, rank);
	yield = world.env.yield;
	world.env.yield = count_yield;
	ck_assert_uint_eq(yields_of(adi, 1000), 0);
	context->crowded = true;
	ck_assert_uint_eq(yields_of(adi, 4), 0);
	ck_assert_uint_gt(yields_of(adi, 1000), 30);
	world.env.sleeps_at_once = false;
	ck_assert(bcl_adi_linger(adi, &idle));
	world.env.sleeps_at_once = true;
	ck_assert_uint_eq(mock_count(world.mock, rank, BCL_COUNT_core_yields),
			  yields);
	context->crowded = false;
	world.env.yield = yield;
}

START_TEST(polls_in_vain_give_the_processor_away)
{
	world_run(&world_weather[0], 1, in_vain);
}
END_TEST

static uint64_t clock_ns;

static uint64_t count_now(void *arg)
{
	(void)arg;
	return clock_ns += 1000;
}

/* ns of polling before the first yield */
static uint64_t polls_for(struct bcl_adi *adi, uint64_t spin)
{
	struct bcl_adi_idle idle = { 0 };

	bcl_adi_context(adi)->config.spin = spin;
	clock_ns = 1000;
	yields = 0;
	while (!yields)
		ck_assert(bcl_adi_linger(adi, &idle));
	return clock_ns;
}

static void as_long_as_said(struct bcl_adi *adi, unsigned rank)
{
	struct bcl_env before = world.env;

	(void)rank;
	yield = before.yield;
	world.env.yield = count_yield;
	world.env.now = count_now;
	world.env.sleeps_at_once = false;
	ck_assert_uint_lt(polls_for(adi, 0), 10000);
	ck_assert_uint_gt(polls_for(adi, 1000000), 1000000);
	ck_assert_uint_lt(polls_for(adi, 1000000), 1010000);
	world.env = before;
}

START_TEST(waits_poll_for_as_long_as_said)
{
	world_run(&world_weather[0], 1, as_long_as_said);
}
END_TEST

START_TEST(wrong_arguments_are_refused)
{
	world_run(&world_weather[0], 1, refused);
}
END_TEST

/* ---- rendezvous ---- */

static void announced(struct bcl_adi *adi, unsigned rank)
{
	static unsigned char source[LONG], target[LONG];
	static const size_t lengths[] = { 0, 1, 4096, LONG };
	struct seen *s = open_packets(adi, rank);
	unsigned char packet[100];
	struct bcl_peer *peer;
	unsigned i, at;

	ck_assert_int_eq(bcl_adi_peer(adi, 1 - rank, &peer), BCL_OK);
	for (i = 0; i < 40; i++) {
		size_t length = lengths[i % 4],
		       part = i % 8 / 4 ? length / 2 : length;

		at = i % 3 * 30;
		if (rank == 0) {
			pattern_fill(source, length, i);
			memset(packet, (int)i, sizeof(packet));
			ck_assert_int_eq(
				bcl_adi_packet_announce(adi, peer, 4, packet,
							sizeof(packet), at,
							source, length, i),
				BCL_OK);
			/* must arrive after the announcement */
			ck_assert_int_eq(bcl_adi_packet_send(adi, peer, 5, &i,
							     4, NULL, 0, 0),
					 BCL_OK);
			memset(packet, 0, sizeof(packet));
			until(adi, &s->completed, i + 1);
			ck_assert_int_eq(s->complete[i], BCL_OK);
			continue;
		}
		until(adi, &s->received, 2 * i + 2);
		ck_assert_uint_eq(s->type, 5);
		ck_assert_uint_eq(s->announcement[at ? 0 : 99], i);
		ck_assert_int_eq(bcl_adi_packet_pull(adi, peer,
						     s->announcement + at,
						     target, part, i),
				 BCL_OK);
		until(adi, &s->completed, i + 1);
		ck_assert_int_eq(s->complete[i], BCL_OK);
		ck_assert(pattern_is(target, part, i));
	}
}

enum {
	TAKEN_BACK = 100, /* more than BCL_ADI_TOKENS */
};

/* A withdrawn announcement must be complete at once, and must not delay later
 * announcements. */
static void withdrawn(struct bcl_adi *adi, unsigned rank)
{
	static unsigned char source[LONG], target[LONG];
	struct seen *s = open_packets(adi, rank);
	unsigned char packet[100] = { 0 };
	struct bcl_peer *peer;
	unsigned i = 0;

	ck_assert_int_eq(bcl_adi_peer(adi, 1 - rank, &peer), BCL_OK);
	if (rank) {
		until(adi, &s->received, TAKEN_BACK + 1);
		ck_assert_int_eq(
			bcl_adi_packet_send(adi, peer, 5, &i, 4, NULL, 0, 0),
			BCL_OK);
		ck_assert_int_eq(bcl_adi_packet_pull(adi, peer, s->announcement,
						     target, LONG, 0),
				 BCL_OK);
		until(adi, &s->completed, 1);
		ck_assert_int_eq(s->complete[0], BCL_OK);
		ck_assert(pattern_is(target, LONG, 7));
		return;
	}
	pattern_fill(source, LONG, 7);
	for (i = 0; i <= TAKEN_BACK; i++)
		ck_assert_int_eq(bcl_adi_packet_announce(adi, peer, 4, packet,
							 sizeof(packet), 0,
							 source, LONG, i),
				 BCL_OK);
	until(adi, &s->received, 1);
	for (i = 0; i < TAKEN_BACK; i++) {
		ck_assert_int_eq(bcl_adi_packet_withdraw(adi, i), BCL_OK);
		ck_assert_uint_eq(s->completed, i + 1);
		ck_assert_int_eq(s->complete[i], BCL_ERR_CANCELLED);
		ck_assert_int_eq(bcl_adi_packet_withdraw(adi, i),
				 BCL_ERR_EMPTY);
	}
	until(adi, &s->completed, TAKEN_BACK + 1);
	ck_assert_int_eq(s->complete[TAKEN_BACK], BCL_OK);
}

START_TEST(announced_memory_is_withdrawn)
{
	world_run(&world_weather[_i], 2, withdrawn);
}
END_TEST

START_TEST(announced_memory_is_pulled)
{
	world_run(&world_weather[_i], 2, announced);
}
END_TEST

/* ---- peers ---- */

/* Ports 0 and 1 are two jobs of a rank each. Port 0 connects to port 1. */
static void stranger(void *arg)
{
	unsigned i = (unsigned)(uintptr_t)arg;
	struct bcl_adi_options options = {
		.struct_size = sizeof(options),
		.context = mock_context(world.mock, i),
		.boot = mock_boot(world.mock, i, 1),
	};
	static unsigned char address[2][BCL_ADDRESS_MAX];
	static size_t length[2];
	struct bcl_peer *peer;
	struct seen *s;

	((struct bcl_boot *)options.boot)->rank = 0;
	ck_assert_int_eq(bcl_adi_open(&options, &world.adi[i]), BCL_OK);
	ck_assert_int_eq(bcl_port_address(bcl_adi_port(world.adi[i]),
					  address[i], &length[i]),
			 BCL_OK);
	s = open_packets(world.adi[i], i);
	s->echo = i == 1;
	if (i == 0) {
		ck_assert_int_eq(bcl_adi_packet_peer(world.adi[0], address[1],
						     length[1], &peer),
				 BCL_OK);
		bcl_peer_set_user(peer, s);
		ck_assert_int_eq(bcl_adi_packet_send(world.adi[0], peer, 1,
						     "connect", 8, NULL, 0, 0),
				 BCL_OK);
		until(world.adi[0], &s->received, 1);
		ck_assert_ptr_eq(s->from, peer);
		ck_assert_ptr_eq(bcl_peer_user(s->from), s);
		ck_assert_str_eq((char *)s->packet, "connect");
		/* port 1 closes; port 1 never opened a peer, but port 0 must
		 * lose its peer for port 1 */
		until(world.adi[0], &s->losses, 1);
		ck_assert_ptr_eq(s->lost, peer);
		ck_assert_int_eq(bcl_adi_packet_send(world.adi[0], peer, 1, "",
						     1, NULL, 0, 0),
				 BCL_ERR_DEAD);
	} else {
		until(world.adi[1], &s->received, 1);
		ck_assert_ptr_null(bcl_peer_user(s->from));
		world_turns(world.adi[1], 1000);
	}
	bcl_adi_close(world.adi[i]);
}

START_TEST(jobs_connect)
{
	world_spawn(&world_weather[_i], 2, stranger);
}
END_TEST

static void die(struct bcl_adi *adi, unsigned rank)
{
	static unsigned char data[LONG];
	struct seen *s = open_packets(adi, rank);
	unsigned char packet[BCL_PACKET_TICKET] = { 0 };
	struct iovec iov = { data, 100 };
	struct bcl_peer *peer;
	unsigned i, n = 0;

	if (rank == 1) {
		world_meet();
		mock_kill(world.mock, 1);
		return;
	}
	ck_assert_int_eq(bcl_adi_peer(adi, 1, &peer), BCL_OK);
	for (i = 0; i < 20; i++) {
		ck_assert_int_eq(bcl_adi_packet_announce(adi, peer, 0, packet,
							 sizeof(packet), 0,
							 data, LONG, ++n),
				 BCL_OK);
		if (i == 10) {
			world_turns(adi, 5000);
			mock_block(world.mock, 0, 1, true);
		}
		ck_assert_int_eq(bcl_adi_packet_send(adi, peer, 0, packet, 8,
						     &iov, 1, ++n),
				 BCL_OK);
		ck_assert_int_eq(bcl_adi_packet_send(adi, peer, 0, packet, 8,
						     NULL, 0, 0),
				 BCL_OK);
	}
	world_meet();
	until(adi, &s->losses, 1);
	ck_assert_ptr_eq(s->lost, peer);
	/* all packets that waited were completed before the loss */
	ck_assert_uint_eq(s->completed, n);
	for (i = 1; i <= n; i++) {
		if (i % 2 || i > 22)
			ck_assert_int_eq(s->complete[i], BCL_ERR_DEAD);
	}
	ck_assert_int_eq(bcl_adi_packet_pull(adi, peer, packet, data, 1, 9),
			 BCL_ERR_DEAD);
}

START_TEST(what_waits_for_a_lost_peer_is_completed)
{
	world_run(&world_weather[_i], 2, die);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("adi_packet");
	TCase *tcase = tcase_create("packet");

#define WEATHERS(test) tcase_add_loop_test(tcase, test, 0, WORLD_WEATHERS)
	WEATHERS(all_shapes_of_packets);
	tcase_add_loop_test(tcase, long_packets, 0, 2);
	WEATHERS(packets_stay_in_order);
	WEATHERS(callbacks_may_send);
	tcase_add_test(tcase, what_cannot_leave_at_once);
	tcase_add_test(tcase, what_is_queued_gets_its_turns);
	tcase_add_test(tcase, waiting_for_the_next);
	tcase_add_test(tcase, polls_in_vain_give_the_processor_away);
	tcase_add_test(tcase, waits_poll_for_as_long_as_said);
	tcase_add_test(tcase, wrong_arguments_are_refused);
	WEATHERS(announced_memory_is_pulled);
	WEATHERS(announced_memory_is_withdrawn);
	WEATHERS(jobs_connect);
	WEATHERS(what_waits_for_a_lost_peer_is_completed);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
