/* SPDX-License-Identifier: MIT */
/* The pair line and the rings without sockets: one process has both sides. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "env/env.h"
#include "tests/unit/need.h"
#include "tests/unit/unit.h"
#include "transport/shm/message.h"
#include "transport/shm/segment.h"

enum {
	SLOTS = BCL_SEGMENT_SLOTS_MIN,
	SLOTS_LONG = 4 * BCL_NEAR_SLOTS,
	ROW = 7,			   /* messages at once, at most */
	STRESS = UNIT_SLOW ? 6000 : 60000, /* messages each way */
};

/* Positions from which the 33 bits wrap soon, and the usual position. */
static const uint64_t starts[] = {
	BCL_HEADER_FIRST,
	0 - 20 * BCL_HEADER_RING + BCL_HEADER_VALID,
	0 - 21 * BCL_HEADER_HALF + BCL_HEADER_VALID,
	0 - BCL_HEADER_TURN + BCL_HEADER_VALID,
};

static const _Atomic uint32_t awake;
static struct bcl_segment segment;
static struct bcl_pair pair[2];

static void set_up_rings(uint32_t slots)
{
	unsigned side;

	need_equal(bcl_segment_create(&bcl_env_linux, slots, &segment), BCL_OK);
	for (side = 0; side < 2; side++) {
		bcl_segment_pair(&segment, side, &pair[side]);
		pair[side].attention = &awake;
	}
}

static void set_up(void)
{
	set_up_rings(SLOTS);
}

static void set_up_long(void)
{
	set_up_rings(SLOTS_LONG);
}

static void tear_down(void)
{
	bcl_segment_unmap(&bcl_env_linux, &segment);
}

static void start_at(uint64_t start)
{
	unsigned side;

	for (side = 0; side < 2; side++)
		pair[side].next = pair[side].want = start;
	/* as if half messages had been sent and acknowledged */
	if (!(start & BCL_HEADER_TURN))
		return;
	for (side = 0; side < 2; side++) {
		pair[side].acked = BCL_HEADER_TURN;
		pair[side].next |= BCL_HEADER_ACK;
	}
}

/* The test has its own generator, so that a seed gives the same numbers
 * everywhere. */
static uint64_t draw(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/*
 * The bytes of a message follow from the number alone. Every second message
 * consists of words that look like headers of later messages.
 */
static void fill(uint8_t *to, uint64_t number, size_t length, uint64_t like)
{
	uint64_t word;
	size_t i;

	for (i = 0; i < length; i += 8) {
		word = number % 2 ? like + i / 64 * BCL_HEADER_RING
				  : number * 0x9e3779b97f4a7c15 + i;
		memcpy(to + i, &word, length - i < 8 ? length - i : 8);
	}
}

/* The same for some in a row. */
static unsigned type_of(uint64_t number)
{
	return number / 8 % 64;
}

static enum bcl_status send_one(struct bcl_pair *from, uint64_t number,
				size_t length, uint64_t like)
{
	static _Thread_local uint8_t bytes[BCL_MESSAGE_MAX];
	struct iovec iov[3] = { { bytes, length / 3 },
				{ bytes + length / 3, length / 5 } };
	enum bcl_status status;
	void *room;

	iov[2].iov_base = bytes + length / 3 + length / 5;
	iov[2].iov_len = length - length / 3 - length / 5;
	fill(bytes, number, length, like);
	if (number % 3 == 0 && length <= BCL_SLOT_PAYLOAD)
		return bcl_pair_send(from, type_of(number), number, bytes,
				     length);
	if (number % 3 != 2)
		return bcl_pair_send_iov(from, type_of(number), number, iov, 3,
					 length);
	status = bcl_pair_reserve(from, length, &room);
	if (status)
		return status;
	memcpy(room, bytes, length);
	bcl_pair_commit(from, type_of(number), number, length);
	return BCL_OK;
}

/* Reserve room and write, but do not send: the words behind the next message
 * then look like the header of a later message. */
static void abandon(struct bcl_pair *from)
{
	uint64_t like;
	void *room;
	size_t i;

	if (bcl_pair_reserve(from, BCL_MESSAGE_MAX, &room))
		return;
	like = from->next + BCL_HEADER_RING;
	for (i = 0; i + sizeof(like) <= BCL_MESSAGE_MAX; i += sizeof(like))
		memcpy((uint8_t *)room + i, &like, sizeof(like));
}

static void check_event(const struct bcl_event *event, uint64_t number,
			size_t length, uint64_t like)
{
	static _Thread_local uint8_t bytes[BCL_MESSAGE_MAX];

	fill(bytes, number, length, like);
	need_equal(event->kind, BCL_EVENT_MESSAGE);
	need_equal(event->immediate, number);
	need_equal(event->type, type_of(number));
	need_equal(event->length, length);
	need_equal((uintptr_t)event->data % 8, 0);
	need(!length || !memcmp(event->data, bytes, length));
}

/* Receive up to n messages of the ring in a row, all of the type of the next
 * message, which has number `number`. Sets events as bcl_pair_receive()
 * does. */
static unsigned receive_row(struct bcl_pair *to, uint64_t number, unsigned n,
			    struct bcl_event *events)
{
	unsigned i;

	for (i = 0; i < n; i++) {
		const struct bcl_slot *slot = bcl_pair_slot(to);
		uint64_t header = bcl_pair_look(to, slot, type_of(number));

		if (!header)
			break;
		/* a look takes nothing */
		need_equal(bcl_pair_look(to, slot, type_of(number)), header);
		need(!bcl_pair_look(to, slot, (type_of(number) + 1) % 64));
		events[i] = (struct bcl_event){
			.kind = BCL_EVENT_MESSAGE,
			.type = type_of(number),
			.immediate = slot->immediate,
			.data = slot->payload,
		};
		events[i].length = bcl_pair_take(to, slot, header);
	}
	return i;
}

/* ---- one thread ---- */

START_TEST(each_length)
{
	struct bcl_event event;
	uint64_t number = 0;
	size_t length;
	unsigned way;

	start_at(starts[_i]);
	for (length = 0; length <= BCL_MESSAGE_MAX; length++) {
		for (way = 0; way < 6; way++, number++) {
			struct bcl_pair *from = &pair[number % 2];
			struct bcl_pair *to = &pair[!(number % 2)];

			need_equal(bcl_pair_receive(to, false, &event),
				   BCL_ERR_EMPTY);
			need(!bcl_pair_ready(to));
			need_equal(send_one(from, number, length, from->next),
				   BCL_OK);
			need(bcl_pair_ready(to));
			need_equal(bcl_pair_receive(to, false, &event), BCL_OK);
			check_event(&event, number, length,
				    to->want - BCL_HEADER_RING);
			number++;
		}
	}
}
END_TEST

/* The sides send in turn by the halves, long messages by the boxes; those
 * between short and long by the ring. */
START_TEST(each_half)
{
	struct bcl_event event;
	uint64_t number = 0;
	size_t length;

	for (length = 0; length <= BCL_MESSAGE_MAX; length++) {
		for (unsigned way = 0; way < 6; way++) {
			struct bcl_pair *from = &pair[way % 2];
			bool fits = length <= BCL_SLOT_PAYLOAD ||
				    length >= BCL_BOX_FROM;
			uint64_t halves = from->sent_half;

			/* skip each third number: send_one() reserves in the
			 * ring for the number */
			number += number % 3 == 1 ? 2 : 1;
			need_equal(send_one(from, number, length, number),
				   BCL_OK);
			need_equal(from->sent_half, halves + fits);
			need_equal(bcl_pair_receive(&pair[!(way % 2)], false,
						    &event),
				   BCL_OK);
			check_event(&event, number, length, number);
		}
	}
}
END_TEST

/* Random sends and receives of both sides against a queue. */
START_TEST(model)
{
	enum {
		OPERATIONS = 200000,
		QUEUE = 2 * SLOTS_LONG
	};
	static struct {
		uint64_t number, like;
		size_t length;
	} queue[2][QUEUE], kept[2];			 /* kept: of `last` */
	struct bcl_event last[2] = { { .data = NULL } }; /* by receiver */
	uint64_t head[2] = { 0 }, tail[2] = { 0 }, seed = 20240 + _i;
	const char *given = getenv("BCL_TEST_SEED");
	unsigned full = 0, turned = 0, rows = 0;
	int i;

	if (given)
		seed = strtoull(given, NULL, 0);
	printf("model: BCL_TEST_SEED=%llu\n", (unsigned long long)seed);
	start_at(starts[_i]);
	for (i = 0; i < OPERATIONS; i++) {
		uint64_t r = draw(&seed);
		unsigned side = r & 1, other = !side;
		/* phases in which a side sends more than the peer reads */
		bool sends = (r >> 1 & 7) > (i / 5000 % 2 ? 5u : 2u);
		size_t length = r >> 8 & 3 ? r >> 16 & 31
					   : (r >> 16) % (BCL_MESSAGE_MAX + 1);
		struct bcl_event event, row[ROW];
		enum bcl_status status;
		unsigned n, k;

		if (sends && !(r >> 40 & 7))
			abandon(&pair[side]);
		if (sends) {
			uint64_t number = tail[side], like = pair[side].next;
			uint32_t before = pair[side].tail;

			status = send_one(&pair[side], number, length, like);
			if (status) {
				need_equal(status, BCL_ERR_AGAIN);
				full++;
				continue;
			}
			turned += pair[side].tail - before > BCL_NEAR_SLOTS;
			need(number - head[side] < QUEUE);
			queue[side][number % QUEUE].number = number;
			queue[side][number % QUEUE].like = like;
			queue[side][number % QUEUE].length = length;
			tail[side]++;
		} else {
			/* the last one is in place until now */
			if (last[side].data)
				check_event(&last[side], kept[side].number,
					    kept[side].length, kept[side].like);
			last[side].data = NULL;
			do {
				status = bcl_pair_receive(&pair[side], false,
							  &event);
			} while (status == BCL_ERR_AGAIN);
			if (head[other] == tail[other]) {
				need_equal(status, BCL_ERR_EMPTY);
				continue;
			}
			need_equal(status, BCL_OK);
			check_event(&event, head[other],
				    queue[other][head[other] % QUEUE].length,
				    queue[other][head[other] % QUEUE].like);
			head[other]++;
			n = i / 5000 % 2 ? r >> 44 & 7 : 0;
			n = receive_row(&pair[side], head[other], n, row);
			need(n <= tail[other] - head[other]);
			for (k = 0; k < n; k++) {
				check_event(
					&row[k], head[other],
					queue[other][head[other] % QUEUE]
						.length,
					queue[other][head[other] % QUEUE].like);
				head[other]++;
			}
			last[side] = n ? row[n - 1] : event;
			kept[side] = queue[other][(head[other] - 1) % QUEUE];
			rows += n > 1;
		}
	}
	need(rows > 100);
	need(full > 100);
	if (pair[0].mask + 1 == SLOTS_LONG)
		need(turned > 10);
	need(pair[0].sent_half > 100);
	need(pair[0].sent_ring > 100);
	need(!pair[0].broken && !pair[1].broken);
}
END_TEST

/* The half is used again only after the peer's acknowledgement. */
START_TEST(half_waits_for_ack)
{
	struct bcl_event event;

	need_equal(bcl_pair_send(&pair[0], 1, 1, "a", 1), BCL_OK);
	need_equal(bcl_pair_send(&pair[0], 1, 2, "b", 1), BCL_OK);
	need_equal(pair[0].sent_half, 1);
	need_equal(pair[0].sent_ring, 1);
	need_equal(bcl_pair_receive(&pair[1], false, &event), BCL_OK);
	need_equal(event.immediate, 1);
	need_equal(bcl_pair_receive(&pair[1], false, &event), BCL_OK);
	need_equal(event.immediate, 2);
	/* side 1 has read, but has not sent since */
	need_equal(bcl_pair_send(&pair[0], 1, 3, "c", 1), BCL_OK);
	need_equal(pair[0].sent_half, 1);
	/* any message of side 1 carries the acknowledgement */
	need_equal(bcl_pair_send(&pair[1], 1, 4, NULL, 0), BCL_OK);
	need_equal(bcl_pair_receive(&pair[0], false, &event), BCL_OK);
	need_equal(bcl_pair_send(&pair[0], 1, 5, "d", 1), BCL_OK);
	need_equal(pair[0].sent_half, 2);
	need_equal(bcl_pair_receive(&pair[1], false, &event), BCL_OK);
	need_equal(event.immediate, 3);
	need_equal(bcl_pair_receive(&pair[1], false, &event), BCL_OK);
	need_equal(event.immediate, 5);
}
END_TEST

/* Either way of sending must fill the half, and all slots of the ring but
 * one. */
START_TEST(full_ring)
{
	uint8_t bytes[BCL_SLOT_PAYLOAD] = { 0 };
	struct iovec iov = { bytes, sizeof(bytes) };
	struct bcl_event event;
	uint64_t n = 0, i;
	enum bcl_status status;

	for (;; n++) {
		status = _i ? bcl_pair_send_iov(&pair[0], 1, n, &iov, 1,
						sizeof(bytes))
			    : bcl_pair_send(&pair[0], 1, n, bytes,
					    sizeof(bytes));
		if (status)
			break;
	}
	need_equal(status, BCL_ERR_AGAIN);
	need_equal(pair[0].sent_half, 1);
	need_equal(pair[0].sent_ring, SLOTS - 1);
	for (i = 0; i < n; i++) {
		need_equal(bcl_pair_receive(&pair[1], false, &event), BCL_OK);
		need_equal(event.immediate, i);
	}
	need_equal(bcl_pair_receive(&pair[1], false, &event), BCL_ERR_EMPTY);
}
END_TEST

/* Long messages that are answered at once go by the boxes. A message stays in
 * place until the next receive, also while its sender sends the next one. */
START_TEST(long_messages_by_boxes)
{
	uint8_t bytes[BCL_MESSAGE_MAX];
	struct bcl_event event = { 0 }, answer = { 0 };
	unsigned number = 0;
	size_t length;

	for (length = BCL_BOX_FROM; length <= BCL_MESSAGE_MAX;
	     length += 13, number++) {
		struct iovec iov[3] = { { bytes, 40 },
					{ NULL, 0 },
					{ bytes + 40, length - 40 } };

		pattern_fill(bytes, length, number);
		need_equal(
			bcl_pair_send_iov(&pair[0], 1, number, iov, 3, length),
			BCL_OK);
		need(!number ||
		     pattern_is(event.data, event.length, number - 1));
		need_equal(bcl_pair_receive(&pair[1], false, &event), BCL_OK);
		need_equal(event.immediate, number);
		need_equal(event.length, length);
		need(pattern_is(event.data, length, number));
		need_equal(bcl_pair_send_word(&pair[1], 2, number, bytes,
					      length - sizeof(uint64_t)),
			   BCL_OK);
		need_equal(bcl_pair_receive(&pair[0], false, &answer), BCL_OK);
		need_equal(answer.length, length);
	}
	for (unsigned side = 0; side < 2; side++) {
		need_equal(pair[side].sent_ring, 0);
		need_equal(pair[side].sent_half, number);
	}
}
END_TEST

/* The receiver looks at the first slot of a message, so the sender must write
 * the first slot last. Here the last piece of the message lies in the first
 * slot, and must arrive unchanged. */
START_TEST(first_slot_is_last)
{
	uint8_t bytes[BCL_SLOT_PAYLOAD], was[BCL_SLOT_PAYLOAD];
	struct iovec iov[3] = { { bytes, 7 }, { bytes + 7, 41 } };
	struct bcl_event event = { 0 };

	memset(bytes, 1, sizeof(bytes));
	need_equal(bcl_pair_send(&pair[0], 1, 0, NULL, 0), BCL_OK);
	iov[2].iov_base = pair[0].out[0].payload;
	iov[2].iov_len = sizeof(was);
	memset(iov[2].iov_base, 2, sizeof(was));
	memset(was, 2, sizeof(was));
	need_equal(
		bcl_pair_send_iov(&pair[0], 1, 0, iov, 3, 2 * BCL_SLOT_PAYLOAD),
		BCL_OK);
	need_equal(pair[0].sent_ring, 1);
	need_equal(bcl_pair_receive(&pair[1], false, &event), BCL_OK);
	need_equal(bcl_pair_receive(&pair[1], false, &event), BCL_OK);
	need_equal(event.length, 2 * BCL_SLOT_PAYLOAD);
	ck_assert_mem_eq(event.data, bytes, sizeof(bytes));
	ck_assert_mem_eq((const uint8_t *)event.data + sizeof(bytes), was,
			 sizeof(was));
}
END_TEST

/* A word and bytes that together are longer than a slot. The sender must write
 * the first slot last here, too: the bytes of the first message end where the
 * word of the message will be. */
START_TEST(word_and_more)
{
	enum {
		SHORTEST = BCL_SLOT_PAYLOAD - sizeof(uint64_t) + 1,
		LONGEST = BCL_MESSAGE_MAX - sizeof(uint64_t),
	};
	static uint8_t bytes[LONGEST];
	static uint8_t was[8];
	/* by the half, slot 0, slot 1 */
	uint8_t *end = pair[0].out[1].payload;
	struct bcl_event event;
	uint64_t word;
	size_t length;

	need_equal(bcl_pair_send(&pair[0], 1, 0, NULL, 0), BCL_OK);
	need_equal(bcl_pair_send(&pair[0], 1, 0, NULL, 0), BCL_OK);
	memset(end, 2, sizeof(was));
	memset(was, 2, sizeof(was));
	need_equal(bcl_pair_send_word(&pair[0], 1, 1, end - (SHORTEST - 1),
				      SHORTEST - 1 + sizeof(was)),
		   BCL_OK);
	for (length = 0; length < 3; length++)
		need_equal(bcl_pair_receive(&pair[1], false, &event), BCL_OK);
	ck_assert_mem_eq((const uint8_t *)event.data + BCL_SLOT_PAYLOAD, was,
			 sizeof(was));
	for (length = SHORTEST; length <= LONGEST; length++) {
		fill(bytes, 2 * length, length, 0);
		need_equal(
			bcl_pair_send_word(&pair[0], 3, ~length, bytes, length),
			BCL_OK);
		need_equal(bcl_pair_receive(&pair[1], false, &event), BCL_OK);
		memcpy(&word, event.data, sizeof(word));
		need_equal(event.type, 3);
		need_equal(event.immediate, 0);
		need_equal(event.length, sizeof(word) + length);
		need_equal(word, ~length);
		ck_assert_mem_eq((const uint8_t *)event.data + sizeof(word),
				 bytes, length);
	}
}
END_TEST

/* Once the receiver has read all messages, the longest message must have
 * room. */
START_TEST(room_comes_back)
{
	struct bcl_event event;
	uint64_t seed = 7;
	unsigned round;

	for (round = 0; round < 5000; round++) {
		unsigned n = draw(&seed) % 40;
		enum bcl_status status = BCL_OK;

		while (n-- && !status)
			status = send_one(&pair[0], 2,
					  draw(&seed) % BCL_MESSAGE_MAX, 0);
		while (!bcl_pair_receive(&pair[1], false, &event))
			;
		need_equal(send_one(&pair[0], 2, BCL_MESSAGE_MAX, 0), BCL_OK);
		need_equal(bcl_pair_receive(&pair[1], false, &event), BCL_OK);
	}
}
END_TEST

/* Data stays in place until the next receive, however much is sent. */
START_TEST(data_stays)
{
	struct bcl_event event, next;
	uint64_t number = 0;

	for (; number < 500; number++) {
		need_equal(send_one(&pair[0], number, 900, 0), BCL_OK);
		need_equal(bcl_pair_receive(&pair[1], false, &event), BCL_OK);
		while (!send_one(&pair[0], number, 50, 0))
			;
		check_event(&event, number, 900, 0);
		while (!bcl_pair_receive(&pair[1], false, &next))
			;
	}
}
END_TEST

static size_t slot_of(const struct bcl_event *event)
{
	size_t offset =
		(size_t)((const char *)event->data - (const char *)pair[1].in);

	/* the first message goes by the half */
	if (event->data == pair[1].line)
		return 0;
	return offset / BCL_SLOT_SIZE % SLOTS_LONG;
}

/* The farthest slot that messages of `length` bytes reach while `ahead`
 * messages are unread. */
static size_t farthest(size_t length, unsigned ahead)
{
	struct bcl_event event;
	size_t most = 0;
	uint64_t sent = 0, received;

	for (received = 0; received < 3 * SLOTS_LONG; received++) {
		while (sent <= received + ahead)
			need_equal(send_one(&pair[0], sent++, length, 0),
				   BCL_OK);
		while (bcl_pair_receive(&pair[1], false, &event) ==
		       BCL_ERR_AGAIN)
			;
		check_event(&event, received, length, 0);
		if (slot_of(&event) > most)
			most = slot_of(&event);
	}
	while (bcl_pair_receive(&pair[1], false, &event) != BCL_ERR_EMPTY)
		;
	return most;
}

/* Short messages stay near the start of the ring, long messages go round the
 * ring. */
START_TEST(turns_back)
{
	need(farthest(40, 0) < BCL_NEAR_SLOTS);
	/* a skip is no message */
	need_equal(pair[0].sent_half, 1);
	need_equal(pair[0].sent_ring, 3 * SLOTS_LONG - 1);
	need(farthest(4000, 3) > SLOTS_LONG - 4 * 64);
	/* from any slot where the ring was left */
	farthest(40, 0);
	need(farthest(40, 200) < BCL_NEAR_SLOTS);
	/* there is no room to skip */
	need(farthest(40, BCL_NEAR_SLOTS) > BCL_NEAR_SLOTS);
	need(!pair[1].broken);
}
END_TEST

/* ---- hostile bytes ---- */

static const struct {
	const char *what;
	unsigned type;
	size_t length;
	bool half, accepted;
} nonsense[] = {
	{ "an internal type", 64, 8, true, false },
	{ "the last internal type", 127, 16, false, false },
	{ "an internal type and length", 127, BCL_HEADER_LENGTH, true, false },
	{ "the longest message in the lines", 1, BCL_SLOT_PAYLOAD, true, true },
	{ "the shortest in a box", 1, BCL_SLOT_PAYLOAD + 1, true, true },
	{ "the longest in a box", 1, BCL_MESSAGE_MAX, true, true },
	{ "a half message too long", 1, BCL_MESSAGE_MAX + 1, true, false },
	{ "a half message far too long", 1, BCL_HEADER_LENGTH, true, false },
	{ "a ring message too long", 1, BCL_MESSAGE_MAX + 1, false, false },
	{ "a ring message far too long", 63, BCL_HEADER_LENGTH, false, false },
	{ "the longest", 63, BCL_MESSAGE_MAX, false, true },
	{ "a skip of too many slots", BCL_SHM_SKIP, 0, false, false },
	{ "a skip by the line", BCL_SHM_SKIP, 8, true, false },
	{ "a skip by a box", BCL_SHM_SKIP, 64, true, false },
};

START_TEST(hostile)
{
	uint64_t header = pair[1].want |
			  nonsense[_i].length << BCL_HEADER_LENGTH_SHIFT |
			  nonsense[_i].type;
	struct bcl_event event = { 0 };
	enum bcl_status status;

	memset(segment.ring[0], 0xff, SLOTS * BCL_SLOT_SIZE);
	atomic_store(nonsense[_i].half ? &segment.head->half[0].header
				       : &segment.ring[0]->header,
		     header);
	status = bcl_pair_receive(&pair[1], false, &event);
	ck_assert_msg((status == BCL_OK) == nonsense[_i].accepted, "%s: %d",
		      nonsense[_i].what, status);
	need(pair[1].broken == !nonsense[_i].accepted);
	if (!status)
		need_equal(event.length, nonsense[_i].length);
	/* the reader goes on without harm until the owner drops the pair */
	for (unsigned i = 0; i < 3 * SLOTS; i++)
		bcl_pair_receive(&pair[1], false, &event);
}
END_TEST

/* Skips: a reader must accept exactly the slots up to the end of the ring. */
static const struct {
	uint32_t at;
	uint64_t slots;
	bool accepted;
} skips[] = {
	{ 5, SLOTS - 5, true },
	{ 0, SLOTS, true },
	{ 5, 0, false },
	{ 0, 0, false },
	{ 5, 1, false },
	{ 5, SLOTS - 6, false },
	{ 5, 2 * SLOTS - 5, false },
	{ 5, (UINT64_C(1) << 32) + SLOTS - 5, false },
};

START_TEST(hostile_skip)
{
	struct bcl_slot *slot = &segment.ring[0][skips[_i].at];
	struct bcl_event event;
	enum bcl_status status;

	pair[1].head = pair[1].published = skips[_i].at;
	slot->immediate = skips[_i].slots;
	atomic_store(&slot->header, pair[1].want | BCL_SHM_SKIP);
	status = bcl_pair_receive(&pair[1], false, &event);
	need_equal(status, skips[_i].accepted ? BCL_ERR_AGAIN : BCL_ERR_EMPTY);
	need(pair[1].broken == !skips[_i].accepted);
	need_equal(pair[1].head, skips[_i].accepted ? SLOTS : skips[_i].at + 1);
}
END_TEST

START_TEST(hostile_index)
{
	unsigned n = 0;

	while (!send_one(&pair[0], 2, 500, 0))
		n++;
	need(n > 10);
	atomic_store(&segment.head->index[1].consumed, pair[0].tail + 1);
	need_equal(send_one(&pair[0], 2, 500, 0), BCL_ERR_AGAIN);
	need(pair[0].broken);
}
END_TEST

/* ---- two threads ---- */

struct side {
	struct bcl_pair *pair;
	uint64_t seed, its_seed;
};

static size_t stress_length(uint64_t *seed)
{
	uint64_t r = draw(seed);

	return r & 7 ? r >> 8 & 63 : (r >> 8) % (BCL_MESSAGE_MAX + 1);
}

static void *exchange(void *arg)
{
	struct side *side = arg;
	struct bcl_pair *own = side->pair;
	uint64_t sent = 0, received = 0;
	size_t length = stress_length(&side->seed);
	struct bcl_event event;

	while (sent < STRESS || received < STRESS) {
		bool idle = true;

		if (sent < STRESS && !send_one(own, sent, length, 0)) {
			sent++;
			length = stress_length(&side->seed);
			idle = false;
		}
		if (!bcl_pair_receive(own, received & 1, &event)) {
			check_event(&event, received,
				    stress_length(&side->its_seed), 0);
			received++;
			idle = false;
		}
		if (idle)
			sched_yield();
	}
	return NULL;
}

START_TEST(two_threads)
{
	struct side side[2] = { { &pair[0], 11, 22 }, { &pair[1], 22, 11 } };
	pthread_t thread;

	start_at(starts[_i]);
	pthread_create(&thread, NULL, exchange, &side[1]);
	exchange(&side[0]);
	pthread_join(thread, NULL);
	need(!pair[0].broken && !pair[1].broken);
	need_equal(pair[0].sent_half + pair[0].sent_ring, STRESS);
	need_equal(pair[0].received, STRESS);
}
END_TEST

int main(void)
{
	const int nstarts = sizeof(starts) / sizeof(*starts);
	const int nnonsense = sizeof(nonsense) / sizeof(*nonsense);
	Suite *suite = suite_create("pair");
	TCase *tc = tcase_create("pair"), *longer = tcase_create("long rings");

	tcase_add_checked_fixture(tc, set_up, tear_down);
	tcase_add_loop_test(tc, each_length, 0, nstarts);
	tcase_add_test(tc, each_half);
	tcase_add_loop_test(tc, model, 0, nstarts);
	tcase_add_test(tc, half_waits_for_ack);
	tcase_add_loop_test(tc, full_ring, 0, 2);
	tcase_add_test(tc, long_messages_by_boxes);
	tcase_add_test(tc, first_slot_is_last);
	tcase_add_test(tc, word_and_more);
	tcase_add_test(tc, room_comes_back);
	tcase_add_test(tc, data_stays);
	tcase_add_loop_test(tc, hostile, 0, nnonsense);
	tcase_add_loop_test(tc, hostile_skip, 0,
			    sizeof(skips) / sizeof(*skips));
	tcase_add_test(tc, hostile_index);
	tcase_add_loop_test(tc, two_threads, 0, nstarts);
	suite_add_tcase(suite, tc);
	tcase_add_checked_fixture(longer, set_up_long, tear_down);
	tcase_add_loop_test(longer, model, 0, nstarts);
	tcase_add_test(longer, turns_back);
	suite_add_tcase(suite, longer);
	return unit_run(suite);
}
