/* SPDX-License-Identifier: MIT */
#include "collectives/node.h"

#include <stdatomic.h>
#include <string.h>

#include <bcl/coll.h>

#include "transport/env/relax.h"

enum {
	LINE = 64,
	PAIR = 32, /* bytes of a flag line if two share a cache line */
};

struct flag {
	_Atomic uint64_t ready;
	_Atomic uint64_t done;
	_Atomic uint64_t payload[];
};

static size_t chunk_size(unsigned members)
{
	size_t chunk = (1 << 20) / (2 * members) / LINE * LINE;

	if (chunk > BCL_NODE_CHUNK_MAX)
		return BCL_NODE_CHUNK_MAX;
	return chunk > BCL_NODE_CHUNK_MIN ? chunk : BCL_NODE_CHUNK_MIN;
}

size_t bcl_node_size(unsigned members)
{
	return members * (LINE + 2 * chunk_size(members));
}

void bcl_node_init(struct bcl_node *node, unsigned me, unsigned members,
		   void *memory)
{
	*node = (struct bcl_node){
		.me = me,
		.members = members,
		.stride = members == 2 ? PAIR : LINE,
		.chunk = chunk_size(members),
		.flags = memory,
		.chunks = (unsigned char *)memory + members * LINE,
	};
	node->words =
		(node->stride - sizeof(struct flag)) / sizeof(uint64_t) / 2;
}

static struct flag *flag_of(const struct bcl_node *node, unsigned member)
{
	return (struct flag *)(node->flags + (size_t)member * node->stride);
}

static _Atomic uint64_t *words_of(const struct bcl_node *node,
				  struct flag *flag, uint64_t phase)
{
	return flag->payload + (phase & 1) * node->words;
}

static unsigned char *chunk_of(const struct bcl_node *node,
			       const struct bcl_node_op *op, unsigned member)
{
	return node->chunks +
	       (2 * (size_t)member + (op->phase & 1)) * node->chunk;
}

/* A word is what matters most, and not worth a call. */
static inline void copy(void *to, const void *from, size_t length)
{
	if (length == sizeof(uint64_t))
		memcpy(to, from, sizeof(uint64_t));
	else
		memcpy(to, from, length);
}

/* Pairs with the release stores of say_ready() and say_left(). */
static uint64_t load(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_acquire);
}

static void say_ready(struct bcl_node *node, uint64_t phase)
{
	/* pairs with load() */
	atomic_store_explicit(&flag_of(node, node->me)->ready, phase,
			      memory_order_release);
}

/*
 * Whoever writes says with it that it has left the phase before; so only who
 * does not need say it, and not sooner: it would cost a transfer of the line
 * of its own.
 */
static void say_left(struct bcl_node *node, uint64_t phase)
{
	/* pairs with load() */
	atomic_store_explicit(&flag_of(node, node->me)->done, phase,
			      memory_order_release);
}

/* Has the member written in this phase? */
static bool arrived(const struct bcl_node *node, unsigned member,
		    uint64_t phase, unsigned polls)
{
	const struct flag *flag = flag_of(node, member);

	while (load(&flag->ready) < phase) {
		if (!polls--)
			return false;
		bcl_relax();
	}
	return true;
}

/* Have all members left the phase? */
static bool consumed(struct bcl_node *node, uint64_t phase)
{
	unsigned i;

	if (node->consumed >= phase)
		return true;
	for (i = 0; i < node->members; i++) {
		const struct flag *flag = flag_of(node, i);

		if (i != node->me && load(&flag->done) < phase &&
		    load(&flag->ready) <= phase)
			return false;
	}
	node->consumed = phase;
	return true;
}

/* ---- short operations -----------------------------------------------------
 *
 * One phase through the flag lines. Latency is measured by these, so they are
 * written out instead of going through the machine below.
 */

enum stage {
	BEGIN,	/* an operation */
	SHORT,	/* reading of a short one */
	PIECE,	/* the next piece of a longer one */
	WRITE,	/* a phase: waiting for the place to write to */
	READ,	/* waiting for what op->next writes */
	RESULT, /* the same two of a sliced operation's second phase */
	RESULT_READ,
};

static bool is_short(const struct bcl_node *node, const struct bcl_node_op *op)
{
	return op->kind <= BCL_NODE_ALLGATHER &&
	       op->length <= node->words * sizeof(uint64_t) &&
	       (!op->reduction || op->reduction->element <= sizeof(uint64_t));
}

static unsigned words_in(const struct bcl_node_op *op)
{
	return (unsigned)(op->length + sizeof(uint64_t) - 1) / sizeof(uint64_t);
}

static bool write_short(struct bcl_node *node, struct bcl_node_op *op)
{
	uint64_t phase = node->phase + 1;
	unsigned words = words_in(op), i;
	_Atomic uint64_t *to;

	if (op->kind == BCL_NODE_BROADCAST && node->me != op->root) {
		say_left(node, node->phase);
	} else {
		if (words && phase > 2 && !consumed(node, phase - 2))
			return false;
		to = words_of(node, flag_of(node, node->me), phase);
		if (words)
			copy(op->own, op->send, op->length);
		for (i = 0; i < words; i++)
			atomic_store_explicit(&to[i], op->own[i],
					      memory_order_relaxed);
		say_ready(node, phase);
	}
	node->phase = phase;
	op->phase = phase;
	op->next = node->members;
	op->stage = SHORT;
	return true;
}

static void fetch(const struct bcl_node *node, const struct bcl_node_op *op,
		  unsigned member, uint64_t *to)
{
	_Atomic uint64_t *from =
		words_of(node, flag_of(node, member), op->phase);
	unsigned words = words_in(op), i;

	for (i = 0; i < words; i++)
		to[i] = atomic_load_explicit(&from[i], memory_order_relaxed);
}

/* What a member has written, from the last to the first: `in` is the lower. */
static void take_words(const struct bcl_node *node, struct bcl_node_op *op,
		       unsigned member, const uint64_t *words)
{
	const struct bcl_reduction *reduction = op->reduction;
	size_t length = op->length;

	if (!reduction)
		copy(op->receive + member * length, words, length);
	else if (member == node->members - 1)
		copy(op->sum, words, length);
	else if (length == reduction->element)
		reduction->apply(words, op->sum, 1, reduction->arg);
	else
		reduction->apply(words, op->sum, length / reduction->element,
				 reduction->arg);
}

static bool read_short(struct bcl_node *node, struct bcl_node_op *op,
		       unsigned polls)
{
	uint64_t words[BCL_NODE_WORDS_MAX];
	bool mine;

	switch (op->kind) {
	case BCL_NODE_BROADCAST:
		if (node->me == op->root)
			return true;
		if (!arrived(node, op->root, op->phase, polls))
			return false;
		fetch(node, op, op->root, words);
		if (op->length)
			copy(op->receive, words, op->length);
		return true;
	case BCL_NODE_REDUCE:
	case BCL_NODE_GATHER:
		if (node->me != op->root)
			return true;
		break;
	default:
		break;
	}
	for (; op->next > 0; op->next--) {
		mine = op->next - 1 == node->me;
		if (!mine && !arrived(node, op->next - 1, op->phase, polls))
			return false;
		if (!op->length)
			continue;
		if (!mine)
			fetch(node, op, op->next - 1, words);
		take_words(node, op, op->next - 1, mine ? op->own : words);
	}
	if (op->reduction)
		copy(op->receive, op->sum, op->length);
	/* Whoever has written in this phase had left the one before. */
	node->consumed = op->phase - 1;
	return true;
}

/* ---- what the kinds differ in ------------------------------------------ */

enum who {
	NOBODY,
	ROOT,
	OTHERS,
	ALL,
};

static bool is(enum who who, const struct bcl_node_op *op, unsigned member)
{
	return who == ALL || (who == ROOT && member == op->root) ||
	       (who == OTHERS && member != op->root);
}

struct kind {
	enum who writes;
	enum who reads;
	enum who from; /* whom the readers read; not themselves, but `self` */
	bool fan;      /* a writer has a block for each member */
	bool self;     /* the own contribution is read from its place, too */
	/* Put the piece at op->offset into its place. */
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

static void combine(const struct bcl_node *node, const struct bcl_node_op *op,
		    unsigned member, const unsigned char *place,
		    unsigned char *result, size_t length)
{
	const struct bcl_reduction *reduction = op->reduction;

	/* Members are read from the last to the first: `in` is the lower. */
	if (member == node->members - 1)
		memcpy(result, place, length);
	else
		reduction->apply(place, result, length / reduction->element,
				 reduction->arg);
}

static void read_combine(const struct bcl_node *node,
			 const struct bcl_node_op *op, unsigned member,
			 const unsigned char *place)
{
	combine(node, op, member, place, op->receive + op->offset, op->piece);
}

/* A member's share of a piece: where it begins, in whole elements. */
static size_t share(const struct bcl_node *node, const struct bcl_node_op *op,
		    unsigned member)
{
	size_t count = op->piece / op->reduction->element;

	return count * member / node->members * op->reduction->element;
}

static void read_share(const struct bcl_node *node,
		       const struct bcl_node_op *op, unsigned member,
		       const unsigned char *place)
{
	size_t begin = share(node, op, node->me);
	size_t end = share(node, op, node->me + 1);

	combine(node, op, member, place + begin,
		op->receive + op->offset + begin, end - begin);
}

/* The second phase of each piece of a sliced operation. */
static void write_result(const struct bcl_node *node,
			 const struct bcl_node_op *op, unsigned char *place)
{
	size_t begin = share(node, op, node->me);
	size_t end = share(node, op, node->me + 1);

	memcpy(place, op->receive + op->offset + begin, end - begin);
}

static void read_result(const struct bcl_node *node,
			const struct bcl_node_op *op, unsigned member,
			const unsigned char *place)
{
	size_t begin = share(node, op, member);
	size_t end = share(node, op, member + 1);

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

static void write_blocks(const struct bcl_node *node,
			 const struct bcl_node_op *op, unsigned char *place)
{
	unsigned i;

	for (i = 0; i < node->members; i++)
		if (i != node->me)
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

static const struct kind kinds[] = {
	[BCL_NODE_BROADCAST] = { ROOT, OTHERS, ROOT, false, false, write_vector,
				 read_vector },
	[BCL_NODE_REDUCE] = { ALL, ROOT, ALL, false, true, write_vector,
			      read_combine },
	[BCL_NODE_ALLREDUCE] = { ALL, ALL, ALL, false, true, write_vector,
				 read_combine },
	[BCL_NODE_ALLREDUCE_SLICED] = { ALL, ALL, ALL, false, true,
					write_vector, read_share },
	[BCL_NODE_GATHER] = { OTHERS, ROOT, OTHERS, false, false, write_vector,
			      read_block },
	[BCL_NODE_SCATTER] = { ROOT, OTHERS, ROOT, true, false, write_blocks,
			       read_mine },
	[BCL_NODE_ALLGATHER] = { ALL, ALL, ALL, false, false, write_vector,
				 read_block },
	[BCL_NODE_ALLTOALL] = { ALL, ALL, ALL, true, false, write_blocks,
				read_mine_from },
};

static const struct kind result_phase = { ALL,	      ALL,   ALL,
					  false,      false, write_result,
					  read_result };

/* ---- the machine -------------------------------------------------------- */

bool bcl_node_able(const struct bcl_node *node,
		   const struct bcl_reduction *reduction)
{
	return !reduction || reduction->element <= node->chunk;
}

/* The own block, which goes through no other's memory. */
static void move_own(const struct bcl_node *node, const struct bcl_node_op *op)
{
	const unsigned char *from = op->send;
	unsigned char *to = op->receive;
	size_t own = node->me * op->length;

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
	default:
		return;
	}
	if (op->length && from != to)
		memcpy(to, from, op->length);
}

/* How much of the operation goes into the next phase, and where. */
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
	if (!is(kind->writes, op, node->me))
		say_left(node, node->phase);
	op->phase = ++node->phase;
	op->next = node->members;
	op->stage = stage;
}

static bool write_piece(struct bcl_node *node, struct bcl_node_op *op,
			const struct kind *kind)
{
	if (!is(kind->writes, op, node->me))
		return true;
	if (op->phase > 2 && !consumed(node, op->phase - 2))
		return false;
	kind->write(node, op, chunk_of(node, op, node->me));
	say_ready(node, op->phase);
	return true;
}

static bool read_pieces(struct bcl_node *node, struct bcl_node_op *op,
			const struct kind *kind, unsigned polls)
{
	if (!is(kind->reads, op, node->me))
		return true;
	for (; op->next > 0; op->next--) {
		unsigned member = op->next - 1;
		bool mine = member == node->me;

		if (!is(kind->from, op, member) || (mine && !kind->self))
			continue;
		if (!mine && !arrived(node, member, op->phase, polls))
			return false;
		kind->read(node, op, member, chunk_of(node, op, member));
	}
	if (kind->from != ROOT)
		node->consumed = op->phase - 1;
	return true;
}

bool bcl_node_advance(struct bcl_node *node, struct bcl_node_op *op,
		      unsigned polls)
{
	const struct kind *kind = &kinds[op->kind];

	for (;;) {
		switch ((enum stage)op->stage) {
		case SHORT:
			return read_short(node, op, polls);
		case BEGIN:
			if (is_short(node, op))
				return write_short(node, op) &&
				       read_short(node, op, polls);
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
