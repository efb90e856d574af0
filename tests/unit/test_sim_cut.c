/* SPDX-License-Identifier: MIT */
/*
 * The rate that links between parts of a cluster can carry: added up by hand,
 * and never less than the links do carry.
 */
#include "unit.h"

#include <stdarg.h>
#include <string.h>

#include "sim/bounds/cut.h"
#include "sim/random.h"

enum {
	SWITCHES = 6,
	TEXT = 4096,
	LENGTH = 1000,
	WIRINGS = 100,
};

#define SWITCHED                               \
	"wire w bandwidth=1Gb/s latency=0us\n" \
	"crossbar x latency=0us queue=1GB forwarding=cut-through\n"

/* Three nodes on each of four switches; a cable passes 125 bytes per us. */
static const char ring[] = "cluster nodes=12\ncard mtu=1KB\n" SWITCHED
			   "ring s switches=4 cables=2 crossbar=x wire=w\n";
static const char tree[] = "cluster nodes=8\ncard mtu=1KB\n" SWITCHED
			   "tree t down=2,2,2 up=2,1 crossbar=x wire=w\n";
/* Every second node is on the left. */
static const char mixed[] =
	"cluster nodes=6\ncard mtu=1KB\n" SWITCHED
	"switch left crossbar=x\nswitch right crossbar=x\n"
	"cable left right wire=w\n"
	"cable node0 left wire=w\ncable node1 right wire=w\n"
	"cable node2 left wire=w\ncable node3 right wire=w\n"
	"cable node4 left wire=w\ncable node5 right wire=w\n";
static const char rails[] = "cluster nodes=8 rails=2\ncard mtu=1KB\n" SWITCHED
			    "tree t down=4,2 up=1 crossbar=x wire=w rail=0\n"
			    "tree u down=2,4 up=2 crossbar=x wire=w rail=1\n";
static const char star[] =
	"cluster nodes=8\ncard mtu=1KB\n" SWITCHED "star s crossbar=x wire=w\n";

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

static struct sim_cuts find(const char *text, unsigned nodes, unsigned distance)
{
	struct sim_cluster cluster = cluster_of(text);
	struct sim_cuts cuts;

	sim_cuts_find(&cluster, nodes, distance, &cuts);
	sim_cluster_free(&cluster);
	return cuts;
}

static void is(const struct sim_cut *cut, unsigned near, unsigned far,
	       unsigned shifted, double rate)
{
	ck_assert_uint_eq(cut->near, near);
	ck_assert_uint_eq(cut->far, far);
	ck_assert_uint_eq(cut->shifted, shifted);
	ck_assert_double_eq_tol(cut->rate, rate, 1e-3);
}

/* Four cables join the halves, and six nodes could fill the cables. The nodes
 * of a single switch could not fill the four cables of the switch. */
START_TEST(of_a_ring)
{
	struct sim_cuts cuts = find(ring, 12, 1);

	ck_assert_uint_eq(cuts.n, 6);
	is(&cuts.cut[0], 6, 6, 1, 500);
	is(&cuts.cut[1], 6, 6, 1, 500);
	is(&cuts.cut[2], 3, 9, 1, 375);
	is(&cuts.cut[3], 9, 3, 1, 375);
	cuts = find(ring, 12, 6);
	is(&cuts.cut[0], 6, 6, 6, 500);
	is(&cuts.cut[2], 3, 9, 3, 375);
}
END_TEST

/* Frames between two neighbours do not go round by the other switches. */
START_TEST(by_shortest_ways)
{
	struct sim_cuts cuts = find(ring, 6, 1);

	ck_assert_uint_eq(cuts.n, 2);
	is(&cuts.cut[0], 3, 3, 1, 250);
	/* Frames between opposite switches go either way round. */
	cuts = find(ring, 9, 1);
	ck_assert_uint_eq(cuts.n, 3);
	is(&cuts.cut[0], 3, 6, 1, 375);
	is(&cuts.cut[1], 6, 3, 1, 375);
}
END_TEST

/* Two nodes have two cables up, and four nodes have no more. */
START_TEST(of_a_tree)
{
	struct sim_cuts cuts = find(tree, 8, 4);

	ck_assert_uint_eq(cuts.n, 6);
	is(&cuts.cut[0], 4, 4, 4, 250);
	is(&cuts.cut[2], 2, 6, 2, 250);
}
END_TEST

START_TEST(of_nodes_apart)
{
	struct sim_cuts cuts = find(mixed, 6, 1);

	is(&cuts.cut[0], 3, 3, 3, 125);
	cuts = find(mixed, 6, 2);
	is(&cuts.cut[0], 3, 3, 0, 125);
	cuts = find(mixed, 3, 1);
	is(&cuts.cut[0], 2, 1, 1, 125);
}
END_TEST

/* One cable of the first rail, and four cables of the second. */
START_TEST(by_all_rails)
{
	struct sim_cuts cuts = find(rails, 8, 1);

	ck_assert_uint_eq(cuts.n, 2);
	is(&cuts.cut[0], 4, 4, 1, 125 + 500);
}
END_TEST

START_TEST(of_one_switch)
{
	ck_assert_uint_eq(find(star, 8, 1).n, 0);
	ck_assert_uint_eq(find(ring, 3, 1).n, 0);
	ck_assert_uint_eq(find(ring, 1, 1).n, 0);
}
END_TEST

/* A message takes 10 us, 1 us of which on links. One byte in five is a
 * header. */
static double bound(const struct sim_cuts *cuts, enum sim_operation operation,
		    size_t length)
{
	struct sim_machine machine = {
		.ranks = 2,
		.between = { .latency = 5, .send = 3, .receive = 2, .byte = 1 },
		.framing = 1.25,
		.passing = 1,
	};
	const struct sim_cut *cut;
	double us = sim_cuts_bound(cuts, &machine, operation, length, &cut);

	ck_assert_int_eq(us > 0, cut != NULL);
	return us;
}

START_TEST(of_operations)
{
	struct sim_cuts cuts = find(ring, 6, 3), none = find(star, 6, 3);
	unsigned i;

	ck_assert_double_eq_tol(bound(&cuts, SIM_BROADCAST, 1000), 14, 1e-5);
	ck_assert_double_eq_tol(bound(&cuts, SIM_REDUCE, 1000), 14, 1e-5);
	ck_assert_double_eq_tol(bound(&cuts, SIM_ALLREDUCE, 1000), 14, 1e-5);
	ck_assert_double_eq_tol(bound(&cuts, SIM_SCATTER, 1000), 39, 1e-5);
	ck_assert_double_eq_tol(bound(&cuts, SIM_GATHER, 1000), 39, 1e-5);
	ck_assert_double_eq_tol(bound(&cuts, SIM_SHIFT, 1000), 39, 1e-5);
	ck_assert_double_eq_tol(bound(&cuts, SIM_ALLTOALL, 1000), 189, 1e-5);
	for (i = 0; i < SIM_OPERATIONS; i++) {
		ck_assert_double_le(bound(&cuts, i, 0), 0);
		ck_assert_double_le(bound(&none, i, 1000), 0);
	}
	ck_assert_double_le(bound(&cuts, SIM_BARRIER, 1000), 0);
}
END_TEST

/* Of several cuts, the slowest cut counts. */
START_TEST(the_worst)
{
	struct sim_cuts cuts = find(ring, 12, 1);

	/* 36 blocks by 500 bytes per us, rather than 27 by 375. */
	ck_assert_double_eq_tol(bound(&cuts, SIM_ALLTOALL, 1000),
				9 + 1.25 * 4 * 36000 / 500, 1e-5);
	ck_assert_double_eq_tol(bound(&cuts, SIM_SCATTER, 1000),
				9 + 1.25 * 2 * 9000 / 375, 1e-5);
}
END_TEST

/* ---- the traffic of a simulated fabric ---- */

struct sheet {
	char text[TEXT];
	size_t length;
};

__attribute__((format(printf, 2, 3))) static void add(struct sheet *sheet,
						      const char *format, ...)
{
	va_list list;

	va_start(list, format);
	sheet->length += (size_t)vsnprintf(sheet->text + sheet->length,
					   TEXT - sheet->length, format, list);
	va_end(list);
	ck_assert_uint_lt(sheet->length, TEXT);
}

static unsigned draw(uint64_t *seed, unsigned below)
{
	return (unsigned)(sim_random(seed) % below);
}

/* Some switches, each connected to an earlier switch, some connected to
 * more. */
static void wire_any(struct sheet *sheet, uint64_t seed, unsigned *nodes)
{
	unsigned switches = 2 + draw(&seed, SWITCHES - 1), more, i;

	*nodes = 2 + draw(&seed, 10);
	add(sheet, "cluster nodes=%u\ncard mtu=1KB\n" SWITCHED, *nodes);
	add(sheet, "wire v bandwidth=3Gb/s latency=0us\n");
	for (i = 0; i < switches; i++)
		add(sheet, "switch s%u crossbar=x\n", i);
	for (i = 1; i < switches; i++)
		add(sheet, "cable s%u s%u wire=%s count=%u\n", i,
		    draw(&seed, i), draw(&seed, 2) ? "v" : "w",
		    1 + draw(&seed, 2));
	for (more = draw(&seed, SWITCHES); more; more--) {
		unsigned a = draw(&seed, switches), b = draw(&seed, switches);

		if (a != b)
			add(sheet, "cable s%u s%u wire=w\n", a, b);
	}
	for (i = 0; i < *nodes; i++)
		add(sheet, "cable node%u s%u wire=v\n", i,
		    draw(&seed, switches));
}

static void arrived(void *arg, struct sim_frame *frame)
{
	(void)arg;
	sim_frame_free(frame);
}

/* us until each of the first `nodes` nodes has a frame from each of the
 * rest. */
static double all_to_all(const struct sim_cluster *cluster, unsigned nodes)
{
	struct sim_clock clock;
	struct sim_fabric *fabric;
	unsigned from, to;
	double us;

	sim_clock_open(&clock, 0);
	fabric = sim_cluster_fabric(cluster, &clock, arrived, NULL);
	for (from = 0; from < nodes; from++)
		for (to = 0; to < nodes; to++)
			if (from != to)
				sim_fabric_send(sim_frame_new(fabric, from, to,
							      LENGTH));
	while (sim_clock_next(&clock) != UINT64_MAX)
		sim_clock_step(&clock);
	us = (double)clock.now / 1000;
	sim_fabric_close(fabric);
	sim_clock_close(&clock);
	return us;
}

START_TEST(never_exceeded)
{
	struct sheet sheet = { .length = 0 };
	struct sim_cluster cluster;
	struct sim_cuts cuts;
	unsigned nodes, i;
	double us;

	wire_any(&sheet, (uint64_t)_i, &nodes);
	nodes -= (unsigned)_i % nodes / 2;
	cluster = cluster_of(sheet.text);
	sim_cuts_find(&cluster, nodes, 1, &cuts);
	us = all_to_all(&cluster, nodes);
	for (i = 0; i < cuts.n; i++) {
		const struct sim_cut *cut = &cuts.cut[i];

		ck_assert_uint_eq(cut->near + cut->far, nodes);
		ck_assert_msg(us * cut->rate * 1.0001 >=
				      (double)cut->near * cut->far * LENGTH,
			      "%u by %u: %.3f us, rate %.1f\n%s", cut->near,
			      cut->far, us, cut->rate, sheet.text);
	}
	sim_cluster_free(&cluster);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("sim_cut");
	TCase *tcase = tcase_create("sim_cut");

	tcase_add_test(tcase, of_a_ring);
	tcase_add_test(tcase, by_shortest_ways);
	tcase_add_test(tcase, of_a_tree);
	tcase_add_test(tcase, of_nodes_apart);
	tcase_add_test(tcase, by_all_rails);
	tcase_add_test(tcase, of_one_switch);
	tcase_add_test(tcase, of_operations);
	tcase_add_test(tcase, the_worst);
	tcase_add_loop_test(tcase, never_exceeded, 0, WIRINGS);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
