/* SPDX-License-Identifier: MIT */
/*
 * Operations of frozen groups in which all members have the glue. The
 * operations are those of <bcl/coll.h>, their messages are carried from task to
 * task.
 *
 * Before a member freezes a group it puts an entry into PVM's mailbox to say
 * that it has the glue. The freeze waits for all members; after it each member
 * reads the mailbox. Then all members agree by a barrier of the glue that they
 * could set the group up. Messages of operations are matched here, before
 * libpvm.
 *
 * A group may be left and frozen again under the same name. So messages name
 * the group by its leader, the member with instance 0, and by the leader's
 * serial number of this freeze, from the leader's mailbox entry.
 */
#ifndef BCL_PVM_GROUP_H
#define BCL_PVM_GROUP_H

#include <bcl/coll.h>

#include "pvm-glue/glue.h"

struct group {
	struct group *next;
	char *name;
	struct bcl_carrier *carrier;
	struct pmsg *farewell; /* made first, as it must not fail for want of
				  memory: GROUP_GONE */
	int leader;
	int serial; /* of the leader's freeze; tag of the group's messages */
	int size;
	int self; /* the own instance */
	int tids[];
};

/* Names the operation of a message. Members run operations with different tags
 * in any order. */
struct group_key {
	int32_t leader;
	int32_t operation; /* enum group_operation */
	int32_t tag;	   /* the user's */
	int32_t root;
};

enum group_operation {
	GROUP_FREEZE, /* barrier after the group was set up */
	GROUP_BARRIER,
	GROUP_REDUCE,
	GROUP_GATHER,
	GROUP_SCATTER,
	GROUP_GONE, /* the sender has left, or failed in an operation */
};

/* A running operation: argument of its carrier. */
struct group_errand {
	const struct group *group;
	struct group_key key;
};

/* ---- group.c ---- */

/* The group of that name, if all members have agreed to use the glue; else
 * NULL. */
struct group *group_find(const char *name);
/* True if the message belongs to a group. Takes the message over. */
bool group_input(struct pmsg *message);
/* True if a message of the operation has come from the member. */
bool group_has(const struct group *group, unsigned from,
	       const struct group_key *key);
/* The same message, taken out. NULL: none has come. */
struct pmsg *group_take(const struct group *group, unsigned from,
			const struct group_key *key);
/* From now on the messages of the group are kept. */
void group_enter(struct group *group);
/* Frees the group and its messages. */
void group_drop(struct group *group);
void group_forget_all(void);

/* ---- announce.c ---- */

/* Say in the mailbox that this task has the glue and will freeze a group.
 * Returns the farewell for group_frozen(). NULL: this task cannot use the glue
 * for the group. */
struct pmsg *group_announce(void);
/* Serial number of the freeze. 0: not all members have the glue. */
int group_agree(char *name, int size);

/* ---- freeze.c ---- */

/* The group was frozen with `size` members; 0 or less: the freeze failed. Takes
 * over `farewell`. */
void group_frozen(const char *name, int size, struct pmsg *farewell);
/* The own task leaves the group, or failed in an operation. Frees the group. */
void group_leave(struct group *group);

#endif
