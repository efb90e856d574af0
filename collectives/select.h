/* SPDX-License-Identifier: MIT */
/*
 * Which algorithm an operation uses. The first member of a team computes a
 * table from the cost model when the team is made, and tells it the others:
 * all must choose alike.
 */
#ifndef BCL_COLLECTIVES_SELECT_H
#define BCL_COLLECTIVES_SELECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collectives/node.h"
#include "transport/card/ops.h"

struct bcl_call;
struct bcl_config;
struct bcl_schedule;
struct bcl_team;

enum bcl_operation {
	BCL_OPERATION_BARRIER,
	BCL_OPERATION_BROADCAST,
	BCL_OPERATION_REDUCE,
	BCL_OPERATION_ALLREDUCE,
	BCL_OPERATION_GATHER,
	BCL_OPERATION_SCATTER,
	BCL_OPERATION_ALLGATHER,
	BCL_OPERATION_ALLTOALL,
	BCL_OPERATION_ALLTOALLV,
	BCL_OPERATIONS
};

/* Cost of getting bytes from one member to another. */
struct bcl_cost {
	double message; /* us, of any message */
	double gap;	/* us, of one that closely follows another */
	double byte;	/* us, of each byte */
};

enum {
	BCL_MODEL_FAR = 2,
};

/* What the choice depends on. */
struct bcl_model {
	unsigned size, nodes;
	unsigned members;	 /* of the largest node */
	bool shares;		 /* one node, with a segment */
	bool contiguous;	 /* layout.h */
	bool uniform;		 /* all nodes have `members` */
	bool autonomous;	 /* the card: transport/card/ops.h */
	struct bcl_cost inside;	 /* messages inside a node */
	struct bcl_cost between; /* and between nodes */
	struct bcl_cost segment; /* a phase; a byte copied */
	double combine;		 /* us per byte */
	double copy;		 /* the same, of what is in the cache */
	double eager;		 /* bytes; longer messages are announced */
	/* None, if each is a part of its host. */
	struct bcl_host_costs card;
	/* us, of a byte that each node sends one half of them on, one quarter
	 * on, if all do at once; 0: not known, or as much as any other. */
	double across[BCL_MODEL_FAR];
	/* The same if they are sent three eighths on: in a ring of switches,
	 * all the same way. */
	double around;
	/* The same in the last round of halving, and in the one before; as if
	 * switches were in a ring (halving_plan.h). */
	double halved[2][BCL_MODEL_FAR];
	/* The same in the first rounds in which a number of nodes that is no
	 * power of two goes round and round, if they are not those. */
	double circled[BCL_MODEL_FAR];
};

/* So many places on. */
static inline unsigned bcl_model_around(unsigned nodes)
{
	return (3 * nodes + 7) / 8;
}

enum bcl_algorithm_needs {
	BCL_NEEDS_SEGMENT = 1, /* one node, with a segment */
	/* Each node's ranks follow one another, or the operator is
	 * commutative. */
	BCL_NEEDS_CONTIGUOUS = 2,
	BCL_NEEDS_COMMUTATIVE = 4, /* operator */
	BCL_NEEDS_NODES = 8,	   /* two or more */
	BCL_NEEDS_UNIFORM = 16,	   /* as many ranks on each */
};

struct bcl_algorithm {
	const char *name;
	unsigned needs;
	/* The operation inside a node that it is (then build is NULL). */
	enum bcl_node_kind node;
	void (*build)(struct bcl_schedule *schedule,
		      const struct bcl_call *call);
	/* us; length: bytes of the vector or of a block */
	double (*cost)(const struct bcl_model *model, double length);
};

enum {
	/* 0, 1, 2, 3, 4, 6, 8, 12, 16, ..., 24 MB, 32 MB: two up to each power
	 * of two. Lengths between are of the next size. */
	BCL_CHOICE_SIZES = 51,
};

struct bcl_choices {
	/* By operation, whether the reduction is not commutative, size. */
	uint8_t algorithm[BCL_OPERATIONS][2][BCL_CHOICE_SIZES];
};

/* NULL-named last. */
extern const struct bcl_algorithm *const bcl_algorithms[BCL_OPERATIONS];
extern const char *const bcl_operation_names[BCL_OPERATIONS];

/* Do cards have processors of their own? transport/card/ops.h: autonomous */
bool bcl_cards_work_alone(const struct bcl_team *team);
/* Figures of the hardware that are typical, with this team's shape. */
void bcl_model_init(struct bcl_model *model, const struct bcl_team *team);
/* The rank that stands for those of other nodes than the first: on the node in
 * the middle, which is as far as any where nodes have their numbers from
 * switches. There is another node. */
unsigned bcl_model_far(const struct bcl_team *team);
/* What peers of the own and of other nodes are like, if any are known; at the
 * first member. timed: us that a message took to bcl_model_far(); 0: that is
 * not known. */
void bcl_model_measure(struct bcl_model *model, struct bcl_team *team,
		       double timed);

/* Can a team of this shape run the algorithm? ordered: with an operator that is
 * not commutative. */
bool bcl_algorithm_fits(const struct bcl_algorithm *algorithm,
			const struct bcl_model *model, bool ordered);

void bcl_choices_init(struct bcl_choices *choices,
		      const struct bcl_model *model);
/* "tree, ring over 65536", and for what needs the order of ranks " (in order:
 * ...)" if it differs. */
void bcl_choices_print(const struct bcl_choices *choices,
		       enum bcl_operation operation, char *text, size_t size);
/* Use one algorithm wherever it can be. ARG: there is none of that name;
 * UNSUPPORTED: not in this team. */
enum bcl_status bcl_choices_force(struct bcl_choices *choices,
				  const struct bcl_model *model,
				  enum bcl_operation operation,
				  const char *name);

/*
 * prefer.c: BCL_COLL. check() returns ARG, after a line in the log, if the
 * setting names an operation or an algorithm that does not exist. apply() takes
 * a checked setting; an algorithm that this team cannot run is left out, with a
 * line in the log, and the cost model's choice stays.
 */
enum bcl_status bcl_preferences_check(const struct bcl_config *config);
void bcl_preferences_apply(const struct bcl_config *config,
			   const struct bcl_model *model,
			   struct bcl_choices *choices);

static inline unsigned bcl_choice_size(size_t length)
{
	size_t last = length - 1;
	unsigned bits, size;

	if (length <= 2)
		return (unsigned)length;
	bits = 63 - (unsigned)__builtin_clzll(last);
	size = 2 * bits + 1 + (last >> (bits - 1) & 1);
	return size < BCL_CHOICE_SIZES ? size : BCL_CHOICE_SIZES - 1;
}

static inline const struct bcl_algorithm *
bcl_choice(const struct bcl_choices *choices, enum bcl_operation operation,
	   bool ordered, size_t length)
{
	unsigned size = bcl_choice_size(length);

	return &bcl_algorithms[operation]
			      [choices->algorithm[operation][ordered][size]];
}

#endif
