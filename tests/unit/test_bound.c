/* SPDX-License-Identifier: MIT */
/* Lower bounds: by hand, and where all algorithms can be tried by trying. */
#include <check.h>
#include <math.h>

#include "sim/bounds/bound.h"
#include "tests/unit/dawning.h"
#include "tests/unit/unit.h"

enum {
	FEW = 6,   /* processors that can be searched */
	BYTES = 3, /* of a vector that can be */
};

/* Round figures: a message takes 10, of 11 bytes 20. */
static const struct sim_loggp round_net = {
	.latency = 6, .send = 3, .receive = 1, .gap = 4, .byte = 1
};

static struct sim_machine round_machine(unsigned nodes, unsigned ranks)
{
	return (struct sim_machine){
		.nodes = nodes,
		.ranks = ranks,
		.inside = { .latency = 0.5,
			    .send = 1,
			    .receive = 0.5,
			    .gap = 1,
			    .byte = 0.5 },
		.between = round_net,
	};
}

static double bound(unsigned nodes, unsigned ranks,
		    enum sim_operation operation, size_t length)
{
	struct sim_machine machine = round_machine(nodes, ranks);

	return sim_bound(&machine, operation, length);
}

static void equal(double a, double b)
{
	ck_assert_double_eq_tol(a, b, 1e-6);
}

START_TEST(message)
{
	equal(sim_bound_message(&round_net, 0), 10);
	equal(sim_bound_message(&round_net, 1), 10);
	equal(sim_bound_message(&round_net, 11), 20);
}
END_TEST

/* Arrivals at 10, 14, 18, 20 (from the first), 22, 24 and 24. */
START_TEST(tree_by_hand)
{
	const double at[] = { 0, 10, 14, 18, 20, 22, 24, 24 };
	unsigned n;

	for (n = 1; n <= 8; n++)
		equal(sim_bound_tree(&round_net, n, 1), at[n - 1]);
	/* With 11 bytes messages take 20, and the card 14 for each. */
	equal(sim_bound_tree(&round_net, 3, 11), 34);
	equal(sim_bound_tree(&round_net, 4, 11), 40);
}
END_TEST

/* The best of all orders in which n processors can inform one another. */
static double search(const struct sim_loggp *net, double *next, unsigned known,
		     unsigned n, double end)
{
	double best = 1e9;
	unsigned i;

	if (known == n)
		return end;
	for (i = 0; i < known; i++) {
		double begin = next[i], arrival, time;

		arrival = begin + sim_bound_message(net, 1);
		next[i] = begin + (net->gap > net->send ? net->gap : net->send);
		next[known] = arrival;
		time = search(net, next, known + 1, n,
			      arrival > end ? arrival : end);
		best = time < best ? time : best;
		next[i] = begin;
	}
	return best;
}

START_TEST(tree_by_search)
{
	static const struct sim_loggp nets[] = {
		{ 6, 3, 1, 4, 1 }, { 1, 1, 1, 30, 1 }, { 30, 1, 1, 1, 1 },
		{ 5, 2, 2, 1, 1 }, { 0, 1, 0, 1, 1 },
	};
	double next[FEW] = { 0 };
	unsigned n;

	for (n = 1; n <= FEW; n++)
		equal(sim_bound_tree(&nets[_i], n, 1),
		      search(&nets[_i], next, 1, n, 0));
}
END_TEST

START_TEST(one_node)
{
	equal(bound(1, 4, SIM_BARRIER, 0), 2);
	equal(bound(1, 4, SIM_BROADCAST, 11), 7);
	equal(bound(1, 4, SIM_SCATTER, 4), 2 + 11 * 0.5);
	equal(bound(1, 1, SIM_ALLREDUCE, 8), 0);
}
END_TEST

START_TEST(short_operations)
{
	/* A step inside the node costs 2, half the gap, before and after. */
	equal(bound(4, 1, SIM_BARRIER, 0), 18);
	equal(bound(4, 2, SIM_BARRIER, 0), 22);
	equal(bound(4, 2, SIM_BROADCAST, 1), 20);
	equal(bound(2, 1, SIM_ALLTOALL, 1), 10);
	equal(bound(4, 1, SIM_SHIFT, 1), 10);
}
END_TEST

START_TEST(long_operations)
{
	equal(bound(2, 1, SIM_BROADCAST, 1001), 1010);
	equal(bound(2, 1, SIM_ALLREDUCE, 1001), 1010);
	/* 2 (4 - 1) / 4 of 1,000 bytes, and of a message */
	equal(bound(4, 1, SIM_ALLREDUCE, 1000), 1509 + 1.5);
	equal(bound(4, 2, SIM_ALLREDUCE, 1000), 1509 + 1.5);
	equal(bound(1, 4, SIM_ALLREDUCE, 1000), 2 + 1499 * 0.5);
	/* Two blocks to who tells one of them on, then one: a gap between. */
	equal(bound(4, 1, SIM_SCATTER, 1000), 3009 + 3);
	equal(bound(4, 2, SIM_GATHER, 1000), 6009 + 3);
	/* Three of a byte: whoever tells another one on is as late. */
	equal(bound(4, 1, SIM_SCATTER, 1), 18);
	equal(bound(4, 1, SIM_SHIFT, 1001), 1010);
	/* Three blocks to three nodes: 8 for the gaps less a byte each. */
	equal(bound(4, 1, SIM_ALLTOALL, 1000), 9 + 3000 + 2 * 3);
	equal(bound(4, 2, SIM_ALLTOALL, 1000), 9 + 12000 + 2 * 3);
}
END_TEST

/*
 * Among three nodes, of 1,000 bytes: messages of the root of f bytes cost
 * another node f and the gaps before. With sizes that fall by a gap from each
 * to the next, sqrt(2 x 1,000 x 3) = 77 more than the bytes.
 */
START_TEST(pieces)
{
	struct sim_machine machine = round_machine(3, 1);
	double all = sim_bound(&machine, SIM_BROADCAST, 1000);
	double equal_pieces = sim_bound_pieces(&machine, 1000);

	ck_assert_double_gt(all, 1009 + 70);
	ck_assert_double_lt(all, 1009 + 80);
	/* 16 pieces of 62: 15 x (4 + 61) and 10 + 4 + 2 x 61. */
	ck_assert_double_ge(equal_pieces, all);
	ck_assert_double_le(equal_pieces, 975 + 136);
	equal(sim_bound_pieces(&machine, 1), 14);
}
END_TEST

/* All ranks of a node by its card; inside one, at once. */
START_TEST(streams)
{
	struct sim_machine machine = round_machine(3, 4), one;

	equal(sim_bound_stream(&machine, 1, 1), 10);
	equal(sim_bound_stream(&machine, 4, 1), 10 + 3 * 4);
	equal(sim_bound_stream(&machine, 4, 1001), 1010 + 3 * 1004);
	one = round_machine(1, 4);
	equal(sim_bound_stream(&one, 4, 1), 2);
}
END_TEST

/*
 * Among five nodes gaps of 3 between messages of any lengths: arrivals are at
 * 9, 12, 15 and 18 but for the bytes, and the best tree of four edges has one
 * that delays all, and behind it one and two.
 */
START_TEST(mean)
{
	equal(bound(5, 1, SIM_BROADCAST, 10000),
	      10000 + 13.5 - 3 + 4. / 3 * sqrt(30000 * 2 / 8.) +
		      2 * sqrt(30000) *
			      exp((log(0.5 * 0.5 * 1.5 * 0.5) / 4 - 1) / 2));
}
END_TEST

struct vector {
	const struct sim_loggp *net;
	unsigned nodes, bytes;
	double out[FEW], in[FEW]; /* when a port may begin again */
	double has[FEW][BYTES];	  /* since when; NEVER */
};

static const double never = 1e9;

/* One more message, of these bytes: when it is there. */
static double send_bytes(struct vector *vector, unsigned from, unsigned to,
			 unsigned bytes)
{
	const struct sim_loggp *net = vector->net;
	double more = (__builtin_popcount(bytes) - 1) * net->byte;
	double begin = vector->out[from], end;
	unsigned i;

	for (i = 0; i < vector->bytes; i++)
		if (bytes >> i & 1)
			begin = fmax(begin, vector->has[from][i] + net->send);
	end = fmax(begin + net->latency, vector->in[to]) + more;
	vector->out[from] = begin + more + fmax(net->gap, net->send);
	vector->in[to] = end + net->gap;
	for (i = 0; i < vector->bytes; i++)
		if (bytes >> i & 1)
			vector->has[to][i] = end + net->receive;
	return end + net->receive;
}

/* The best of all ways to go on, if it is better than `best`; nobody is sent
 * what he has, and who has heard nothing yet is as good as another. */
static double search_vector(const struct vector *vector, unsigned told,
			    double end, double best)
{
	unsigned from, to, bytes, i, left = 0;

	for (from = 0; from < vector->nodes; from++)
		for (to = 1; to < vector->nodes && to <= told + 1; to++) {
			unsigned can = 0;

			for (i = 0; i < vector->bytes; i++)
				if (vector->has[from][i] < never &&
				    vector->has[to][i] == never)
					can |= 1u << i;
			left |= can;
			for (bytes = can; bytes; bytes = (bytes - 1) & can) {
				struct vector next = *vector;
				double at = send_bytes(&next, from, to, bytes);

				if (at < best)
					best = search_vector(
						&next, to > told ? to : told,
						fmax(at, end), best);
			}
		}
	return left ? best : fmin(end, best);
}

START_TEST(vector_by_search)
{
	static const struct sim_loggp nets[] = {
		{ 6, 3, 1, 4, 1 }, { 1, 1, 1, 9, 4 },	{ 9, 2, 1, 5, 4 },
		{ 0, 1, 0, 8, 2 }, { 2, 1, 1, 12, 11 },
	};
	static const unsigned sizes[][2] = { { 3, 3 }, { 4, 2 }, { 5, 1 } };
	unsigned i, node, byte;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct sim_machine machine = round_machine(sizes[i][0], 1);
		struct vector vector = { .net = &nets[_i],
					 .nodes = sizes[i][0],
					 .bytes = sizes[i][1],
					 .out[0] = nets[_i].send };
		double best;

		machine.between = nets[_i];
		for (node = 1; node < vector.nodes; node++)
			for (byte = 0; byte < vector.bytes; byte++)
				vector.has[node][byte] = never;
		best = search_vector(&vector, 0, 0, never);
		ck_assert_double_lt(best, never);
		ck_assert_double_le(
			sim_bound(&machine, SIM_BROADCAST, vector.bytes),
			best + 1e-6);
	}
}
END_TEST

/* Nothing is worse for more nodes, more ranks or more bytes. */
START_TEST(monotonous)
{
	enum sim_operation operation = (enum sim_operation)_i;
	unsigned nodes, ranks;
	size_t length;

	for (nodes = 2; nodes <= 64; nodes *= 2)
		for (ranks = 1; ranks <= 4; ranks *= 2)
			for (length = 1; length <= 1 << 20; length *= 32) {
				struct sim_machine machine = dawning, more;
				double least;

				machine.nodes = nodes;
				machine.ranks = ranks;
				least = sim_bound(&machine, operation, length) -
					1e-6;
				ck_assert_double_ge(sim_bound(&machine,
							      operation,
							      2 * length),
						    least);
				more = machine;
				more.nodes *= 2;
				ck_assert_double_ge(
					sim_bound(&more, operation, length),
					least);
				more = machine;
				more.ranks *= 2;
				ck_assert_double_ge(
					sim_bound(&more, operation, length),
					least);
			}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("bound");
	TCase *tests = tcase_create("bounds");

	tcase_add_test(tests, message);
	tcase_add_test(tests, tree_by_hand);
	tcase_add_loop_test(tests, tree_by_search, 0, 5);
	tcase_add_test(tests, one_node);
	tcase_add_test(tests, short_operations);
	tcase_add_test(tests, long_operations);
	tcase_add_test(tests, pieces);
	tcase_add_test(tests, streams);
	tcase_add_test(tests, mean);
	tcase_add_loop_test(tests, vector_by_search, 0, 5);
	tcase_add_loop_test(tests, monotonous, 0, SIM_OPERATIONS);
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
