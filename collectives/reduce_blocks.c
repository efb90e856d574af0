/* SPDX-License-Identifier: MIT */
/*
 * Reduce-scatter by messages: member i of a group gets the reduction of block
 * i, with blocks of one length or of different lengths. By a ring or, in the
 * order of the group, by a message for each pair of members. See builders.h.
 *
 * The ring of four members, where b(1 2) is the sum of block b of members 1 and
 * 2:
 *
 *   to member        0           1           2           3
 *   round 0        2(3)        3(0)        0(1)        1(2)
 *   round 1      1(2 3)      2(3 0)      3(0 1)      0(1 2)
 *   round 2    0(1 2 3)    1(2 3 0)    2(3 0 1)    3(0 1 2)
 */
#include "collectives/builders.h"

/* A vector with a block for each member of a group. */
struct blocks {
	unsigned n;
	size_t length, element; /* bytes: of the vector, and of an element */
	/* Where each block begins, and the end of the vector; NULL: as
	 * bcl_block_begin() says. */
	const size_t *begin;
};

static size_t begin_of(const struct blocks *blocks, unsigned i)
{
	return blocks->begin ? blocks->begin[i]
			     : bcl_block_begin(blocks->length, blocks->element,
					       blocks->n, i);
}

static size_t bytes_of(const struct blocks *blocks, unsigned i)
{
	return begin_of(blocks, i + 1) - begin_of(blocks, i);
}

/*
 * A ring, for commutative operators: the partial result of block i travels from
 * member i + 1 around the ring to member i. Each member adds its own
 * contribution. P. Patarasuk, X. Yuan, "Bandwidth optimal all-reduce algorithms
 * for clusters of workstations", JPDC 69 (2009).
 */
static void build_ring(struct bcl_schedule *schedule,
		       const struct bcl_group *group,
		       const struct blocks *blocks, const unsigned char *send,
		       unsigned char *result,
		       const struct bcl_reduction *reduction)
{
	unsigned n = group->size, me = group->me, k;
	unsigned next = bcl_group_rank(group, (me + 1) % n);
	unsigned previous = bcl_group_rank(group, (me + n - 1) % n);
	unsigned char *partial[2];
	size_t most = 0;

	for (k = 0; k < n; k++)
		most = bytes_of(blocks, k) > most ? bytes_of(blocks, k) : most;
	partial[0] = bcl_step_scratch(schedule, most);
	partial[1] = bcl_step_scratch(schedule, most);

	for (k = 0; k + 1 < n; k++) {
		unsigned out = (me + 2 * n - k - 1) % n, in = (out + n - 1) % n;
		size_t leaving = bytes_of(blocks, out);
		size_t arriving = bytes_of(blocks, in);

		if (leaving)
			bcl_step_send(schedule, next,
				      k ? partial[(k - 1) % 2]
					: send + begin_of(blocks, out),
				      leaving);
		if (arriving)
			bcl_step_receive(schedule, previous, partial[k % 2],
					 arriving);
		bcl_step_round(schedule);
		bcl_step_combine(schedule, reduction,
				 send + begin_of(blocks, in), partial[k % 2],
				 arriving / blocks->element);
		if (in == me)
			bcl_step_copy(schedule, result, partial[k % 2],
				      arriving);
	}
	bcl_step_round(schedule);
}

/*
 * For operators that are not commutative: every member sends each block to the
 * owner of the block, who combines the blocks in the order of the group. In
 * round k a member sends to the member k places on, so every member receives
 * one block at a time.
 */
static void build_spread(struct bcl_schedule *schedule,
			 const struct bcl_group *group,
			 const struct blocks *blocks, const unsigned char *send,
			 unsigned char *result,
			 const struct bcl_reduction *reduction)
{
	unsigned n = group->size, me = group->me, k;
	size_t mine = bytes_of(blocks, me);
	unsigned char *arrived = bcl_step_scratch(schedule, n * mine), *sum;

	for (k = 1; k < n; k++) {
		unsigned to = (me + k) % n, from = (me + n - k) % n;

		if (bytes_of(blocks, to))
			bcl_step_send(schedule, bcl_group_rank(group, to),
				      send + begin_of(blocks, to),
				      bytes_of(blocks, to));
		if (mine)
			bcl_step_receive(schedule, bcl_group_rank(group, from),
					 arrived + from * mine, mine);
		bcl_step_round(schedule);
	}
	bcl_step_copy(schedule, arrived + me * mine,
		      send + begin_of(blocks, me), mine);
	sum = arrived + (n - 1) * mine;
	for (k = n - 1; k-- > 0;)
		bcl_step_combine(schedule, reduction, arrived + k * mine, sum,
				 mine / blocks->element);
	bcl_step_copy(schedule, result, sum, mine);
	bcl_step_round(schedule);
}

static void build_blocks(struct bcl_schedule *schedule,
			 const struct bcl_group *group,
			 const struct blocks *blocks, const unsigned char *send,
			 unsigned char *result,
			 const struct bcl_reduction *reduction)
{
	if (group->size == 1) {
		bcl_step_copy(schedule, result, send, blocks->length);
		bcl_step_round(schedule);
	} else if (reduction->commutative) {
		build_ring(schedule, group, blocks, send, result, reduction);
	} else {
		build_spread(schedule, group, blocks, send, result, reduction);
	}
}

void bcl_build_reduce_scatter(struct bcl_schedule *schedule,
			      const struct bcl_group *group, const void *send,
			      void *result, size_t length,
			      const struct bcl_reduction *reduction)
{
	const struct blocks blocks = {
		.n = group->size,
		.length = length,
		.element = reduction->element,
	};

	build_blocks(schedule, group, &blocks, send, result, reduction);
}

void bcl_build_reduce_scatterv(struct bcl_schedule *schedule,
			       const struct bcl_group *group, const void *send,
			       void *result, const size_t *begin,
			       const struct bcl_reduction *reduction)
{
	const struct blocks blocks = {
		.n = group->size,
		.length = begin[group->size],
		.element = reduction->element,
		.begin = begin,
	};

	build_blocks(schedule, group, &blocks, send, result, reduction);
}
