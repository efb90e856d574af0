/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include <string.h>

#include <bcl/wire.h>

#include "sim/frame_class.h"
#include "sim/inject.h"

enum {
	FRAMES = 10,
	GAP = 10000,  /* ns between frames */
	LENGTH = 200, /* bytes */
};

static struct sim_cluster cluster;
static struct sim_clock virtual;
static struct sim_fabric *fabric;
static struct sim_faults faults;
static struct sim_injector *injector;

/* The frames that came. The last byte of a frame is the frame's number. */
static struct {
	unsigned n;
	struct {
		uint8_t number;
		uint32_t from, to;
		uint64_t time;
		uint8_t bytes[LENGTH];
	} frame[64];
} came;

/* The faults of which nodes were told. */
static struct {
	unsigned n;
	struct {
		enum sim_fault_kind kind;
		uint32_t node;
		bool begins;
		uint64_t time;
	} word[16];
} told;

static void arrived(void *arg, struct sim_frame *frame)
{
	unsigned i = came.n++;

	(void)arg;
	ck_assert_uint_lt(i, 64);
	came.frame[i].number = frame->bytes[LENGTH - 1];
	came.frame[i].from = frame->from;
	came.frame[i].to = frame->to;
	came.frame[i].time = virtual.now;
	memcpy(came.frame[i].bytes, frame->bytes, LENGTH);
	sim_frame_free(frame);
}

static void node(void *arg, const struct sim_fault *fault, bool begins)
{
	unsigned i = told.n++;

	ck_assert_ptr_eq(arg, &told);
	ck_assert_uint_lt(i, 16);
	told.word[i].kind = fault->kind;
	told.word[i].node = fault->node;
	told.word[i].begins = begins;
	told.word[i].time = virtual.now;
}

static FILE *open_text(const char *text)
{
	FILE *in = fmemopen((void *)(uintptr_t)text, strlen(text), "r");

	ck_assert_ptr_nonnull(in);
	return in;
}

static void setup(void)
{
	char error[SIM_ERROR_SIZE];
	FILE *in = open_text(
		"cluster nodes=4 rails=2\n"
		"card mtu=1KB\n"
		"wire w bandwidth=8Gb/s latency=0us\n"
		"crossbar x latency=100ns queue=1MB forwarding=cut-through\n"
		"star s crossbar=x wire=w\n");

	ck_assert_msg(sim_cluster_read(&cluster, "cluster", in, error), "%s",
		      error);
	fclose(in);
	sim_clock_open(&virtual, 5000);
	fabric = sim_cluster_fabric(&cluster, &virtual, arrived, NULL);
	memset(&came, 0, sizeof(came));
	memset(&told, 0, sizeof(told));
}

static void inject(const char *script)
{
	char error[SIM_ERROR_SIZE];
	FILE *in = open_text(script);

	ck_assert_msg(sim_faults_read(&faults, &cluster, "script", in, error),
		      "%s", error);
	fclose(in);
	injector = sim_inject(&faults, &cluster, fabric, &virtual, node, &told);
}

static void teardown(void)
{
	sim_injector_close(injector);
	sim_fabric_close(fabric);
	sim_clock_close(&virtual);
	sim_faults_free(&faults);
	sim_cluster_free(&cluster);
}

static void run_until(uint64_t time)
{
	while (sim_clock_next(&virtual) <= time)
		sim_clock_step(&virtual);
	virtual.now = time;
}

static void run(void)
{
	while (sim_clock_next(&virtual) != UINT64_MAX)
		sim_clock_step(&virtual);
}

/* A frame of a card, with a segment. */
static void send_kind(uint8_t kind, uint8_t op, uint32_t from, uint32_t to,
		      uint8_t number)
{
	struct sim_frame *frame = sim_frame_new(fabric, from, to, LENGTH);
	struct bcl_frame_header *header = (void *)frame->bytes;
	struct bcl_segment_header *segment = (void *)(header + 1);

	memset(frame->bytes, 0, LENGTH);
	header->magic = bcl_put16(BCL_WIRE_MAGIC);
	header->kind = kind;
	segment->op = op;
	frame->bytes[LENGTH - 1] = number;
	sim_fabric_send(frame);
}

static void send(uint32_t from, uint32_t to, uint8_t number)
{
	send_kind(BCL_FRAME_DATA, BCL_SEG_SYSTEM, from, to, number);
}

/* Send FRAMES frames from 0 to 1, GAP apart, and as many from 1 to 0. */
static void exchange(void)
{
	uint64_t start = virtual.now;
	uint8_t i;

	for (i = 0; i < FRAMES; i++) {
		run_until(start + i * GAP);
		send(0, 1, i);
		send(1, 0, i);
	}
	run();
}

/* The numbers of the frames that came from `from`: "0123". */
static const char *order(uint32_t from)
{
	static char numbers[65];
	unsigned i, n = 0;

	for (i = 0; i < came.n; i++)
		if (came.frame[i].from == from)
			numbers[n++] = (char)('0' + came.frame[i].number);
	numbers[n] = 0;
	return numbers;
}

static uint64_t count(enum sim_fault_kind kind)
{
	return sim_injector_count(injector, kind);
}

static const struct {
	const char *script, *from_0, *from_1;
	enum sim_fault_kind kind;
	unsigned count;
} harms[] = {
	{ "", "0123456789", "0123456789", SIM_FAULT_DROP, 0 },
	{ "drop from=0", "123456789", "0123456789", SIM_FAULT_DROP, 1 },
	{ "drop to=0 nth=4 count=3", "0123456789", "0126789", SIM_FAULT_DROP,
	  3 },
	/* Nodes 0 and 1 send in turn. */
	{ "drop nth=10 count=2", "012346789", "012356789", SIM_FAULT_DROP, 2 },
	{ "drop from=0 to=2", "0123456789", "0123456789", SIM_FAULT_DROP, 0 },
	{ "drop frame=ack", "0123456789", "0123456789", SIM_FAULT_DROP, 0 },
	{ "drop from=0 nth=11", "0123456789", "0123456789", SIM_FAULT_DROP, 0 },
	{ "drop from=0 nth=3\ndrop from=0 nth=5", "01356789", "0123456789",
	  SIM_FAULT_DROP, 2 },
	{ "duplicate from=1 nth=6", "0123456789", "01234556789",
	  SIM_FAULT_DUPLICATE, 1 },
	{ "reorder from=0 nth=3 behind=4", "0134562789", "0123456789",
	  SIM_FAULT_REORDER, 1 },
	{ "reorder from=0 nth=2 behind=2\nreorder from=0 nth=5 behind=1",
	  "0231546789", "0123456789", SIM_FAULT_REORDER, 2 },
	/* No frame comes behind the reordered frames. */
	{ "reorder from=0 nth=9 behind=3 count=2", "0123456789", "0123456789",
	  SIM_FAULT_REORDER, 2 },
	{ "delay from=1 nth=2 by=35us", "0123456789", "0234156789",
	  SIM_FAULT_DELAY, 1 },
	/* Link 2 leads from node 1 to the switch, link 3 back. */
	{ "cut link=2 at=15us for=20us", "0123456789", "01456789",
	  SIM_FAULT_CUT, 1 },
	{ "cut link=3 at=15us", "01", "0123456789", SIM_FAULT_CUT, 1 },
	/* The second cut begins during the first, and has no effect. */
	{ "cut link=2 at=15us for=20us\ncut link=2 at=25us for=50us",
	  "0123456789", "01456789", SIM_FAULT_CUT, 1 },
	{ "unplug node=1 at=15us for=20us", "01456789", "01456789",
	  SIM_FAULT_UNPLUG, 1 },
	{ "unplug node=1 rail=1 at=15us for=20us", "0123456789", "0123456789",
	  SIM_FAULT_UNPLUG, 1 },
	{ "unplug node=1 at=15us for=20us\ncut link=2 at=25us for=30us",
	  "01456789", "016789", SIM_FAULT_UNPLUG, 1 },
	{ "crash node=0 sent=4 for=25us", "0126789", "0123456789",
	  SIM_FAULT_CRASH, 1 },
	{ "crash node=0 at=85us", "012345678", "0123456789", SIM_FAULT_CRASH,
	  1 },
	{ "isolate node=3 at=1us for=1us", "0123456789", "0123456789",
	  SIM_FAULT_ISOLATE, 1 },
	{ "slow node=1 sent=2 times=5", "0123456789", "0123456789",
	  SIM_FAULT_SLOW, 1 },
	{ "stall node=1 at=5us for=9us", "0123456789", "0123456789",
	  SIM_FAULT_STALL, 1 },
};

START_TEST(what_a_script_says_happens)
{
	inject(harms[_i].script);
	exchange();
	ck_assert_uint_lt(virtual.now, 2000000); /* held for 1 ms at most */
	ck_assert_str_eq(order(0), harms[_i].from_0);
	ck_assert_str_eq(order(1), harms[_i].from_1);
	ck_assert_uint_eq(count(harms[_i].kind), harms[_i].count);
}
END_TEST

START_TEST(a_bit_is_turned)
{
	unsigned i, j;

	inject("corrupt from=0 nth=2 bit=27");
	exchange();
	ck_assert_uint_eq(count(SIM_FAULT_CORRUPT), 1);
	for (i = 0; i < came.n; i++) {
		const uint8_t *bytes = came.frame[i].bytes;

		for (j = 0; j < LENGTH - 1; j++)
			if (came.frame[i].from == 0 &&
			    came.frame[i].number == 1 && j == 3)
				ck_assert_uint_eq(bytes[j],
						  came.frame[0].bytes[j] ^ 8);
			else
				ck_assert_uint_eq(bytes[j],
						  came.frame[0].bytes[j]);
	}
}
END_TEST

START_TEST(frames_are_known_by_what_they_are)
{
	static const struct {
		const char *name;
		uint8_t kind, op;
	} kinds[] = {
		{ "hello", BCL_FRAME_HELLO, 0 },
		{ "hello", BCL_FRAME_HELLO_ACK, 0 },
		{ "data", BCL_FRAME_DATA | BCL_FRAME_PCRC, BCL_SEG_PUT },
		{ "data", BCL_FRAME_DATA | BCL_FRAME_ASK, BCL_SEG_SYSTEM },
		{ "ack", BCL_FRAME_ACK, BCL_SEG_SACK },
		{ "ping", BCL_FRAME_PING, 0 },
		{ "end", BCL_FRAME_BYE, 0 },
		{ "end", BCL_FRAME_PARK, 0 },
		{ "end", BCL_FRAME_RESET, 0 },
		{ "end", BCL_FRAME_REFUSE, 0 },
		{ "verdict", BCL_FRAME_ACK, BCL_SEG_VERDICT },
		{ "verdict", BCL_FRAME_DATA, BCL_SEG_VERDICT },
	};
	enum {
		N = sizeof(kinds) / sizeof(*kinds)
	};
	const char *name = kinds[_i].name;
	char script[64];
	unsigned i, j;

	snprintf(script, sizeof(script), "drop frame=%s count=100", name);
	inject(script);
	for (i = 0; i < N; i++)
		send_kind(kinds[i].kind, kinds[i].op, 0, 1, (uint8_t)i);
	run();
	for (i = j = 0; i < N; i++) {
		bool verdict = kinds[i].op == BCL_SEG_VERDICT;
		bool ack = kinds[i].kind == BCL_FRAME_ACK;

		if (!strcmp(kinds[i].name, name) ||
		    (verdict && !strcmp(name, ack ? "ack" : "data")))
			continue;
		ck_assert_uint_eq(came.frame[j++].number, i);
	}
	ck_assert_uint_eq(came.n, j);
	ck_assert_uint_eq(count(SIM_FAULT_DROP), N - j);
}
END_TEST

/* The verdict is the second segment, behind a segment of 13 bytes and
 * padding. */
START_TEST(a_verdict_may_stand_behind)
{
	struct sim_frame *frame;
	struct bcl_frame_header *header;
	struct bcl_segment_header *segment;

	inject("drop frame=verdict");
	frame = sim_frame_new(fabric, 0, 1, LENGTH);
	memset(frame->bytes, 0, LENGTH);
	header = (void *)frame->bytes;
	segment = (void *)(header + 1);
	header->magic = bcl_put16(BCL_WIRE_MAGIC);
	header->kind = BCL_FRAME_DATA;
	segment->op = BCL_SEG_SYSTEM;
	segment->length = bcl_put16(13);
	segment = (void *)((uint8_t *)(segment + 1) + 16);
	segment->op = BCL_SEG_VERDICT;
	sim_fabric_send(frame);
	run();
	ck_assert_uint_eq(came.n, 0);
	ck_assert_uint_eq(count(SIM_FAULT_DROP), 1);
}
END_TEST

/* Frames of no card, and short frames: only faults of "any" apply. */
START_TEST(other_frames_are_only_any)
{
	uint8_t bytes[BCL_FRAME_MIN] = { 0 };
	struct bcl_frame_header *header = (void *)bytes;
	uint32_t length;

	inject("");
	header->magic = bcl_put16(BCL_WIRE_MAGIC);
	header->kind = BCL_FRAME_DATA;
	for (length = 0; length < BCL_FRAME_MIN; length++)
		ck_assert_uint_eq(sim_frame_classify(bytes, length),
				  1 << SIM_FRAME_ANY);
	ck_assert_uint_eq(sim_frame_classify(bytes, length),
			  1 << SIM_FRAME_ANY | 1 << SIM_FRAME_DATA);
	header->kind = 99;
	ck_assert_uint_eq(sim_frame_classify(bytes, length),
			  1 << SIM_FRAME_ANY);
	header->kind = BCL_FRAME_DATA;
	header->magic = bcl_put16(1);
	ck_assert_uint_eq(sim_frame_classify(bytes, length),
			  1 << SIM_FRAME_ANY);
}
END_TEST

START_TEST(nodes_are_told)
{
	static const struct {
		enum sim_fault_kind kind;
		uint32_t node;
		bool begins;
		uint64_t time; /* us */
	} expected[] = {
		{ SIM_FAULT_SLOW, 0, true, 0 },
		{ SIM_FAULT_CRASH, 1, true, 20 },
		{ SIM_FAULT_ISOLATE, 3, true, 25 },
		{ SIM_FAULT_CRASH, 1, false, 30 },
		{ SIM_FAULT_UNPLUG, 2, true, 40 },
		{ SIM_FAULT_UNPLUG, 2, false, 50 },
	};
	uint64_t start = virtual.now;
	unsigned i;

	inject("unplug node=2 rail=1 at=40us for=10us\n"
	       "crash node=1 sent=3 for=10us\n"
	       "isolate node=3 at=25us\n"
	       "slow node=0 sent=1 times=7\n"
	       "cut link=0 at=90us");
	exchange();
	ck_assert_uint_eq(told.n, sizeof(expected) / sizeof(*expected));
	for (i = 0; i < told.n; i++) {
		ck_assert_int_eq(told.word[i].kind, expected[i].kind);
		ck_assert_uint_eq(told.word[i].node, expected[i].node);
		ck_assert_int_eq(told.word[i].begins, expected[i].begins);
		ck_assert_uint_eq(told.word[i].time,
				  start + expected[i].time * 1000);
	}
}
END_TEST

/* Node 0 sends four frames in a row, and crashes at the second. The injector
 * can tell nobody before the last frame is sent. */
START_TEST(a_crash_is_in_the_middle)
{
	uint8_t i;

	inject("crash node=0 sent=2");
	for (i = 0; i < 4; i++)
		send(0, 1, i);
	ck_assert_uint_eq(told.n, 0);
	run();
	ck_assert_uint_eq(told.n, 1);
	ck_assert_str_eq(order(0), "0");
}
END_TEST

/* At the end, when all objects are freed, frames are held or late. */
START_TEST(an_end_while_frames_are_held)
{
	inject("reorder nth=1 behind=9\ndelay nth=2 by=1s");
	send(0, 1, 0);
	send(0, 1, 1);
	ck_assert_uint_eq(came.n, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sim_inject");
	TCase *tcase = tcase_create("sim_inject");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_loop_test(tcase, what_a_script_says_happens, 0,
			    sizeof(harms) / sizeof(*harms));
	tcase_add_test(tcase, a_bit_is_turned);
	tcase_add_loop_test(tcase, frames_are_known_by_what_they_are, 0, 12);
	tcase_add_test(tcase, a_verdict_may_stand_behind);
	tcase_add_test(tcase, other_frames_are_only_any);
	tcase_add_test(tcase, nodes_are_told);
	tcase_add_test(tcase, a_crash_is_in_the_middle);
	tcase_add_test(tcase, an_end_while_frames_are_held);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
