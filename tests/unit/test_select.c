/* SPDX-License-Identifier: MIT */
/*
 * Tests of the algorithms that a team chooses. Short operations must use
 * algorithms with few messages, long operations algorithms that send each byte
 * seldom. The figures of the peers decide at which length the choice changes.
 */
#include <stdio.h>
#include <string.h>

#include "collectives/team.h"
#include "tests/unit/coll_mock.h"
#include "tests/unit/unit.h"

enum {
	MOST_RANKS = 16,
	SHORT = 8,
	LONG = 16 << 20, /* bytes */
};

/* Latency and overhead in us, bandwidth in MB/s, as in struct bcl_peer_info. */
static const struct bcl_peer_info shared = {
	.level = 1, .latency = 0.1, .overhead = 0.02, .bandwidth = 20000
};
static const struct bcl_peer_info network = {
	.level = 2, .latency = 3, .overhead = 1, .bandwidth = 5000
};

static void copy_choices(struct bcl_adi *adi, void *arg)
{
	struct bcl_choices *choices = arg;
	struct bcl_team *world;

	if (bcl_team_world(adi, &world) != BCL_OK)
		return;
	choices[bcl_team_rank(world)] = world->choices;
	bcl_team_free(world);
}

/* The choices of a job, at which all ranks must arrive alike. */
static struct bcl_choices choices_with(const struct mock_options *options)
{
	static struct bcl_choices choices[MOST_RANKS];
	struct mock_world *world;
	unsigned i;

	memset(choices, 0xff, sizeof(choices));
	world = mock_open(options);
	mock_run(world, copy_choices, choices);
	mock_close(world);
	for (i = 1; i < options->size; i++)
		ck_assert_mem_eq(&choices[i], &choices[0], sizeof(choices[0]));
	return choices[0];
}

/* The choices of a job of `size` ranks with `members` ranks on each node.
 * `between`: figures of peers on other nodes. */
static struct bcl_choices choices_of(unsigned size, unsigned members,
				     const struct bcl_peer_info *between)
{
	unsigned hosts[MOST_RANKS], i;

	for (i = 0; i < size; i++)
		hosts[i] = i / members;
	return choices_with(&(const struct mock_options){
		.size = size,
		.hosts = hosts,
		.inside = &shared,
		.between = between,
	});
}

static const char *name_of(const struct bcl_choices *choices,
			   enum bcl_operation operation, size_t length)
{
	return bcl_choice(choices, operation, false, length)->name;
}

/* `names`: the algorithms that are right, each followed by a blank. */
static void expect(const struct bcl_choices *choices, unsigned size,
		   unsigned members, enum bcl_operation operation,
		   size_t length, const char *names)
{
	char name[32];

	snprintf(name, sizeof(name), "%s ",
		 name_of(choices, operation, length));
	ck_assert_msg(strstr(names, name),
		      "%u ranks, %u a node, %s of %zu bytes: %snot in %s", size,
		      members, bcl_operation_names[operation], length, name,
		      names);
}

static const struct {
	enum bcl_operation operation;
	const char *brief, *large;
} apart[] = {
	{ BCL_OPERATION_BARRIER,
	  "dissemination dissemination_2 dissemination_4 ",
	  "dissemination dissemination_2 dissemination_4 " },
	{ BCL_OPERATION_BROADCAST, "tree tree_2 tree_4 ",
	  "chain scatter_ring " },
	{ BCL_OPERATION_REDUCE, "tree tree_2 tree_4 ", "scatter_gather " },
	{ BCL_OPERATION_ALLREDUCE, "doubling gathered gathered_2 gathered_4 ",
	  "ring halving halving_fetched " },
	{ BCL_OPERATION_GATHER, "tree tree_2 tree_4 direct ", "direct " },
	{ BCL_OPERATION_SCATTER, "tree tree_2 tree_4 direct ", "direct " },
	{ BCL_OPERATION_ALLGATHER, "bruck bruck_2 bruck_4 ", "ring " },
	{ BCL_OPERATION_ALLTOALL,
	  "bruck leaders leaders_4 columns columns_4 pairs ", "pairs " },
	{ BCL_OPERATION_ALLTOALLV, "pairs ", "pairs " },
	{ BCL_OPERATION_REDUCE_SCATTER, "tree apart columns ", "apart " },
	{ BCL_OPERATION_SCAN, "doubling nodes ", "chain doubling " },
	{ BCL_OPERATION_EXSCAN, "doubling nodes ", "chain doubling " },
	{ BCL_OPERATION_GATHERV, "direct ", "direct " },
	{ BCL_OPERATION_SCATTERV, "direct ", "direct " },
	{ BCL_OPERATION_ALLGATHERV, "pairs ring ", "ring " },
	{ BCL_OPERATION_REDUCE_SCATTERV, "tree apart ", "apart " },
	{ BCL_OPERATION_SHIFT, "direct ", "direct " },
	{ BCL_OPERATION_EXCHANGE, "direct ", "direct " },
};

static const unsigned sizes[] = { 2, 3, 8, 16 };

/* One rank on each node: short and long operations must use the algorithms of
 * `apart`. */
START_TEST(each_on_a_node_of_its_own)
{
	unsigned size = sizes[_i], i;
	struct bcl_choices choices = choices_of(size, 1, &network);

	for (i = 0; i < BCL_OPERATIONS; i++) {
		enum bcl_operation operation = apart[i].operation;
		const char *brief = apart[i].brief, *large = apart[i].large;

		/* with few ranks several algorithms cost the same */
		if (size < 4 && operation == BCL_OPERATION_ALLGATHER)
			brief = "bruck bruck_2 bruck_4 ring ";
		if (size < 4 && operation == BCL_OPERATION_BROADCAST)
			large = size == 2 ? "tree "
					  : "tree tree_2 chain scatter_ring ";
		if (size == 2 && operation == BCL_OPERATION_REDUCE)
			large = "tree scatter_gather ";
		expect(&choices, size, 1, operation, SHORT, brief);
		expect(&choices, size, 1, operation, LONG, large);
	}
}
END_TEST

/* Several ranks on each node: short operations must use algorithms with few
 * messages, as the number of messages dominates the cost. */
START_TEST(several_on_each_node)
{
	unsigned size = sizes[_i], members = size > 8 ? 4 : 2, i;
	struct bcl_choices choices = choices_of(size, members, &network);

	for (i = 0; i < BCL_OPERATIONS; i++)
		expect(&choices, size, members, apart[i].operation, SHORT,
		       apart[i].brief);
	expect(&choices, size, members, BCL_OPERATION_ALLREDUCE, LONG,
	       "ring halving halving_fetched ");
	expect(&choices, size, members, BCL_OPERATION_BROADCAST, LONG,
	       "chain scatter_ring ");
	if (size < 8)
		return;
	/* what a node does by itself costs fewer messages */
	expect(&choices, size, members, BCL_OPERATION_REDUCE_SCATTER, SHORT,
	       "columns tree ");
	expect(&choices, size, members, BCL_OPERATION_SCAN, SHORT, "nodes ");
	expect(&choices, size, members, BCL_OPERATION_EXSCAN, SHORT, "nodes ");
}
END_TEST

/* All ranks on one node: short operations must use the node's segment. */
START_TEST(all_on_one_node)
{
	unsigned size = sizes[_i], i;
	struct bcl_choices choices = choices_of(size, size, &network);

	/* two members know each other's lengths */
	for (i = 0; i < BCL_OPERATION_GATHERV; i++)
		expect(&choices, size, size, (enum bcl_operation)i, SHORT,
		       i == BCL_OPERATION_ALLTOALLV && size > 2 ? "pairs "
								: "node ");
	expect(&choices, size, size, BCL_OPERATION_GATHERV, SHORT,
	       size > 2 ? "direct " : "node ");
	expect(&choices, size, size, BCL_OPERATION_SCATTERV, SHORT,
	       size > 2 ? "direct " : "node ");
	expect(&choices, size, size, BCL_OPERATION_ALLGATHERV, SHORT, "node ");
	/* long operations fetch each byte directly, which saves one of two
	 * copies */
	expect(&choices, size, size, BCL_OPERATION_BROADCAST, LONG,
	       "chain scatter_ring ");
	expect(&choices, size, size, BCL_OPERATION_ALLREDUCE, LONG,
	       "ring node_sliced ");
	expect(&choices, size, size, BCL_OPERATION_ALLGATHER, LONG, "ring ");
	expect(&choices, size, size, BCL_OPERATION_ALLTOALL, LONG,
	       size < 8 ? "pairs " : "pairs node ");
}
END_TEST

/* Where ranks outnumber processors, each message waits for a turn of its
 * receiver, and so does each piece that passes through the segment. Copies out
 * of the memory of others wait twice, for any length. */
START_TEST(crowded_on_one_node)
{
	struct bcl_choices choices = choices_with(&(const struct mock_options){
		.size = MOST_RANKS, .inside = &shared, .crowded = true });

	expect(&choices, MOST_RANKS, MOST_RANKS, BCL_OPERATION_SCATTER, SHORT,
	       "node ");
	expect(&choices, MOST_RANKS, MOST_RANKS, BCL_OPERATION_SCATTER, 1 << 16,
	       "attached ");
	expect(&choices, MOST_RANKS, MOST_RANKS, BCL_OPERATION_ALLTOALL, SHORT,
	       "node ");
	expect(&choices, MOST_RANKS, MOST_RANKS, BCL_OPERATION_ALLTOALL,
	       1 << 16, "attached ");
	expect(&choices, MOST_RANKS, MOST_RANKS, BCL_OPERATION_ALLTOALLV, SHORT,
	       "attached ");
}
END_TEST

/* Regression test: two ranks must use the ring for a long vector. Once the
 * model chose doubling for any length. */
START_TEST(ring_of_two)
{
	struct bcl_choices near = choices_of(2, 2, &network);
	struct bcl_choices far = choices_of(2, 1, &network);

	expect(&near, 2, 2, BCL_OPERATION_ALLREDUCE, LONG, "ring ");
	expect(&far, 2, 1, BCL_OPERATION_ALLREDUCE, LONG, "ring ");
}
END_TEST

/* The least length from which on no allreduce uses doubling. Bytes. */
static size_t turn_of(const struct bcl_peer_info *between)
{
	struct bcl_choices choices = choices_of(8, 1, between);
	const size_t longest = (size_t)32 << 20;
	size_t length, turn = 0;

	for (length = 1; length <= longest; length *= 2)
		if (!strcmp(name_of(&choices, BCL_OPERATION_ALLREDUCE, length),
			    "doubling"))
			turn = 2 * length;
	ck_assert_uint_gt(turn, 1);
	ck_assert_uint_le(turn, longest);
	return turn;
}

/* Doubling must pay off for longer vectors if the latency is higher, and for
 * shorter vectors if the bandwidth is lower. */
START_TEST(peers_decide)
{
	struct bcl_peer_info slow = network, narrow = network;

	slow.latency *= 50;
	narrow.bandwidth /= 50;
	ck_assert_uint_gt(turn_of(&slow), turn_of(&network));
	ck_assert_uint_lt(turn_of(&narrow), turn_of(&network));
}
END_TEST

/* Messages between a root and members of its node are cheap: a direct gather or
 * scatter pays off. With many members a short gather must still use a tree. */
START_TEST(near_members_are_near)
{
	struct bcl_choices few = choices_of(4, 2, &network);
	struct bcl_choices many = choices_of(16, 8, &network);

	expect(&few, 4, 2, BCL_OPERATION_GATHER, 1536, "direct ");
	expect(&few, 4, 2, BCL_OPERATION_SCATTER, 1536, "direct ");
	expect(&few, 4, 2, BCL_OPERATION_GATHER, 131072, "direct ");
	expect(&few, 4, 2, BCL_OPERATION_SCATTER, 131072, "direct ");
	expect(&many, 16, 8, BCL_OPERATION_GATHER, SHORT, "tree ");
}
END_TEST

/* Two nodes of two ranks must use the algorithms that were measured to be the
 * fastest with 128 KB, when both nodes shared two processors. */
START_TEST(two_nodes_of_two)
{
	struct bcl_choices choices = choices_of(4, 2, &network);

	expect(&choices, 4, 2, BCL_OPERATION_BROADCAST, 131072, "tree ");
	expect(&choices, 4, 2, BCL_OPERATION_REDUCE, 131072, "tree ");
	expect(&choices, 4, 2, BCL_OPERATION_ALLREDUCE, 131072, "doubling ");
	expect(&choices, 4, 2, BCL_OPERATION_ALLGATHER, 131072, "ring ");
	expect(&choices, 4, 2, BCL_OPERATION_ALLTOALL, 131072, "pairs ");
}
END_TEST

struct world_of_one {
	enum bcl_status status;
	struct bcl_choices choices;
};

static void make_world(struct bcl_adi *adi, void *arg)
{
	struct world_of_one *made = arg;
	struct bcl_team *world;

	made->status = bcl_team_world(adi, &world);
	if (made->status != BCL_OK)
		return;
	made->choices = world->choices;
	bcl_team_free(world);
}

static struct world_of_one preferring(const char *coll)
{
	const struct mock_options options = { .size = 1, .coll = coll };
	struct mock_world *world = mock_open(&options);
	struct world_of_one made = { .status = BCL_OK };

	mock_run(world, make_world, &made);
	mock_close(world);
	return made;
}

/* BCL_COLL names an algorithm for an operation. The team must use it at all
 * lengths, unless the team cannot run the algorithm. The model chooses for all
 * other operations. */
START_TEST(user_prefers)
{
	struct world_of_one made = preferring(
		"allreduce:ring,alltoall:multileader_4,gather:direct");
	struct world_of_one plain = preferring(NULL);
	size_t i;

	ck_assert_int_eq(made.status, BCL_OK);
	for (i = 0; i < 20; i++) {
		ck_assert_str_eq(name_of(&made.choices, BCL_OPERATION_ALLREDUCE,
					 (size_t)1 << i),
				 "ring");
		ck_assert_str_eq(name_of(&made.choices, BCL_OPERATION_GATHER,
					 (size_t)1 << i),
				 "direct");
	}
	ck_assert_str_eq(name_of(&plain.choices, BCL_OPERATION_ALLREDUCE, 8),
			 "doubling");
	ck_assert_mem_eq(made.choices.algorithm[BCL_OPERATION_ALLTOALL],
			 plain.choices.algorithm[BCL_OPERATION_ALLTOALL],
			 sizeof(plain.choices.algorithm[0]));
	ck_assert_mem_eq(made.choices.algorithm[BCL_OPERATION_REDUCE],
			 plain.choices.algorithm[BCL_OPERATION_REDUCE],
			 sizeof(plain.choices.algorithm[0]));
}
END_TEST

static const char *const wrong[] = {
	"x",
	"allreduce",
	"allreduce:",
	"allreduce:rin",
	"allreduce:ringg",
	"allreduc:ring",
	":ring",
	",allreduce:ring",
	"allreduce:ring,,gather:tree",
	"allreduce:ring gather:tree",
};

/* A wrong setting of BCL_COLL must be refused with BCL_ERR_ARG. */
START_TEST(user_is_told)
{
	ck_assert_int_eq(preferring(wrong[_i]).status, BCL_ERR_ARG);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("select");
	TCase *tests = tcase_create("choices");
	int n = sizeof(sizes) / sizeof(sizes[0]);

	tcase_set_timeout(tests, 60);
	tcase_add_loop_test(tests, each_on_a_node_of_its_own, 0, n);
	tcase_add_loop_test(tests, several_on_each_node, 2, n);
	tcase_add_loop_test(tests, all_on_one_node, 0, n);
	tcase_add_test(tests, crowded_on_one_node);
	tcase_add_test(tests, ring_of_two);
	tcase_add_test(tests, peers_decide);
	tcase_add_test(tests, near_members_are_near);
	tcase_add_test(tests, two_nodes_of_two);
	tcase_add_test(tests, user_prefers);
	tcase_add_loop_test(tests, user_is_told, 0,
			    sizeof(wrong) / sizeof(wrong[0]));
	suite_add_tcase(suite, tests);
	return unit_run(suite);
}
