/* SPDX-License-Identifier: MIT */
/*
 * Collective operations among a team's members on one host, through a segment
 * of memory that all of them have mapped.
 *
 * An operation is a sequence of phases. Phases are numbered from 1 and taken
 * in the same order by all members, one after the other. In a phase a member
 * writes at most once, into its own flag line or chunk, and reads what others
 * wrote. Nothing but who sleeps is ever written by two members, so there is no
 * locked instruction, and a dead member harms nobody's memory.
 *
 *  flag line of a member
 *   ready    phase in which it last wrote, and how many bytes; stored
 *            (release) after what it wrote, loaded (acquire) by readers before
 *            they read
 *   done     a phase that it has left; stored (release) where it does not
 *            write, loaded (acquire) by writers
 *   payload  words, for odd and even phases, of what is short
 *  slots of a member (slots.h): lines with a phase's number, its length and its
 *  data, used in turn, for short broadcasts
 *  sleepers (park.h): all write one word of it, with locked instructions
 *  chunks of a member: two, for odd and even phases, for what is longer; what
 *  leaves room for as much again is in the two halves of each in turn. For each
 *  half there is a line with a head: which operation it is, of what length
 *
 * So a reader sees if who writes gives another length to the operation, and
 * goes no further; only of what lies beside the flag of a writer that is
 * several phases ahead by now the length is not known any more.
 *
 * A writer of phase p reuses the place of p - 2, so it waits until all have
 * left p - 2: done >= p - 2 or ready >= p - 1; with halves of chunks that is
 * p - 4, unless a whole chunk was written since p - 2. Slots are more, so that
 * a root need not wait until all had their turn on a processor; it hears now
 * and then only where the others are, since each such line takes as long as the
 * broadcast itself. Nobody is more than BCL_NODE_SLOTS phases ahead of another.
 *
 * With two members both flag lines are the halves of one cache line: reading
 * the other's word fetches the line for writing one's own, which costs one
 * transfer of the line per phase instead of two.
 */
#ifndef BCL_COLLECTIVES_NODE_H
#define BCL_COLLECTIVES_NODE_H

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
	BCL_NODE_PLACES = 2, /* of a payload or a chunk, used in turn */
	BCL_NODE_HALVES = 4, /* of chunks, likewise */
	BCL_NODE_SLOTS = 16, /* of a member, used in turn */
	BCL_NODE_SLOT_WORDS = 7,
	BCL_NODE_LINE = 64, /* bytes */
	/* Phases: what says that it is further ahead is not believed. */
	BCL_NODE_AHEAD = 2 * BCL_NODE_SLOTS,
};

struct bcl_node {
	unsigned me, members;
	unsigned stride; /* bytes from flag line to flag line */
	unsigned words;	 /* of each of the two payloads in a flag line */
	size_t chunk;	 /* bytes of a chunk */
	unsigned char *flags, *slots, *heads, *chunks;
	struct bcl_flag *mine; /* the own flag line */
	struct bcl_sleepers *sleepers;
	const struct bcl_env *env; /* NULL: copying takes its own time */
	uint64_t phase;		   /* the last that was begun here */
	uint64_t written;	   /* the last in which the own member wrote */
	uint64_t left;		   /* what its flag line says in `done` */
	uint64_t cast;		   /* the last whose slot it wrote */
	uint64_t whole;		   /* the last in which it filled a chunk */
	uint64_t consumed;	   /* all are known to have left this phase */
	uint32_t kinds;		   /* what its flag says beside the phase */
	/* 0, or one more than the member that has given another length to the
	 * operation than the own one, which goes no further. */
	unsigned differs;
	uint64_t theirs; /* that length; UINT64_MAX: it is not known */
	uint64_t casts[BCL_NODE_SLOTS]; /* what the own slots say in `ready` */
};

/* Bytes of the segment for so many members. */
size_t bcl_node_size(unsigned members);

/* memory: zeroed once, then the segment, mapped; 64-byte aligned. */
void bcl_node_init(struct bcl_node *node, unsigned me, unsigned members,
		   void *memory);

/* The first in the order of enum bcl_operation. */
enum bcl_node_kind {
	BCL_NODE_BARRIER,
	BCL_NODE_BROADCAST, /* receive at the root is what it sends */
	BCL_NODE_REDUCE,    /* in member order */
	BCL_NODE_ALLREDUCE, /* everyone combines everything */
	BCL_NODE_GATHER,
	BCL_NODE_SCATTER,
	BCL_NODE_ALLGATHER,
	BCL_NODE_ALLTOALL,
	BCL_NODE_ALLREDUCE_SLICED, /* everyone combines its share */
	/* Each combines its own with the next one's and hands it on to the
	 * root: for one of many pieces. Commutative operators. */
	BCL_NODE_REDUCE_CHAIN,
};

/* One operation and how far it is: bcl_node_begin() sets it up. */
struct bcl_node_op {
	enum bcl_node_kind kind;
	unsigned root; /* member */
	const unsigned char *send;
	unsigned char *receive;
	size_t length; /* bytes: of the vector, or of one member's block */
	const struct bcl_reduction *reduction;

	uint8_t stage;
	unsigned next;	/* the member to read next */
	uint64_t phase; /* this phase; 0: none has begun */
	size_t offset;	/* bytes of the length that are over */
	size_t piece;	/* bytes of it in this phase */
	bool half;	/* of a chunk is enough for them */
};

/* send may be where receive puts the own block (in place). */
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

/* Can it run at all: an element fits into a chunk. */
bool bcl_node_able(const struct bcl_node *node,
		   const struct bcl_reduction *reduction);

/* Operations with less than so many bytes go through the flag lines (short.h);
 * 0: never. */
size_t bcl_node_brief(const struct bcl_node *node, enum bcl_node_kind kind);

/* Write again what the own member alone writes, but data: another process of
 * the same user may have written there (transport/shm/audit.h). */
void bcl_node_audit(struct bcl_node *node);

/*
 * Go on as far as possible; true when it is over. Looks at most `polls` times
 * more for what has not come, and never waits longer.
 */
bool bcl_node_advance(struct bcl_node *node, struct bcl_node_op *op,
		      unsigned polls);

#endif
