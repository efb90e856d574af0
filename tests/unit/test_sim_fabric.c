/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include <stdlib.h>

#include "sim/fabric.h"

enum {
	PORTS = 64,
	LATENCY = 100,	    /* ns, of a cable */
	PS_PER_BYTE = 8000, /* 1 Gb/s */
	SWITCH = 500,	    /* ns */
	LENGTH = 1000,
	TAKES = LENGTH * 8, /* ns */
};

static const struct sim_cable cable = { LATENCY, PS_PER_BYTE };
static struct sim_clock virtual;
static struct sim_fabric *fabric;
static uint32_t port[PORTS];
static struct {
	uint64_t time;
	uint32_t from;
	unsigned frames;
} came[PORTS];

static void arrived(void *arg, struct sim_frame *frame)
{
	unsigned at = (unsigned)(uintptr_t)arg;

	ck_assert_uint_eq(frame->to, port[at]);
	came[at].time = virtual.now;
	came[at].from = frame->from;
	came[at].frames++;
	sim_frame_free(frame);
}

static void add_ports(unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++)
		port[i] =
			sim_fabric_port(fabric, arrived, (void *)(uintptr_t)i);
}

static void send(unsigned from, unsigned to)
{
	sim_fabric_send(sim_frame_new(fabric, port[from], port[to], LENGTH));
}

static void run(void)
{
	while (sim_clock_next(&virtual) != UINT64_MAX)
		sim_clock_step(&virtual);
}

static void setup(void)
{
	sim_clock_open(&virtual, 0);
	fabric = sim_fabric_open(&virtual);
	memset(came, 0, sizeof(came));
}

static void teardown(void)
{
	sim_fabric_close(fabric);
	sim_clock_close(&virtual);
}

/* One switch, as configured, with n ports. */
static void star(unsigned n, const struct sim_switch *config)
{
	uint32_t at;
	unsigned i;

	add_ports(n);
	at = sim_fabric_switch(fabric, config);
	for (i = 0; i < n; i++)
		sim_fabric_wire(fabric, port[i], at, &cable);
	sim_fabric_route(fabric);
}

START_TEST(one_cable)
{
	add_ports(2);
	sim_fabric_wire(fabric, port[0], port[1], &cable);
	sim_fabric_route(fabric);
	send(0, 1);
	ck_assert_uint_eq(sim_fabric_free_at(fabric, port[0]), TAKES);
	send(0, 1);
	run();
	ck_assert_uint_eq(came[1].frames, 2);
	ck_assert_uint_eq(came[1].time, 2 * TAKES + LATENCY);
}
END_TEST

START_TEST(a_switch_passes_on_the_head_or_the_whole)
{
	const struct sim_switch config = { SWITCH, 1 << 20, _i };

	star(2, &config);
	send(0, 1);
	run();
	ck_assert_uint_eq(came[1].time,
			  2 * LATENCY + SWITCH + (_i ? 1 : 2) * TAKES);
}
END_TEST

/* A slow cable before a fast cable: the fast cable has to wait for the
 * bytes. */
START_TEST(bytes_leave_after_they_have_come)
{
	const struct sim_switch config = { 0, 1 << 20, true };
	const struct sim_cable fast = { 0, PS_PER_BYTE / 8 };
	uint32_t at;

	add_ports(2);
	at = sim_fabric_switch(fabric, &config);
	sim_fabric_wire(fabric, port[0], at, &cable);
	sim_fabric_wire(fabric, port[1], at, &fast);
	sim_fabric_route(fabric);
	send(0, 1);
	run();
	ck_assert_uint_eq(came[1].time, LATENCY + TAKES);
}
END_TEST

START_TEST(a_link_serves_one_after_the_other)
{
	const struct sim_switch config = { SWITCH, 1 << 20, true };
	struct sim_link_info info;
	unsigned i;

	star(5, &config);
	for (i = 1; i < 5; i++)
		send(i, 0);
	run();
	ck_assert_uint_eq(came[0].frames, 4);
	ck_assert_uint_eq(came[0].time, 2 * LATENCY + SWITCH + 4 * TAKES);
	sim_fabric_link_info(fabric, 1, &info);
	ck_assert_uint_eq(info.to, port[0]);
	ck_assert_uint_eq(info.busy, 4 * TAKES);
	ck_assert_uint_eq(info.bytes, 4 * LENGTH);
	ck_assert_uint_eq(info.queue, 3 * LENGTH);
	ck_assert_uint_eq(info.lost, 0);
}
END_TEST

START_TEST(a_full_queue_and_a_link_that_is_down_lose)
{
	const struct sim_switch config = { SWITCH, 2 * LENGTH, true };
	struct sim_link_info info;
	unsigned i;

	star(6, &config);
	for (i = 1; i < 6; i++)
		send(i, 0);
	run();
	ck_assert_uint_eq(came[0].frames, 3);
	sim_fabric_link_info(fabric, 1, &info);
	ck_assert_uint_eq(info.lost, 2);
	sim_fabric_link(fabric, 1, false);
	send(1, 0);
	run();
	sim_fabric_link(fabric, 1, true);
	send(1, 0);
	run();
	ck_assert_uint_eq(came[0].frames, 4);
	sim_fabric_link_info(fabric, 1, &info);
	ck_assert_uint_eq(info.lost, 3);
}
END_TEST

START_TEST(a_frame_without_a_way_is_lost)
{
	const struct sim_switch config = { SWITCH, 1 << 20, true };
	struct sim_link_info info;
	uint32_t link;

	add_ports(2);
	link = sim_fabric_wire(fabric, port[0],
			       sim_fabric_switch(fabric, &config), &cable);
	sim_fabric_wire(fabric, port[1], sim_fabric_switch(fabric, &config),
			&cable);
	sim_fabric_route(fabric);
	send(0, 1);
	run();
	ck_assert_uint_eq(came[1].frames, 0);
	sim_fabric_link_info(fabric, link, &info);
	ck_assert_uint_eq(info.lost, 1);
}
END_TEST

/* Two levels: 8 switches with 4 ports each, 4 switches above all of them. */
static void tree(void)
{
	const struct sim_switch config = { SWITCH, 1 << 20, true };
	uint32_t leaf, top[4];
	unsigned i, j;

	add_ports(32);
	for (i = 0; i < 4; i++)
		top[i] = sim_fabric_switch(fabric, &config);
	for (i = 0; i < 8; i++) {
		leaf = sim_fabric_switch(fabric, &config);
		for (j = 0; j < 4; j++) {
			sim_fabric_wire(fabric, port[4 * i + j], leaf, &cable);
			sim_fabric_wire(fabric, leaf, top[j], &cable);
		}
	}
	sim_fabric_route(fabric);
}

START_TEST(a_shift_through_a_fat_tree_meets_nobody)
{
	uint64_t alone = 2 * LATENCY + SWITCH + TAKES;
	unsigned i, distance;

	tree();
	for (distance = 1; distance < 32; distance++) {
		uint64_t start = virtual.now;

		for (i = 0; i < 32; i++)
			send(i, (i + distance) % 32);
		run();
		for (i = 0; i < 32; i++) {
			bool near = came[i].from / 4 == port[i] / 4;

			ck_assert_uint_eq(came[i].frames, distance);
			ck_assert_uint_eq(
				came[i].time - start,
				alone + (near ? 0 : 2 * (LATENCY + SWITCH)));
		}
	}
}
END_TEST

/* In a ring of four the far switch is equally near on either side. The links
 * that a frame would take are known in advance. */
START_TEST(ways_of_equal_length_share)
{
	const struct sim_switch config = { SWITCH, 1 << 20, true };
	struct sim_link_info info;
	uint32_t at[4], counts[2 * PORTS] = { 0 }, first = 0;
	unsigned i;

	add_ports(8);
	for (i = 0; i < 4; i++)
		at[i] = sim_fabric_switch(fabric, &config);
	for (i = 0; i < 8; i++)
		sim_fabric_wire(fabric, port[i], at[i / 2], &cable);
	for (i = 0; i < 4; i++) {
		uint32_t link =
			sim_fabric_wire(fabric, at[i], at[(i + 1) % 4], &cable);

		first = i ? first : link;
	}
	sim_fabric_route(fabric);
	ck_assert_uint_le(sim_fabric_links(fabric), 2 * PORTS);
	for (i = 0; i < 8; i++)
		sim_fabric_follow(fabric, port[i], port[(i + 4) % 8], counts);
	for (i = 0; i < 8; i++)
		send(i, (i + 4) % 8);
	run();
	for (i = 0; i < sim_fabric_links(fabric); i++) {
		sim_fabric_link_info(fabric, i, &info);
		ck_assert_uint_eq(info.frames, counts[i]);
	}
	for (i = first; i < sim_fabric_links(fabric); i++) {
		sim_fabric_link_info(fabric, i, &info);
		ck_assert_uint_eq(info.frames, 2);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sim_fabric");
	TCase *tcase = tcase_create("sim_fabric");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, one_cable);
	tcase_add_loop_test(tcase, a_switch_passes_on_the_head_or_the_whole, 0,
			    2);
	tcase_add_test(tcase, bytes_leave_after_they_have_come);
	tcase_add_test(tcase, a_link_serves_one_after_the_other);
	tcase_add_test(tcase, a_full_queue_and_a_link_that_is_down_lose);
	tcase_add_test(tcase, a_frame_without_a_way_is_lost);
	tcase_add_test(tcase, a_shift_through_a_fat_tree_meets_nobody);
	tcase_add_test(tcase, ways_of_equal_length_share);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
