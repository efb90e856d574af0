/* SPDX-License-Identifier: MIT */
/* The pair line and the rings of two ports on one host: shm/pair.h. */
#include "tests/weak/pair.h"
#include "tests/weak/weak.h"

enum {
	LONG = BCL_MESSAGE_MAX, /* 69 slots, about a quarter of the ring */
	QUARTER = 64 * BCL_SLOT_SIZE - BCL_SLOT_HEAD,
	LAPS = 8, /* messages in two laps */
	/* bytes: in the line alone; with part, with all of the adjacent line */
	TINY = 8,
	SHORT = 24,
	LINE = BCL_SLOT_PAYLOAD,
	BOX = BCL_SLOT_PAYLOAD + 8, /* too long for the line: in a box */
};

static void send(unsigned side, uint64_t number, size_t length)
{
	uint8_t bytes[LINE];

	for (unsigned i = 0; i < length; i++)
		bytes[i] = (uint8_t)(number + i);
	weak_until(bcl_pair_send(&pair[side], 1, number, bytes, length) ==
		   BCL_OK);
}

static void check(const struct bcl_event *event, uint64_t number, size_t length)
{
	const uint8_t *bytes = event->data;

	weak_assert(event->immediate == number && event->length == length);
	for (unsigned i = 0; i < length; i++)
		weak_assert(bytes[i] == (uint8_t)(number + i));
}

static void receive(unsigned side, uint64_t number, size_t length)
{
	struct bcl_event event = { .length = 0 };

	weak_until(bcl_pair_receive(&pair[side], false, &event) == BCL_OK);
	check(&event, number, length);
}

static void take(unsigned side, uint64_t number, size_t length)
{
	const struct bcl_slot *slot = bcl_pair_slot(&pair[side]);
	uint64_t header;

	weak_until((header = bcl_pair_look(&pair[side], slot, 1)));
	weak_assert(slot->immediate == number);
	for (unsigned i = 0; i < length; i++)
		weak_assert(slot->payload[i] == (uint8_t)(number + i));
	weak_assert(bcl_pair_take(&pair[side], slot, header) == length);
}

/*
 * A long message contains words that look like headers, each at a place where
 * another message may begin in the next lap.
 */
static uint64_t *header_in(void *payload, unsigned slot)
{
	return (uint64_t *)((char *)payload + slot * BCL_SLOT_SIZE -
			    BCL_SLOT_HEAD);
}

static void send_long(unsigned side, uint64_t number, size_t length)
{
	uint64_t like = pair[side].next + 4 * BCL_HEADER_RING;
	void *room;

	weak_until(bcl_pair_reserve(&pair[side], length, &room) == BCL_OK);
	for (unsigned slot = 1; slot < bcl_pair_slots(length); slot++)
		*header_in(room, slot) = like;
	bcl_pair_commit(&pair[side], 1, number, length);
}

static void receive_long(unsigned side, uint64_t number, size_t length)
{
	uint64_t like = pair[side].want + 4 * BCL_HEADER_RING;
	struct bcl_event event = { .length = 0 };

	weak_until(bcl_pair_receive(&pair[side], false, &event) == BCL_OK);
	weak_assert(event.immediate == number && event.length == length);
	for (unsigned slot = 1; slot < bcl_pair_slots(length); slot++)
		weak_assert((*header_in((void *)event.data, slot) ^ like) <
			    BCL_HEADER_VALID);
}

/* ---- tests ---- */

static void send_two_laps(void)
{
	for (unsigned i = 0; i < LAPS; i++)
		send_long(0, i, LONG);
}

static void receive_two_laps(void)
{
	for (unsigned i = 0; i < LAPS; i++)
		receive_long(1, i, LONG);
}

static void send_quarters(void)
{
	for (unsigned i = 0; i < LAPS; i++)
		send_long(0, i, QUARTER);
}

static void receive_quarters(void)
{
	for (unsigned i = 0; i < LAPS; i++)
		receive_long(1, i, QUARTER);
}

/* By the line; by the ring while the line is full. */
static void send_some(void)
{
	send(0, 1, TINY);
	send(0, 2, LINE);
	send(0, 3, SHORT);
	send(0, 4, TINY);
}

static void receive_some(void)
{
	receive(1, 1, TINY);
	receive(1, 2, LINE);
	receive(1, 3, SHORT);
	receive(1, 4, TINY);
}

/* The first message comes by the line. The receiver takes the next messages in
 * a row, in their slots. */
static void receive_row(void)
{
	static const size_t lengths[] = { LINE, SHORT, TINY };

	receive(1, 1, TINY);
	for (uint64_t i = 0; i < 3; i++)
		take(1, i + 2, lengths[i]);
}

/* Messages use the line alone, then also part, then all of the adjacent
 * line. */
static size_t line_length(uint64_t i)
{
	static const uint8_t lengths[] = { TINY, SHORT, LINE };

	return lengths[i % 3];
}

static void ping(void)
{
	for (uint64_t i = 0; i < 3; i++) {
		send(0, 2 * i, line_length(i));
		receive(0, 2 * i + 1, line_length(i));
	}
	weak_assert(pair[0].sent_half == 3);
}

static void pong(void)
{
	for (uint64_t i = 0; i < 3; i++) {
		receive(1, 2 * i, line_length(i));
		send(1, 2 * i + 1, line_length(i));
	}
	weak_assert(pair[1].sent_half == 3);
}

static void send_box(unsigned side, uint64_t number)
{
	uint8_t bytes[BOX];
	const struct iovec iov = { bytes, BOX };

	for (unsigned i = 0; i < BOX; i++)
		bytes[i] = (uint8_t)(number + i);
	weak_until(bcl_pair_send_iov(&pair[side], 1, number, &iov, 1, BOX) ==
		   BCL_OK);
}

static void ping_boxes(void)
{
	for (uint64_t i = 0; i < 3; i++) {
		send_box(0, 2 * i);
		receive(0, 2 * i + 1, BOX);
	}
	weak_assert(pair[0].sent_half == 3);
}

/* A message stays in its box after it was answered, until the next receive. */
static void pong_boxes(void)
{
	struct bcl_event event = { .length = 0 };

	for (uint64_t i = 0; i < 3; i++) {
		weak_until(bcl_pair_receive(&pair[1], false, &event) == BCL_OK);
		send_box(1, 2 * i + 1);
		check(&event, 2 * i, BOX);
	}
	weak_assert(pair[1].sent_half == 3);
}

/* Both sides send at the same time: acknowledgements cross messages. */
static void talk(unsigned side)
{
	send(side, 1, LINE);
	send(side, 2, TINY);
	receive(side, 1, LINE);
	send(side, 3, SHORT);
	receive(side, 2, TINY);
	receive(side, 3, SHORT);
}

static void talk_first(void)
{
	talk(0);
}

static void talk_second(void)
{
	talk(1);
}

/* The way of the next message depends on whether the first answer has come. */
static void glance(unsigned side)
{
	struct bcl_event event = { .length = 0 };
	uint64_t next = 1;

	for (uint64_t i = 1; i < 3; i++) {
		send(side, i, line_length(i));
		if (!bcl_pair_receive(&pair[side], false, &event))
			weak_assert(event.immediate == next++);
	}
	send(side, 3, line_length(3));
	for (; next <= 3; next++)
		receive(side, next, line_length(next));
}

static void glance_first(void)
{
	glance(0);
}

static void glance_second(void)
{
	glance(1);
}

int main(void)
{
	static const struct weak_test tests[] = {
		{ "ring, two laps",
		  pair_set_up,
		  { send_two_laps, receive_two_laps },
		  NULL },
		{ "ring, two laps of quarters",
		  pair_set_up,
		  { send_quarters, receive_quarters },
		  NULL },
		{ "line and ring",
		  pair_set_up,
		  { send_some, receive_some },
		  NULL },
		{ "line, then a row",
		  pair_set_up,
		  { send_some, receive_row },
		  NULL },
		{ "line, to and fro", pair_set_up, { ping, pong }, NULL },
		{ "boxes, to and fro",
		  pair_set_up,
		  { ping_boxes, pong_boxes },
		  NULL },
		{ "both talk", pair_set_up, { talk_first, talk_second }, NULL },
		{ "both talk and glance",
		  pair_set_up,
		  { glance_first, glance_second },
		  NULL },
		{ .name = NULL },
	};

	return weak_main(tests);
}
