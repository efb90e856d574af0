/* SPDX-License-Identifier: MIT */
/* The time that a cluster takes for a message: by the cluster's description,
 * added up by hand. */
#include "unit.h"

#include <string.h>

#include "sim/bounds/figures.h"

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

static struct sim_cluster cluster_of(const char *from)
{
	FILE *in = fmemopen((void *)(uintptr_t)from, strlen(from), "r");
	char error[SIM_ERROR_SIZE];
	struct sim_cluster cluster;

	ck_assert_msg(sim_cluster_read(&cluster, "cluster", in, error), "%s",
		      error);
	fclose(in);
	return cluster;
}

static struct sim_machine figures(unsigned nodes, unsigned ranks)
{
	struct sim_cluster cluster = cluster_of(text);
	struct sim_machine machine;

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
	is(machine.framing, 1024. / (1024 - 80));
	is(machine.passing, 80 * 0.008);
}
END_TEST

/* Without the last, there are two switches between. */
START_TEST(only_of_those_who_take_part)
{
	is(figures(2, 1).between.latency,
	   3 + 4 + (80 * 0.008 + 3 * 0.5 + 2) + 5 + 6);
}
END_TEST

/* While one rank writes a request, the other rank does, too. */
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

#define ONE                                                         \
	"cluster nodes=1\ncard mtu=1KB\n"                           \
	"wire w bandwidth=1Gb/s latency=500ns\n"                    \
	"crossbar x latency=1us queue=1MB forwarding=cut-through\n" \
	"star s crossbar=x wire=w\n"
#define BETWEEN \
	"measured between message=18us send=7us gap=11us bandwidth=1Gb/s\n"
#define INSIDE "measured inside message=3us send=2us gap=4us bandwidth=4Gb/s\n"

START_TEST(measured)
{
	struct sim_cluster cluster = cluster_of(ONE BETWEEN INSIDE);
	struct sim_machine machine;

	ck_assert(sim_figures_measured(&cluster, 3, 2, &machine));
	ck_assert_uint_eq(machine.nodes, 3);
	ck_assert_uint_eq(machine.ranks, 2);
	is(sim_bound_message(&machine.between, 1), 18);
	is(machine.between.send, 7);
	is(machine.between.gap, 11);
	is(machine.between.byte, 0.008);
	is(machine.framing, 1);
	is(machine.passing, 0.008);
	is(sim_bound_message(&machine.inside, 1), 3);
	is(machine.inside.send, 2);
	is(machine.inside.gap, 4);
	is(machine.inside.byte, 0.002);
	sim_cluster_free(&cluster);
}
END_TEST

/* A figure that no rank uses need not have been measured. */
START_TEST(not_measured)
{
	static const struct {
		const char *text;
		bool one_node, one_rank, both;
	} known[] = {
		{ ONE, false, false, false },
		{ ONE BETWEEN, false, true, false },
		{ ONE INSIDE, true, false, false },
	};
	struct sim_cluster cluster = cluster_of(known[_i].text);
	struct sim_machine machine;

	ck_assert_int_eq(sim_figures_measured(&cluster, 1, 2, &machine),
			 known[_i].one_node);
	ck_assert_int_eq(sim_figures_measured(&cluster, 2, 1, &machine),
			 known[_i].one_rank);
	ck_assert_int_eq(sim_figures_measured(&cluster, 2, 2, &machine),
			 known[_i].both);
	sim_cluster_free(&cluster);
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
	tcase_add_test(tcase, measured);
	tcase_add_loop_test(tcase, not_measured, 0, 3);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
