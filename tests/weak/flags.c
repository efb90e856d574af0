/* SPDX-License-Identifier: MIT */
/* Collectives by flag lines, slots and chunks: collectives/flags.h, slots.h,
 * node.c. */
#include <string.h>

#include "collectives/node.h"
#include "tests/weak/weak.h"

enum {
	MEMBERS = 3,
	ROUNDS = 4, /* a member uses each of its two places twice */
	SHORT = 8,  /* bytes, in the flag line or in a slot */
	CHUNK = 128,
	LONG = 72, /* bytes, in chunks */
	SEGMENT = 1 << 17,
};

static _Alignas(64) unsigned char segment[SEGMENT];
static struct bcl_node nodes[MEMBERS];
static unsigned members;
static int cells[MEMBERS][ROUNDS];

static void set_up(unsigned n)
{
	members = n;
	memset(segment, 0, bcl_node_size(n));
	memset(cells, 0, sizeof(cells));
	for (unsigned me = 0; me < n; me++) {
		bcl_node_init(&nodes[me], me, n, segment);
		nodes[me].chunk = CHUNK;
	}
}

static void set_up_two(void)
{
	set_up(2);
}

static void set_up_three(void)
{
	set_up(3);
}

/* The first call in vain may set a flag for which other members wait. */
static void finish(unsigned me, struct bcl_node_op *op)
{
	if (!bcl_node_advance(&nodes[me], op, 0))
		weak_until(bcl_node_advance(&nodes[me], op, 0));
	weak_assert(!nodes[me].differs);
}

static void barrier(unsigned me)
{
	struct bcl_node_op op;

	bcl_node_begin(&op, BCL_NODE_BARRIER, 0, NULL, NULL, 0, NULL);
	finish(me, &op);
}

static void fill(unsigned char *vector, unsigned round, unsigned member,
		 size_t length)
{
	memset(vector, (int)(1 + round * MEMBERS + member), length);
}

static void expect(const unsigned char *vector, unsigned round, unsigned member,
		   size_t length)
{
	unsigned char wanted[LONG];

	fill(wanted, round, member, length);
	weak_assert(!memcmp(vector, wanted, length));
}

static void broadcast(unsigned me, unsigned root, unsigned round, size_t length)
{
	unsigned char vector[LONG];
	struct bcl_node_op op;

	if (me == root)
		fill(vector, round, me, length);
	bcl_node_begin(&op, BCL_NODE_BROADCAST, root, vector, vector, length,
		       NULL);
	finish(me, &op);
	expect(vector, round, root, length);
}

static void allgather(unsigned me, unsigned round, size_t length)
{
	unsigned char all[MEMBERS * LONG], own[LONG];
	struct bcl_node_op op;

	fill(own, round, me, length);
	bcl_node_begin(&op, BCL_NODE_ALLGATHER, 0, own, all, length, NULL);
	finish(me, &op);
	for (unsigned member = 0; member < members; member++)
		expect(all + member * length, round, member, length);
}

static void gather(unsigned me, unsigned root, unsigned round, size_t length)
{
	unsigned char all[MEMBERS * LONG], own[LONG];
	struct bcl_node_op op;

	fill(own, round, me, length);
	bcl_node_begin(&op, BCL_NODE_GATHER, root, own, all, length, NULL);
	finish(me, &op);
	for (unsigned member = 0; me == root && member < members; member++)
		expect(all + member * length, round, member, length);
}

/* Only one of two members gives the other something. */
static void swap(unsigned me, unsigned giver, unsigned round, size_t length)
{
	size_t lengths[2] = { 0 }, offsets[2] = { 0 };
	unsigned char vector[LONG];
	struct bcl_node_op op;

	lengths[giver] = length;
	if (me == giver)
		fill(vector, round, me, length);
	bcl_node_begin_blocks(&op, BCL_NODE_SWAP, vector, vector, lengths,
			      offsets, 2);
	finish(me, &op);
	expect(vector, round, giver, length);
}

/* ---- what the members do ---- */

static void barriers(unsigned me)
{
	for (unsigned round = 0; round < ROUNDS; round++) {
		cells[me][round] = 1;
		barrier(me);
		for (unsigned member = 0; member < members; member++)
			weak_assert(cells[member][round] == 1);
	}
}

static void broadcasts(unsigned me, unsigned rounds, size_t length)
{
	for (unsigned round = 0; round < rounds; round++)
		broadcast(me, 0, round, length);
}

static void short_broadcasts(unsigned me)
{
	broadcasts(me, ROUNDS, SHORT);
}

static void long_broadcasts(unsigned me)
{
	broadcasts(me, ROUNDS, LONG);
}

static void changing_broadcasts(unsigned me)
{
	for (unsigned round = 0; round < ROUNDS; round++)
		broadcast(me, round % members, round, round % 2 ? LONG : SHORT);
}

static void short_allgathers(unsigned me)
{
	for (unsigned round = 0; round < ROUNDS; round++)
		allgather(me, round, SHORT);
}

static void long_allgathers(unsigned me)
{
	for (unsigned round = 0; round < ROUNDS; round++)
		allgather(me, round, LONG);
}

/* A member writes in two phases in a row, and hears nothing about the first
 * phase from any other member. */
static void turns(unsigned me)
{
	allgather(me, 0, LONG);
	broadcast(me, 0, 1, LONG);
	broadcast(me, 0, 2, LONG);
	allgather(me, 3, LONG);
}

/* The giver runs ahead, and then waits. */
static void swaps(unsigned me, size_t length)
{
	for (unsigned round = 0; round < ROUNDS; round++)
		swap(me, round == ROUNDS - 1, round, length);
}

static void short_swaps(unsigned me)
{
	swaps(me, SHORT);
}

static void long_swaps(unsigned me)
{
	swaps(me, LONG);
}

/* A root runs ahead. The next writer learns late how far the root is. */
static void mixture(unsigned me)
{
	broadcast(me, 0, 0, SHORT);
	gather(me, 0, 1, SHORT);
	broadcast(me, 0, 2, SHORT);
	broadcast(me, 1, 3, LONG);
}

/* Two members that were silent in the second phase wait for each other. */
static void silence(unsigned me)
{
	gather(me, 2, 0, LONG);
	broadcast(me, 2, 1, LONG);
	gather(me, 2, 2, LONG);
}

static void three_broadcasts(unsigned me)
{
	broadcasts(me, 3, SHORT);
}

#define BY_MEMBERS(what)           \
	static void what##_0(void) \
	{                          \
		what(0);           \
	}                          \
	static void what##_1(void) \
	{                          \
		what(1);           \
	}
#define BY_THIRD(what)             \
	static void what##_2(void) \
	{                          \
		what(2);           \
	}

BY_MEMBERS(barriers)
BY_MEMBERS(short_broadcasts)
BY_MEMBERS(long_broadcasts)
BY_MEMBERS(changing_broadcasts)
BY_MEMBERS(short_allgathers)
BY_MEMBERS(long_allgathers)
BY_MEMBERS(short_swaps)
BY_MEMBERS(long_swaps)
BY_MEMBERS(turns)
BY_MEMBERS(mixture)
BY_MEMBERS(silence)
BY_THIRD(silence)
BY_MEMBERS(three_broadcasts)
BY_THIRD(three_broadcasts)

int main(void)
{
#define TWO(what) set_up_two, { what##_0, what##_1 }, NULL
	static const struct weak_test tests[] = {
		{ "barriers", TWO(barriers) },
		{ "short broadcasts", TWO(short_broadcasts) },
		{ "long broadcasts", TWO(long_broadcasts) },
		{ "broadcasts of changing roots", TWO(changing_broadcasts) },
		{ "short allgathers", TWO(short_allgathers) },
		{ "long allgathers", TWO(long_allgathers) },
		{ "short swaps", TWO(short_swaps) },
		{ "long swaps", TWO(long_swaps) },
		{ "all, one twice, all", TWO(turns) },
		{ "short from one, to it, from it, long from the other",
		  TWO(mixture) },
		{ "to one, from it, to it, three members",
		  set_up_three,
		  { silence_0, silence_1, silence_2 },
		  NULL },
		{ "short broadcasts, three members",
		  set_up_three,
		  { three_broadcasts_0, three_broadcasts_1,
		    three_broadcasts_2 },
		  NULL },
		{ .name = NULL },
	};

	return weak_main(tests);
}
