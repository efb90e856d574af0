/* SPDX-License-Identifier: MIT */
/*
 * Selection of the algorithm for an operation. The first member of a team
 * computes a table from the cost model when the team is made, and sends the
 * table to the other members, since all must choose alike.
 */
#ifndef BCL_COLLECTIVES_SELECT_H
#define BCL_COLLECTIVES_SELECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "card/ops.h"
#include "collectives/calls.h"
#include "collectives/node.h"

struct bcl_call;
struct bcl_config;
struct bcl_schedule;
struct bcl_team;

/* Cost of getting bytes from one member to another. */
struct bcl_cost {
	double message; /* us, of any message */
	double gap;	/* us, of one that closely follows another */
	double byte;	/* us, of each byte */
};

enum {
	BCL_MODEL_FAR = 2,
};

/* The cost model: everything on which the choice depends. */
struct bcl_model {
	unsigned size, nodes;
	unsigned members;	 /* ranks of the largest node */
	bool shares;		 /* one node, with a segment */
	bool attaches;		 /* and the members may attach to all */
	bool contiguous;	 /* see layout.h */
	bool uniform;		 /* all nodes have `members` ranks */
	bool autonomous;	 /* of the card: card/ops.h */
	struct bcl_cost inside;	 /* messages inside a node */
	struct bcl_cost between; /* messages between nodes */
	struct bcl_cost segment; /* a phase; a byte copied */
	/* us until a rank runs again, if ranks outnumber processors */
	double turn;
	double combine; /* us per byte */
	double copy;	/* us per byte, in the cache */
	double eager;	/* bytes; longer messages are announced */
	/* all 0 if the processor does the card's work */
	struct bcl_host_costs card;
	/* us of a byte, if all nodes send at once to the node half of the nodes
	 * on ([0]), a quarter on ([1]). 0: not known, or no more than any other
	 * byte. */
	double across[BCL_MODEL_FAR];
	/* The same for three eighths of the nodes on: in a ring of switches all
	 * bytes go the same way. */
	double around;
	/* The same in the last round of halving and in the round before; [1]:
	 * for switches in a ring (halving_plan.h). */
	double halved[2][BCL_MODEL_FAR];
	/* The same in the first rounds in which a number of nodes that is no
	 * power of two sends round a circle, if these are not the rounds of
	 * `halved`. */
	double circled[BCL_MODEL_FAR];
};

/* The distance of bcl_model.around, in nodes. */
static inline unsigned bcl_model_around(unsigned nodes)
{
	return (3 * nodes + 7) / 8;
}

enum bcl_algorithm_needs {
	BCL_NEEDS_SEGMENT = 1, /* one node, with a segment */
	/* The ranks of each node follow one another, or the operator is
	 * commutative. */
	BCL_NEEDS_CONTIGUOUS = 2,
	BCL_NEEDS_COMMUTATIVE = 4, /* a commutative operator */
	BCL_NEEDS_NODES = 8,	   /* two nodes or more */
	BCL_NEEDS_UNIFORM = 16,	   /* all nodes have the same number of ranks */
	/* Runs everywhere, and pays only where cards are autonomous. */
	BCL_PAYS_AUTONOMOUS = 32,
	/* The ranks of each node follow one another, whatever the operator. */
	BCL_NEEDS_ROWS = 64,
	/* A promise: the brackets and the order of operands depend only on the
	 * number of members, the length, the element and the root, not on the
	 * layout. */
	BCL_FIXED_ORDER = 128,
	/* One node with a segment, and the members may attach to all. */
	BCL_NEEDS_ATTACH = 256,
	BCL_NEEDS_PAIR = 512, /* two members */
};

/* A row of the table of an operation. The rows are constant. cost is
 * mandatory. */
struct bcl_algorithm {
	const char *name;
	unsigned needs;
	/* If build is NULL: the operation inside a node that does it all. */
	enum bcl_node_kind node;
	/*
	 * Adds the steps of *call to an empty schedule, for a team that fits
	 * `needs`; or NULL. The thread that calls the collective operation
	 * builds, without the job's lock. Blocks for nothing, and sends
	 * nothing. The steps refer to the buffers of *call, but *call itself
	 * need not stay. There is no result: for want of memory the steps set
	 * schedule->status, and the schedule does not run.
	 */
	void (*build)(struct bcl_schedule *schedule,
		      const struct bcl_call *call, unsigned parameter);
	/* Only computes: us, for a length in bytes of the vector or of a block.
	 * HUGE_VAL: never choose the algorithm. */
	double (*cost)(const struct bcl_model *model, double length,
		       unsigned parameter);
	/* Passed to build() and cost(), which give it a meaning: messages in
	 * flight, bytes of a piece, a radix, ... Rows that differ by the
	 * parameter alone are one algorithm. */
	unsigned parameter;
};

enum {
	/* Lengths 0, 1, 2, 3, 4, 6, 8, 12, 16, ..., 24 MB, 32 MB: two up to
	 * each power of two. A length between two of them counts as the larger
	 * one. */
	BCL_CHOICE_SIZES = 51,
};

struct bcl_choices {
	/* Index into the operation's algorithms, by operation, by whether the
	 * ranks must be combined in order, and by size. */
	uint8_t algorithm[BCL_OPERATIONS][2][BCL_CHOICE_SIZES];
};

/* The algorithms of each operation; the last has the name NULL. */
extern const struct bcl_algorithm *const bcl_algorithms[BCL_OPERATIONS];

struct bcl_preferences {
	/* The user's choice for each operation and size: 1 + the index into
	 * the operation's algorithms. 0: the cost model chooses. */
	uint8_t algorithm[BCL_OPERATIONS][BCL_CHOICE_SIZES];
	bool fixed; /* BCL_COLL_FIXED */
	bool check; /* BCL_CHECK */
};

/* The figures and the preferences by which a team's algorithms were chosen, the
 * same at all members: for teams that members derive from the team. */
struct bcl_basis {
	struct bcl_model model;
	struct bcl_preferences preferences;
};

/* Typical figures of the hardware, and the shape of the team. */
void bcl_model_init(struct bcl_model *model, const struct bcl_team *team);
/* The figures of a parent, and the shape of the team. The links between the
 * team's nodes count as not known. */
void bcl_model_derive(struct bcl_model *model, const struct bcl_model *parent,
		      const struct bcl_team *team);
/* The rank that stands for all ranks on other nodes than the first: on the node
 * in the middle. If nodes are numbered along the switches, no node is farther
 * away. The team has two nodes or more. */
unsigned bcl_model_far(const struct bcl_team *team);
/* Replace typical figures by figures of a peer on the own node and of one on
 * another node, as far as the team has them and they are known; at the first
 * member. timed: us that a message to bcl_model_far() took; 0: not known. The
 * model may be that of a team of another shape. */
void bcl_model_measure(struct bcl_model *model, struct bcl_team *team,
		       double timed);

/* Can a team of this shape run the algorithm? ordered: with an operator that is
 * not commutative. */
bool bcl_algorithm_fits(const struct bcl_algorithm *algorithm,
			const struct bcl_model *model, bool ordered);

/* us of an operation on this length by the algorithm. HUGE_VAL: never to be
 * chosen in such a team. */
double bcl_algorithm_cost(const struct bcl_algorithm *algorithm,
			  const struct bcl_model *model, double length);

void bcl_choices_init(struct bcl_choices *choices,
		      const struct bcl_model *model);
/* Change the choices of the operations that combine: only algorithms of
 * BCL_FIXED_ORDER, and the same in all teams of `size` members, because the
 * model is that of a typical team. eager: see struct bcl_model. */
void bcl_choices_fix_order(struct bcl_choices *choices, unsigned size,
			   double eager);
/* True if some algorithms of the operation have BCL_FIXED_ORDER. */
bool bcl_operation_combines(enum bcl_operation operation);
/* Print "tree, ring over 65536" and, if the choice for operators that need the
 * order of ranks is different, " (in order: ...)". */
void bcl_choices_print(const struct bcl_choices *choices,
		       enum bcl_operation operation, char *text, size_t size);
/* Appends to a text, as far as `size`, the bytes for all of the text, has room.
 */
void bcl_append(char *text, size_t size, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Finds the operation by its name of so many bytes. BCL_OPERATIONS: there is
 * none. */
enum bcl_operation bcl_operation_find(const char *name, size_t length);
/* Finds the algorithm by its name of so many bytes. NULL: there is none. */
const struct bcl_algorithm *bcl_algorithm_find(enum bcl_operation operation,
					       const char *name, size_t length);
/* Use one algorithm of the operation for all lengths from that of `size` on,
 * wherever the algorithm can run. UNSUPPORTED: the algorithm cannot run in this
 * team. */
enum bcl_status bcl_choices_force(struct bcl_choices *choices,
				  const struct bcl_model *model,
				  enum bcl_operation operation,
				  const struct bcl_algorithm *algorithm,
				  unsigned size);

/*
 * prefer.c: BCL_COLL. check() returns ARG, after a line in the log, if the
 * setting names an operation or an algorithm that does not exist, or a length
 * that is none. Of several algorithms for a length the last one counts. read()
 * takes a checked setting. apply() leaves out an algorithm that this team
 * cannot run, with a line in the log, and the choice stays as it was; so it
 * does, with BCL_COLL_FIXED, with an algorithm whose order of combination is
 * not fixed.
 */
enum bcl_status bcl_preferences_check(const struct bcl_config *config);
/* The same for a list of another source, with which the line in the log
 * begins. read_list() adds the list to the preferences. */
enum bcl_status bcl_preferences_check_list(const struct bcl_config *config,
					   const char *source,
					   const char *list);
void bcl_preferences_read_list(const char *list,
			       struct bcl_preferences *preferences);
void bcl_preferences_read(const struct bcl_config *config,
			  struct bcl_preferences *preferences);
void bcl_preferences_apply(const struct bcl_config *config,
			   const struct bcl_preferences *preferences,
			   const struct bcl_model *model,
			   struct bcl_choices *choices);

/* tuned.c: apply the line of the file BCL_COLL_FILE for the shape of the model,
 * if there is one. Of a file or a line that is wrong only the log hears. */
void bcl_tuned_apply(const struct bcl_config *config,
		     const struct bcl_model *model,
		     struct bcl_choices *choices);

/* The longest length that a choice by `size` serves, and by which the model
 * makes the choice. */
size_t bcl_choice_longest(unsigned size);

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
