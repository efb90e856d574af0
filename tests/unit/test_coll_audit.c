/* SPDX-License-Identifier: MIT */
/*
 * The members of a node run drawn collective operations in a drawn order of
 * steps, and audit the node's memory at drawn moments. An audit writes again
 * the values that a member has written before, so no member may hang and all
 * data must be right.
 */
#include "unit.h"

#include <stdlib.h>
#include <string.h>

#include <bcl/coll.h>

#include "collectives/node.h"
#include "sim/random.h"

enum {
	MEMBERS = 5,	 /* at most */
	OPERATIONS = 40, /* per storm, in sequence */
	LONGEST = 50000, /* bytes of a block: several chunks */
	STORMS = 50,
	STEPS = 20000, /* far more than a storm takes */
	ALIGN = 64,
};

static uint64_t dice;

static unsigned draw(unsigned below)
{
	return (unsigned)(sim_random(&dice) % below);
}

/* The operations that all members run. */
static struct operation {
	enum bcl_node_kind kind;
	unsigned root;
	size_t length;
} plan[OPERATIONS];

static struct member {
	struct bcl_node node;
	struct bcl_node_op op;
	unsigned at;				   /* of the plan */
	size_t lengths[MEMBERS], offsets[MEMBERS]; /* of blocks that differ */
	unsigned char send[MEMBERS * LONGEST], receive[MEMBERS * LONGEST];
} all[MEMBERS];
static unsigned members;

static void draw_plan(void)
{
	static const enum bcl_node_kind kinds[] = {
		BCL_NODE_BARRIER,	 BCL_NODE_BROADCAST,
		BCL_NODE_GATHER,	 BCL_NODE_SCATTER,
		BCL_NODE_ALLGATHER,	 BCL_NODE_ALLTOALL,
		BCL_NODE_SCAN,		 BCL_NODE_EXSCAN,
		BCL_NODE_REDUCE_SCATTER, BCL_NODE_ALLGATHERV,
		BCL_NODE_SWAP,
	};
	static const unsigned lengths[] = { 9, 57, 400, LONGEST };
	unsigned all_kinds = members == 2 ? 11 : 10, i;

	for (i = 0; i < OPERATIONS; i++) {
		plan[i].kind = kinds[draw(draw(2) ? 2 : all_kinds)];
		plan[i].root = draw(members);
		plan[i].length = plan[i].kind == BCL_NODE_BARRIER
					 ? 0
					 : 1 + draw(lengths[draw(4)] - 1);
	}
}

/* The byte that member `from` sends to member `to` in operation `at`. */
static unsigned char byte(unsigned at, unsigned from, unsigned to)
{
	return (unsigned char)(at * 31 + from * 7 + to + 1);
}

static const struct bcl_reduction *reduction_of(enum bcl_node_kind kind)
{
	if (kind < BCL_NODE_REDUCE_SCATTER)
		return NULL;
	return bcl_reduction(BCL_SUM, BCL_UINT8);
}

/* The bytes of a member's block, which another member expects. Of an ALLGATHERV
 * some have none, and some many more than others; of a SWAP each may have
 * none. */
static size_t length_of(const struct operation *operation, unsigned member)
{
	if (operation->kind == BCL_NODE_SWAP)
		return operation->length >> member & 1
			       ? 0
			       : operation->length / (member + 1);
	if (operation->kind != BCL_NODE_ALLGATHERV)
		return operation->length;
	return operation->length * ((member + operation->root) % members) /
	       members;
}

static void begin(struct member *member)
{
	const struct operation *next = &plan[member->at];
	unsigned me = member->node.me, i;
	bool fan = next->kind == BCL_NODE_SCATTER ||
		   next->kind == BCL_NODE_ALLTOALL ||
		   next->kind == BCL_NODE_REDUCE_SCATTER;
	void *receive = member->receive;

	memset(receive, 0, members * next->length);
	for (i = 0; i < (fan ? members : 1); i++)
		memset(member->send + i * next->length,
		       byte(member->at, me, fan ? i : 0), next->length);
	if (next->kind == BCL_NODE_BROADCAST && me == next->root)
		receive = member->send;
	for (i = 0; i < members; i++) {
		member->lengths[i] = length_of(next, i);
		member->offsets[i] = i * next->length;
	}
	if (next->kind >= BCL_NODE_ALLGATHERV)
		bcl_node_begin_blocks(&member->op, next->kind, member->send,
				      receive, member->lengths, member->offsets,
				      members);
	else
		bcl_node_begin(&member->op, next->kind, next->root,
			       member->send, receive, next->length,
			       reduction_of(next->kind));
}

static void expect_byte(const struct member *member, unsigned block,
			unsigned char value)
{
	const struct operation *past = &plan[member->at];
	size_t length = length_of(past, block), i;
	const unsigned char *bytes = member->receive + block * past->length;

	for (i = 0; i < past->length; i++)
		if (bytes[i] != (i < length ? value : 0))
			ck_abort_msg("operation %u: byte %zu of block %u",
				     member->at, i, block);
}

static void expect(const struct member *member, unsigned block, unsigned from,
		   unsigned to)
{
	expect_byte(member, block, byte(member->at, from, to));
}

/* The sum of what the first n members send to member `to`. */
static void expect_sum(const struct member *member, unsigned n, unsigned to)
{
	unsigned char sum = 0;
	unsigned i;

	for (i = 0; i < n; i++)
		sum += byte(member->at, i, to);
	expect_byte(member, 0, sum);
}

static void check(const struct member *member)
{
	const struct operation *past = &plan[member->at];
	unsigned me = member->node.me, i;

	for (i = 0; i < members; i++)
		switch (past->kind) {
		case BCL_NODE_BROADCAST:
			if (i == 0 && me != past->root)
				expect(member, 0, past->root, 0);
			break;
		case BCL_NODE_SCATTER:
			if (i == 0)
				expect(member, 0, past->root, me);
			break;
		case BCL_NODE_GATHER:
			if (me == past->root)
				expect(member, i, i, 0);
			break;
		case BCL_NODE_ALLGATHER:
		case BCL_NODE_ALLGATHERV:
			expect(member, i, i, 0);
			break;
		case BCL_NODE_SWAP:
			if (i != me)
				expect(member, i, i, 0);
			break;
		case BCL_NODE_ALLTOALL:
			expect(member, i, i, me);
			break;
		case BCL_NODE_SCAN:
			expect_sum(member, me + 1, 0);
			break;
		case BCL_NODE_EXSCAN:
			expect_sum(member, me, 0);
			break;
		case BCL_NODE_REDUCE_SCATTER:
			expect_sum(member, members, me);
			break;
		default:
			break;
		}
}

static void step(struct member *member)
{
	if (draw(4) == 0)
		bcl_node_audit(&member->node);
	if (member->at == OPERATIONS ||
	    !bcl_node_advance(&member->node, &member->op, 0)) {
		ck_assert_uint_eq(member->node.differs, 0);
		return;
	}
	check(member);
	if (++member->at < OPERATIONS)
		begin(member);
}

START_TEST(an_audit_changes_nothing)
{
	unsigned over = 0, steps, turns, i;
	struct member *member;
	size_t size;
	void *memory;

	dice = (uint64_t)_i;
	members = 2 + draw(MEMBERS - 1);
	size = (bcl_node_size(members) + ALIGN - 1) / ALIGN * ALIGN;
	memory = aligned_alloc(ALIGN, size);
	memset(memory, 0, size);
	draw_plan();
	for (i = 0; i < members; i++) {
		bcl_node_init(&all[i].node, i, members, memory);
		all[i].at = 0;
		begin(&all[i]);
	}
	for (steps = 0; over < members; steps++) {
		ck_assert_uint_lt(steps, STEPS);
		member = &all[draw(members)];
		over -= member->at == OPERATIONS;
		/* some members go far ahead */
		for (turns = 1 + draw(30); turns; turns--)
			step(member);
		over += member->at == OPERATIONS;
	}
	free(memory);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("audits");
	TCase *tcase = tcase_create("collectives of a node");

	tcase_set_timeout(tcase, 120);
	tcase_add_loop_test(tcase, an_audit_changes_nothing, 0, STORMS);
	suite_add_tcase(suite, tcase);
	return unit_run(suite);
}
