/* SPDX-License-Identifier: MIT */
/*
 * Collective operations among the members of a team on one host, through a
 * segment of memory that all of them have mapped.
 *
 * An operation is a sequence of phases. Phases are numbered from 1, and all
 * members take them in the same order, one after the other. In a phase a member
 * writes at most once, into its own flag line or chunk, and reads the data of
 * other members. Only two words are written by several members, of which only
 * the one for sleepers needs a locked instruction. A member that dies damages
 * no other member's memory.
 *
 *   flag line of a member
 *     ready    the phase in which the member last wrote, and how many bytes;
 *              the writer stores it (release) after the data, a reader loads
 *              it (acquire) before it reads the data
 *     done     a phase that the member has left; stored (release) by a
 *              member that does not write, loaded (acquire) by writers
 *     payload  words of short data, for odd and for even phases
 *   slots of a member (slots.h): lines with the number of a phase, a length and
 *     the data, used in turn, for short broadcasts
 *   sleepers (park.h): a word that all members write; a locked instruction
 *     clears it
 *   chunks of a member, used in turn, for longer data. Each chunk has a head in
 *     a line of its own: the kind and the length of the operation
 *   lost (attached.h): a word that members write whose team is lost
 *
 * A reader sees from the flag or the head if a writer gives another length to
 * the operation, and then goes no further. Only beside the flag of a writer
 * that is several phases ahead by now the length is not known any more.
 *
 * A writer in phase p reuses a place of phase p - n, where n is the number of
 * such places, and first waits until all members have left p - n: done >= p - n
 * or ready > p - n. There are more slots and chunks than payloads, to let a
 * writer go on before all members have had a turn on a processor. The root of
 * short broadcasts hears only now and then how far the members are, since the
 * transfer of each such line takes as long as the broadcast itself. No member
 * is more than BCL_NODE_SLOTS phases ahead of another.
 *
 * With two members both flag lines are the halves of one cache line. A member
 * that reads the other's word also fetches the line into which it writes next:
 * one transfer of the line per phase instead of two.
 */
#ifndef BCL_COLLECTIVES_NODE_H
#define BCL_COLLECTIVES_NODE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bcl_env;
struct bcl_flag;
struct bcl_sleepers;
struct bcl_reduction;

enum {
	BCL_NODE_CHUNK_MAX = 16384, /* bytes */
	BCL_NODE_CHUNK_MIN = 4096,
	BCL_NODE_WORDS_MAX = 3,
	BCL_NODE_PAYLOADS = 2,		      /* of a flag line, used in turn */
	BCL_NODE_SLOTS = 16,		      /* of a member, likewise */
	BCL_NODE_CHUNKS_MAX = BCL_NODE_SLOTS, /* of a member, likewise */
	BCL_NODE_CHUNKS_MIN = 4,
	BCL_NODE_SLOT_WORDS = 7,
	BCL_NODE_LINE = 64, /* bytes */
	/* Phases; a flag that says it is this far ahead is not believed. */
	BCL_NODE_AHEAD = 2 * BCL_NODE_SLOTS,
};

struct bcl_node {
	unsigned me, members;
	unsigned stride; /* bytes from flag line to flag line */
	unsigned words;	 /* words of each of the two payloads in a flag line */
	unsigned places; /* chunks of a member, a power of two */
	size_t chunk;	 /* bytes of a chunk */
	unsigned char *flags, *slots, *heads, *chunks;
	struct bcl_flag *mine; /* the own flag line */
	struct bcl_sleepers *sleepers;
	_Atomic uint32_t *lost;	   /* the status of a lost team, or 0 */
	const struct bcl_env *env; /* charged for copies and flags, or NULL */
	uint64_t phase;		   /* the last phase that began here */
	uint64_t written;	   /* the last in which the own member wrote */
	uint64_t left;		   /* `done` of the own flag line */
	uint64_t cast;		   /* the last whose slot the member wrote */
	uint64_t consumed;	   /* all members have left this phase */
	uint32_t kinds;		   /* the kinds in the own flag (flags.h) */
	/* 0, or 1 + the number of a member that gives another length to the
	 * operation than the own member; the operation goes no further. */
	unsigned differs;
	uint64_t theirs;		/* that length; UINT64_MAX: not known */
	uint64_t casts[BCL_NODE_SLOTS]; /* `ready` of the own slots */
};

/* Bytes of a segment for this many members. */
size_t bcl_node_size(unsigned members);

/* memory: the mapped segment, 64-byte aligned and zeroed when it was made. */
void bcl_node_init(struct bcl_node *node, unsigned me, unsigned members,
		   void *memory);

/* The kinds up to BCL_NODE_EXSCAN have the numbers of enum bcl_operation. */
enum bcl_node_kind {
	BCL_NODE_BARRIER,
	BCL_NODE_BROADCAST, /* at the root `receive` is the data to send */
	BCL_NODE_REDUCE,    /* combines in the order of members */
	BCL_NODE_ALLREDUCE, /* each member combines everything */
	BCL_NODE_GATHER,
	BCL_NODE_SCATTER,
	BCL_NODE_ALLGATHER,
	BCL_NODE_ALLTOALL,
	BCL_NODE_REDUCE_SCATTER = BCL_NODE_ALLTOALL + 2,
	BCL_NODE_SCAN,
	BCL_NODE_EXSCAN,
	BCL_NODE_ALLREDUCE_SLICED, /* each combines its share */
	/* A chain: each member combines its own data with the next member's and
	 * hands the result on towards the root. For one of many pieces and
	 * commutative operators. */
	BCL_NODE_REDUCE_CHAIN,
	/* An allgather whose blocks have lengths of their own. `length` is that
	 * of the longest one: each piece is a phase of all members. */
	BCL_NODE_ALLGATHERV,
	/* The same of two members, each of which wants only the block of the
	 * other. A member does not wait for an empty block. */
	BCL_NODE_SWAP,
};

/* An operation and its progress; bcl_node_begin() sets it up. */
struct bcl_node_op {
	enum bcl_node_kind kind;
	unsigned root; /* a member */
	const unsigned char *send;
	unsigned char *receive;
	size_t length; /* bytes of the vector, or of one member's block */
	/* Of an ALLGATHERV and a SWAP: of the members' blocks in `receive`. */
	const size_t *lengths, *offsets;
	const struct bcl_reduction *reduction;

	uint8_t stage;
	unsigned next;	/* 1 + the member to read next */
	uint64_t phase; /* this phase; 0: none has begun */
	size_t offset;	/* bytes of `length` that are done */
	size_t piece;	/* bytes of `length` in this phase */
};

/* send may be the own block in `receive` (in place). */
static inline void bcl_node_begin(struct bcl_node_op *op,
				  enum bcl_node_kind kind, unsigned root,
				  const void *send, void *receive,
				  size_t length,
				  const struct bcl_reduction *reduction)
{
	*op = (struct bcl_node_op){
		.kind = kind,
		.root = root,
		.send = (const unsigned char *)send,
		.receive = (unsigned char *)receive,
		.length = length,
		.reduction = reduction,
	};
}

/* The same for an ALLGATHERV or a SWAP of n members. The arrays stay valid. */
static inline void bcl_node_begin_blocks(struct bcl_node_op *op,
					 enum bcl_node_kind kind,
					 const void *send, void *receive,
					 const size_t *lengths,
					 const size_t *offsets, unsigned n)
{
	size_t longest = 0;
	unsigned i;

	for (i = 0; i < n; i++)
		if (lengths[i] > longest)
			longest = lengths[i];
	bcl_node_begin(op, kind, 0, send, receive, longest, NULL);
	op->lengths = lengths;
	op->offsets = offsets;
}

/* The same operation is to run again. */
static inline void bcl_node_rewind(struct bcl_node_op *op)
{
	const size_t *lengths = op->lengths, *offsets = op->offsets;

	bcl_node_begin(op, op->kind, op->root, op->send, op->receive,
		       op->length, op->reduction);
	op->lengths = lengths;
	op->offsets = offsets;
}

/* Bytes that a member gives to the operation. */
static inline size_t bcl_node_bytes(const struct bcl_node_op *op,
				    unsigned member)
{
	return op->lengths ? op->lengths[member] : op->length;
}

/* True if the segment can do the operation: an element fits into a chunk, or an
 * element for each member if a member writes a block for each. */
bool bcl_node_able(const struct bcl_node *node, enum bcl_node_kind kind,
		   const struct bcl_reduction *reduction);

/* Operations of this kind with fewer bytes than the returned number go through
 * the flag lines or the slots alone (short.h). 0: none do. */
size_t bcl_node_brief(const struct bcl_node *node, enum bcl_node_kind kind);

/* Write the flags and slots of the own member again from private copies,
 * without data: another process of the same user may have overwritten them
 * (transport/shm/audit.h). */
void bcl_node_audit(struct bcl_node *node);

/*
 * Advance the operation as far as possible. Looks at most `polls` times more
 * for data that has not come, and waits no longer. Returns true when the
 * operation is over.
 */
bool bcl_node_advance(struct bcl_node *node, struct bcl_node_op *op,
		      unsigned polls);

#endif
