/* SPDX-License-Identifier: MIT */
/*
 * Collective operations through the segment of a node, for data of any length.
 * A table describes each kind of operation by the members that write and read;
 * a small state machine carries an operation through its phases. See node.h for
 * the layout of the segment, short.h for short operations.
 */
#include "collectives/node.h"

#include <string.h>

#include <bcl/coll.h>

#include "base/base.h"
#include "collectives/park.h"
#include "collectives/short.h"
#include "env/charge.h"
#include "env/env.h"

enum {
	LINE = BCL_NODE_LINE,
	ALL_CHUNKS = 1 << 20, /* bytes, unless there are very many members */
	PAIR = 32, /* bytes of a flag line if two lines share a cache line */
	SLOTS = BCL_NODE_SLOTS * sizeof(struct bcl_node_slot), /* of a member */
};

static size_t chunk_size(unsigned members)
{
	size_t chunk = ALL_CHUNKS / (BCL_NODE_CHUNKS_MIN * members) /
		       (2 * LINE) * (2 * LINE);

	if (chunk > BCL_NODE_CHUNK_MAX)
		return BCL_NODE_CHUNK_MAX;
	return chunk > BCL_NODE_CHUNK_MIN ? chunk : BCL_NODE_CHUNK_MIN;
}

/* Chunks of a member. */
static unsigned chunk_count(unsigned members)
{
	unsigned places = BCL_NODE_CHUNKS_MAX;

	while (places > BCL_NODE_CHUNKS_MIN &&
	       members * places * chunk_size(members) > ALL_CHUNKS)
		places /= 2;
	return places;
}

/* Bytes of the lines with struct bcl_sleepers. */
static size_t sleepers_size(unsigned members)
{
	size_t size = sizeof(struct bcl_sleepers) + members * sizeof(uint32_t);

	return (size + LINE - 1) / LINE * LINE;
}

size_t bcl_node_size(unsigned members)
{
	size_t chunks = chunk_count(members) * (LINE + chunk_size(members));

	return members * (LINE + SLOTS + chunks) + sleepers_size(members) +
	       LINE;
}

void bcl_node_init(struct bcl_node *node, unsigned me, unsigned members,
		   void *memory)
{
	unsigned char *sleepers = (unsigned char *)memory + members * LINE;
	unsigned char *slots = sleepers + sleepers_size(members);
	unsigned char *heads = slots + (size_t)members * SLOTS;
	size_t places = chunk_count(members), chunk = chunk_size(members);
	unsigned char *chunks = heads + members * places * LINE;
	unsigned char *lost = chunks + members * places * chunk;

	*node = (struct bcl_node){
		.me = me,
		.members = members,
		.stride = members == 2 ? PAIR : LINE,
		.places = (unsigned)places,
		.chunk = chunk,
		.flags = memory,
		.sleepers = (struct bcl_sleepers *)sleepers,
		.slots = slots,
		.heads = heads,
		.chunks = chunks,
		.lost = (_Atomic uint32_t *)lost,
	};
	node->mine = bcl_flag_of(node, me);
	node->words =
		(node->stride - sizeof(struct bcl_flag)) / sizeof(uint64_t) / 2;
}

static unsigned char *chunk_of(const struct bcl_node *node,
			       const struct bcl_node_op *op, unsigned member)
{
	return node->chunks +
	       bcl_chunk_number(node, member, op->phase) * node->chunk;
}

enum stage {
	BEGIN,	/* an operation begins */
	PIECE,	/* the next piece of a longer operation */
	WRITE,	/* a phase: waits for a free place to write */
	READ,	/* waits for the data of member op->next - 1 */
	RESULT, /* WRITE and READ of a sliced operation's second phase */
	RESULT_READ,
};

static bool is_short(const struct bcl_node *node, const struct bcl_node_op *op)
{
	return op->length < bcl_node_brief(node, op->kind) &&
	       bcl_short_reduces(op->reduction);
}

/* ---- the differences between the kinds ---------------------------------- */

enum who {
	NOBODY,
	ROOT,
	OTHERS,
	ALL,
	NEXT, /* next of the own member, in a chain to the root */
	DOWN, /* the own member and those before it */
};

static unsigned next_of(const struct bcl_node *node)
{
	return node->me + 1 < node->members ? node->me + 1 : 0;
}

static bool is_among(const struct bcl_node *node, const struct bcl_node_op *op,
		     enum who who, unsigned member)
{
	return who == ALL || (who == ROOT && member == op->root) ||
	       (who == OTHERS && member != op->root) ||
	       (who == NEXT && member == next_of(node)) ||
	       (who == DOWN && member <= node->me);
}

struct kind {
	enum who writes;
	enum who reads;
	enum who from; /* members that are read, without `self` not the own */
	bool fan;      /* a writer has a block for each member */
	bool self;     /* the own data is read from its place, too */
	bool shares;   /* a reader takes only its share of a piece */
	/* Copy the piece at op->offset into its place. */
	void (*write)(const struct bcl_node *node, const struct bcl_node_op *op,
		      unsigned char *place);
	/* Take a member's piece out of its place. */
	void (*read)(const struct bcl_node *node, const struct bcl_node_op *op,
		     unsigned member, const unsigned char *place);
};

static void write_vector(const struct bcl_node *node,
			 const struct bcl_node_op *op, unsigned char *place)
{
	(void)node;
	memcpy(place, op->send + op->offset, op->piece);
}

static void read_vector(const struct bcl_node *node,
			const struct bcl_node_op *op, unsigned member,
			const unsigned char *place)
{
	(void)node;
	(void)member;
	memcpy(op->receive + op->offset, place, op->piece);
}

static void combine_member(const struct bcl_node *node,
			   const struct bcl_node_op *op, unsigned member,
			   const unsigned char *place, unsigned char *result,
			   size_t length)
{
	const struct bcl_reduction *reduction = op->reduction;

	/* Members are read from the last to the first: `in` is the lower. */
	if (member + 1 == bcl_short_combined(node, op))
		memcpy(result, place, length);
	else
		reduction->apply(place, result, length / reduction->element,
				 reduction->arg);
}

static void read_combine(const struct bcl_node *node,
			 const struct bcl_node_op *op, unsigned member,
			 const unsigned char *place)
{
	combine_member(node, op, member, place, op->receive + op->offset,
		       op->piece);
}

/* The own piece combined with the result of the chain so far. */
static void link_chain(const struct bcl_node *node,
		       const struct bcl_node_op *op, unsigned char *result)
{
	const struct bcl_reduction *reduction = op->reduction;

	memmove(result, op->send + op->offset, op->piece);
	reduction->apply(chunk_of(node, op, next_of(node)), result,
			 op->piece / reduction->element, reduction->arg);
}

static void write_chain(const struct bcl_node *node,
			const struct bcl_node_op *op, unsigned char *place)
{
	if (next_of(node) == op->root) /* the chain begins here */
		write_vector(node, op, place);
	else
		link_chain(node, op, place);
}

static void read_chain(const struct bcl_node *node,
		       const struct bcl_node_op *op, unsigned member,
		       const unsigned char *place)
{
	(void)member;
	(void)place;
	link_chain(node, op, op->receive + op->offset);
}

/* The offset in a piece of a member's share; whole elements. */
static size_t share_offset(const struct bcl_node *node,
			   const struct bcl_node_op *op, unsigned member)
{
	size_t count = op->piece / op->reduction->element;

	return count * member / node->members * op->reduction->element;
}

static void read_share(const struct bcl_node *node,
		       const struct bcl_node_op *op, unsigned member,
		       const unsigned char *place)
{
	size_t begin = share_offset(node, op, node->me);
	size_t end = share_offset(node, op, node->me + 1);

	combine_member(node, op, member, place + begin,
		       op->receive + op->offset + begin, end - begin);
}

/* The second phase of each piece of a sliced operation. */
static void write_result(const struct bcl_node *node,
			 const struct bcl_node_op *op, unsigned char *place)
{
	size_t begin = share_offset(node, op, node->me);
	size_t end = share_offset(node, op, node->me + 1);

	memcpy(place, op->receive + op->offset + begin, end - begin);
}

static void read_result(const struct bcl_node *node,
			const struct bcl_node_op *op, unsigned member,
			const unsigned char *place)
{
	size_t begin = share_offset(node, op, member);
	size_t end = share_offset(node, op, member + 1);

	memcpy(op->receive + op->offset + begin, place, end - begin);
}

static void read_block(const struct bcl_node *node,
		       const struct bcl_node_op *op, unsigned member,
		       const unsigned char *place)
{
	(void)node;
	memcpy(op->receive + member * op->length + op->offset, place,
	       op->piece);
}

/* The bytes of a member's block that are in this piece. */
static size_t part_of(const struct bcl_node_op *op, unsigned member)
{
	size_t length = op->lengths[member];

	return length > op->offset
		       ? bcl_min_size(length - op->offset, op->piece)
		       : 0;
}

static void write_part(const struct bcl_node *node,
		       const struct bcl_node_op *op, unsigned char *place)
{
	size_t length = part_of(op, node->me);

	if (length)
		memcpy(place, op->send + op->offset, length);
}

static void read_part(const struct bcl_node *node, const struct bcl_node_op *op,
		      unsigned member, const unsigned char *place)
{
	size_t length = part_of(op, member);

	(void)node;
	if (length)
		memcpy(op->receive + op->offsets[member] + op->offset, place,
		       length);
}

static void write_blocks(const struct bcl_node *node,
			 const struct bcl_node_op *op, unsigned char *place)
{
	unsigned i;

	/* in place, the result goes where the own block may be */
	for (i = 0; i < node->members; i++)
		if (i != node->me || op->reduction)
			memcpy(place + i * op->piece,
			       op->send + i * op->length + op->offset,
			       op->piece);
}

static void read_mine(const struct bcl_node *node, const struct bcl_node_op *op,
		      unsigned member, const unsigned char *place)
{
	(void)member;
	memcpy(op->receive + op->offset, place + node->me * op->piece,
	       op->piece);
}

static void read_mine_from(const struct bcl_node *node,
			   const struct bcl_node_op *op, unsigned member,
			   const unsigned char *place)
{
	memcpy(op->receive + member * op->length + op->offset,
	       place + node->me * op->piece, op->piece);
}

static void combine_mine(const struct bcl_node *node,
			 const struct bcl_node_op *op, unsigned member,
			 const unsigned char *place)
{
	read_combine(node, op, member, place + node->me * op->piece);
}

static const struct kind kinds[] = {
	[BCL_NODE_BROADCAST] = { ROOT, OTHERS, ROOT, false, false, false,
				 write_vector, read_vector },
	[BCL_NODE_REDUCE] = { ALL, ROOT, ALL, false, true, false, write_vector,
			      read_combine },
	[BCL_NODE_ALLREDUCE] = { ALL, ALL, ALL, false, true, false,
				 write_vector, read_combine },
	[BCL_NODE_ALLREDUCE_SLICED] = { ALL, ALL, ALL, false, true, true,
					write_vector, read_share },
	[BCL_NODE_GATHER] = { OTHERS, ROOT, OTHERS, false, false, false,
			      write_vector, read_block },
	[BCL_NODE_SCATTER] = { ROOT, OTHERS, ROOT, true, false, false,
			       write_blocks, read_mine },
	[BCL_NODE_ALLGATHER] = { ALL, ALL, ALL, false, false, false,
				 write_vector, read_block },
	[BCL_NODE_ALLTOALL] = { ALL, ALL, ALL, true, false, false, write_blocks,
				read_mine_from },
	[BCL_NODE_REDUCE_SCATTER] = { ALL, ALL, ALL, true, true, false,
				      write_blocks, combine_mine },
	[BCL_NODE_SCAN] = { ALL, ALL, DOWN, false, true, false, write_vector,
			    read_combine },
	[BCL_NODE_EXSCAN] = { ALL, ALL, DOWN, false, false, false, write_vector,
			      read_combine },
	[BCL_NODE_REDUCE_CHAIN] = { OTHERS, ROOT, NEXT, false, false, false,
				    write_chain, read_chain },
	[BCL_NODE_ALLGATHERV] = { ALL, ALL, ALL, false, false, false,
				  write_part, read_part },
	[BCL_NODE_SWAP] = { ALL, ALL, ALL, false, false, false, write_part,
			    read_part },
};

static const struct kind result_phase = {
	ALL, ALL, ALL, false, false, true, write_result, read_result
};

size_t bcl_node_brief(const struct bcl_node *node, enum bcl_node_kind kind)
{
	/* With a block for each member a line has room only if there are
	 * two members, for one block. */
	if (kind == BCL_NODE_ALLREDUCE_SLICED ||
	    kind == BCL_NODE_REDUCE_CHAIN ||
	    (kinds[kind].fan && node->members > 2))
		return 0;
	if (kind == BCL_NODE_BROADCAST || kind == BCL_NODE_SCATTER)
		return BCL_NODE_SLOT_WORDS * sizeof(uint64_t) + 1;
	return node->words * sizeof(uint64_t) + 1;
}

/* ---- the state machine -------------------------------------------------- */

bool bcl_node_able(const struct bcl_node *node, enum bcl_node_kind kind,
		   const struct bcl_reduction *reduction)
{
	size_t most = node->chunk / (kinds[kind].fan ? node->members : 1);

	return !reduction || reduction->element <= most;
}

/* Move the own block, which does not go through the segment. */
static void move_own(const struct bcl_node *node, const struct bcl_node_op *op)
{
	const unsigned char *from = op->send;
	unsigned char *to = op->receive;
	size_t own = node->me * op->length, length = op->length;

	switch (op->kind) {
	case BCL_NODE_GATHER:
		if (node->me != op->root)
			return;
		to += own;
		break;
	case BCL_NODE_SCATTER:
		if (node->me != op->root)
			return;
		from += own;
		break;
	case BCL_NODE_ALLGATHER:
		to += own;
		break;
	case BCL_NODE_ALLTOALL:
		from += own;
		to += own;
		break;
	case BCL_NODE_ALLGATHERV:
		length = op->lengths[node->me];
		if (length)
			to += op->offsets[node->me];
		break;
	default:
		return;
	}
	if (length && from != to)
		memcpy(to, from, length);
}

/* The part of the operation for the next phase. */
static void cut_piece(const struct bcl_node *node, struct bcl_node_op *op,
		      const struct kind *kind)
{
	const struct bcl_reduction *reduction = op->reduction;
	size_t left = op->length - op->offset;
	size_t blocks = kind->fan ? node->members : 1, most;

	op->piece = left;
	if (left * blocks <= node->chunk)
		return;
	most = node->chunk / blocks;
	if (reduction)
		most = most / reduction->element * reduction->element;
	else if (most > LINE)
		most = most / LINE * LINE;
	if (most < left)
		op->piece = most;
}

static void begin_phase(struct bcl_node *node, struct bcl_node_op *op,
			const struct kind *kind, enum stage stage)
{
	if (!is_among(node, op, kind->writes, node->me))
		bcl_flag_only_read(node);
	op->phase = ++node->phase;
	op->next = node->members;
	op->stage = stage;
}

/* Charge for bytes of a piece that this member has copied. */
static void charge(const struct bcl_node *node, size_t bytes)
{
	if (node->env && node->env->charge)
		node->env->charge->copy(node->env->world, bytes);
}

/* Tell the environment of a flag, so that the members that wait for it see it
 * before the own member has read its own data. */
static void tell_environment(const struct bcl_node *node)
{
	if (node->env && node->env->charge)
		node->env->charge->flag(node->env->world);
}

/* True if the member has written its part of this phase's piece. */
static bool has_come(struct bcl_node *node, const struct bcl_node_op *op,
		     unsigned member, unsigned polls)
{
	if (!bcl_flag_arrived(node, member, op->phase, polls))
		return false;
	if (atomic_load_explicit(bcl_head_of(node, member, op->phase),
				 memory_order_relaxed) ==
	    bcl_head(op->phase, op->kind, bcl_node_bytes(op, member)))
		return true;
	bcl_flag_differ(node, member, op->phase);
	return false;
}

static bool write_piece(struct bcl_node *node, struct bcl_node_op *op,
			const struct kind *kind)
{
	if (!is_among(node, op, kind->writes, node->me))
		return true;
	if (!bcl_flag_free(node, op->phase, node->places))
		return false;
	if (kind->from == NEXT && next_of(node) != op->root &&
	    !has_come(node, op, next_of(node), 0)) {
		/* the next member's place may be free once it hears this */
		bcl_flag_left(node, op->phase - 1);
		return false;
	}
	kind->write(node, op, chunk_of(node, op, node->me));
	charge(node, op->piece * (kind->fan ? node->members - !kind->self : 1));
	/* before the flag, like the data in the chunk */
	atomic_store_explicit(
		bcl_head_of(node, node->me, op->phase),
		bcl_head(op->phase, op->kind, bcl_node_bytes(op, node->me)),
		memory_order_relaxed);
	bcl_flag_ready(node, op->phase, BCL_FLAG_CHUNK);
	tell_environment(node);
	return true;
}

static bool read_pieces(struct bcl_node *node, struct bcl_node_op *op,
			const struct kind *kind, unsigned polls)
{
	if (!is_among(node, op, kind->reads, node->me) ||
	    (op->kind == BCL_NODE_SWAP && !part_of(op, !node->me)))
		return true;
	for (; op->next > 0; op->next--) {
		unsigned member = op->next - 1;
		bool mine = member == node->me;

		if (!is_among(node, op, kind->from, member) ||
		    (mine && !kind->self))
			continue;
		if (!mine && !has_come(node, op, member, polls))
			return false;
		kind->read(node, op, member, chunk_of(node, op, member));
		charge(node,
		       kind->shares ? op->piece / node->members : op->piece);
	}
	if (kind->from == ALL || kind->from == OTHERS)
		node->consumed = op->phase - 1;
	return true;
}

void bcl_node_audit(struct bcl_node *node)
{
	for (unsigned i = 0; i < BCL_NODE_SLOTS; i++) {
		struct bcl_node_slot *slot = bcl_slot_of(node, node->me, i);

		/* pairs with bcl_flag_load() */
		atomic_store_explicit(&slot->ready, node->casts[i],
				      memory_order_release);
	}
	/* pairs with bcl_flag_load() */
	atomic_store_explicit(&node->mine->ready,
			      node->written << BCL_FLAG_KINDS | node->kinds,
			      memory_order_release);
	atomic_store_explicit(&node->mine->done, node->left,
			      memory_order_release);
}

bool bcl_node_advance(struct bcl_node *node, struct bcl_node_op *op,
		      unsigned polls)
{
	const struct kind *kind = &kinds[op->kind];

	for (;;) {
		switch ((enum stage)op->stage) {
		case BEGIN:
			if (is_short(node, op))
				return bcl_short_advance(node, op, polls);
			move_own(node, op);
			/* fall through */
		case PIECE:
			cut_piece(node, op, kind);
			begin_phase(node, op, kind, WRITE);
			/* fall through */
		case WRITE:
			if (!write_piece(node, op, kind))
				return false;
			op->stage = READ;
			/* fall through */
		case READ:
			if (!read_pieces(node, op, kind, polls))
				return false;
			if (op->kind != BCL_NODE_ALLREDUCE_SLICED)
				break;
			begin_phase(node, op, &result_phase, RESULT);
			/* fall through */
		case RESULT:
			if (!write_piece(node, op, &result_phase))
				return false;
			op->stage = RESULT_READ;
			/* fall through */
		case RESULT_READ:
			if (!read_pieces(node, op, &result_phase, polls))
				return false;
			break;
		}
		op->offset += op->piece;
		if (op->offset >= op->length)
			return true;
		op->stage = PIECE;
	}
}
