/* SPDX-License-Identifier: MIT */
/*
 * The loan of an area of the node's segment (segment.h) to a derived team whose
 * members are all on one node.
 *
 * A team is derived without a message, so its first operations use messages.
 * Before operation BCL_LOAN_AFTER the members begin another operation in the
 * background: the first member takes an area for the team and broadcasts the
 * number of the area, or 0 if none is free. All members begin it at the same
 * place in the order of operations, so it needs no other agreement. Later
 * operations start at once but wait there for the answer, which says for all of
 * them whether they go through the area or by messages. Such an operation has
 * both ways in its schedule, behind a fork (schedule.h). A member that has the
 * answer builds only the one way.
 *
 * The job's lock protects the answer, which the engine takes. All else belongs
 * to the thread of the program that calls the team's functions. The team's
 * choices, too, so they change only when the program calls the next operation
 * after the answer.
 */
#ifndef BCL_COLLECTIVES_LOAN_H
#define BCL_COLLECTIVES_LOAN_H

#include <stdbool.h>

#include "collectives/select.h"

struct bcl_call;
struct bcl_schedule;
struct bcl_team;

enum {
	/* Operations by messages first: a team of few operations does not pay
	 * for the loan. */
	BCL_LOAN_AFTER = 16,
};

enum bcl_loan_answer {
	BCL_LOAN_OPEN,
	BCL_LOAN_GRANTED,
	BCL_LOAN_REFUSED,
};

struct bcl_loan {
	enum bcl_loan_answer answer;
	unsigned area; /* 0: none */
	bool asked;    /* BCL_LOAN_AFTER operations have begun */
	bool settled;  /* the team's choices take the answer into account */
	bool chosen;   /* `choices` is valid */
	/* With the operations inside the node, where these are better than
	 * messages. */
	struct bcl_choices choices;
};

/* Give a derived team its loan, for which nobody has asked yet, if the team can
 * have one. NOMEM. */
enum bcl_status bcl_loan_init(struct bcl_team *team);
/* The team is being freed: leaves the area. */
void bcl_loan_fini(struct bcl_team *team);

/*
 * To be called by the program's thread before an operation that goes by a
 * schedule is built: asks for the area if it is time, and heeds the answer.
 * Lock not held. Returns why the operation cannot begin: a status of
 * bcl_schedule_get(), or NOMEM.
 */
enum bcl_status bcl_loan_heed(struct bcl_team *team);

/* True if a call that is being built may go through an area or not, as the
 * answer will be. *kind: by which operation inside the node. kept: the schedule
 * may begin at a later place in the order of operations. */
bool bcl_loan_may_serve(struct bcl_team *team, const struct bcl_call *call,
			bool kept, enum bcl_node_kind *kind);

#endif
