/* SPDX-License-Identifier: MIT */
/* What a cluster takes for a message: by its description, added up by hand. */
#include "unit.h"

#include <string.h>

#include "sim/figures.h"

static const char text[] =
	"cluster nodes=3 ranks=2\n"
	"host send=1us receive=2us trap=3us copy=1GB/s line=100ns\n"
	"card mtu=1KB frame-sent=4us frame-received=5us write-start=6us "
	"read-start=7us read=2GB/s write=2GB/s\n"
	"wire w bandwidth=1Gb/s latency=500ns\n"
	"crossbar x latency=1us queue=1MB forwarding=cut-through\n"
	"switch left crossbar=x\n"
	"switch right crossbar=x\n"
	"cable node0 left wire=w\n"
	"cable node1-2 right wire=w\n"
	"cable left right wire=w\n";

static struct sim_machine figures(unsigned nodes, unsigned ranks)
{
	FILE *in = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
	char error[SIM_ERROR_SIZE];
	struct sim_cluster cluster;
	struct sim_machine machine;

	ck_assert_msg(sim_cluster_read(&cluster, "cluster", in, error), "%s",
		      error);
	fclose(in);
	sim_figures(&cluster, nodes, ranks, &machine);
	sim_cluster_free(&cluster);
	return machine;
}

static void is(double us, double expected)
{
	ck_assert_double_eq_tol(us, expected, 1e-6);
}

/* The last two are nearest: 80 bytes, two cables, a switch. */
START_TEST(between_nodes)
{
	struct sim_machine machine = figures(3, 1);

	ck_assert_uint_eq(machine.nodes, 3);
	ck_assert_uint_eq(machine.ranks, 1);
	is(machine.between.send, 1);
	is(machine.between.receive, 2);
	is(machine.between.latency, 3 + 4 + (80 * 0.008 + 2 * 0.5 + 1) + 5 + 6);
	is(machine.between.gap, 5);
	is(machine.between.byte, 0.008 * 1024 / (1024 - 80));
}
END_TEST

/* Without the last, there are two switches between. */
START_TEST(only_of_those_who_take_part)
{
	is(figures(2, 1).between.latency,
	   3 + 4 + (80 * 0.008 + 3 * 0.5 + 2) + 5 + 6);
}
END_TEST

/* While one writes a request, the other does. */
START_TEST(ranks_of_a_node_send_at_once)
{
	struct sim_machine machine = figures(3, 2);

	is(machine.between.send, 0.5);
	is(machine.between.latency + machine.between.send,
	   1 + 3 + 4 + (80 * 0.008 + 2 * 0.5 + 1) + 5 + 6);
}
END_TEST

START_TEST(inside_a_node)
{
	struct sim_machine machine = figures(1, 2);

	is(machine.inside.send, 0);
	is(machine.inside.receive, 0);
	is(machine.inside.latency, 0.1);
	is(machine.inside.byte, 1e6 / (1 << 30) / 2);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sim_figures");
	TCase *tcase = tcase_create("sim_figures");

	tcase_add_test(tcase, between_nodes);
	tcase_add_test(tcase, only_of_those_who_take_part);
	tcase_add_test(tcase, ranks_of_a_node_send_at_once);
	tcase_add_test(tcase, inside_a_node);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
