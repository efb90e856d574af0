/* SPDX-License-Identifier: MIT */
/*
 * Frozen groups all of whose members have the glue: their operations are those
 * of <bcl/coll.h>, whose messages are carried from task to task. Each says in
 * PVM's mailbox that it has the glue before it freezes a group, which waits for
 * all, and looks there after; then all agree by a barrier of ours that they
 * could set the group up. What a member sends in an operation is matched here,
 * before libpvm.
 *
 * A group may be left, and frozen again under its name. Messages name the group
 * by its leader, the member with instance 0, and by the leader's serial number
 * of this freeze, which the leader's entry in the mailbox has.
 */
#ifndef BCL_PVM_GROUP_H
#define BCL_PVM_GROUP_H

#include <bcl/coll.h>

#include "pvm-glue/glue.h"

struct group {
	struct group *next;
	char *name;
	struct bcl_carrier *carrier;
	struct pmsg *farewell; /* made before all else: says GROUP_GONE */
	int leader;
	int serial; /* the leader's, and tag of its messages */
	int size;
	int self; /* our instance */
	int tids[];
};

/* What a message of an operation belongs to: members run those with several
 * tags in any order. */
struct group_key {
	int32_t leader;
	int32_t operation; /* enum group_operation */
	int32_t tag;	   /* the user's */
	int32_t root;
};

enum group_operation {
	GROUP_FREEZE, /* the barrier of those who have set the group up */
	GROUP_BARRIER,
	GROUP_REDUCE,
	GROUP_GATHER,
	GROUP_SCATTER,
	GROUP_GONE, /* the sender has left, or could not end an operation */
};

/* Its tid, from libgpvm3. */
int group_member(char *name, int instance);
/* All have agreed on the group of that name; else NULL. */
struct group *group_find(const char *name);
/* This task says that it has the glue, and will freeze a group. NULL: it
 * cannot; else for group_frozen(). */
struct pmsg *group_announce(void);
/* The serial number of the freeze; 0: not all members have the glue. */
int group_agree(char *name, int size);
/* The group has been frozen, with so many members; 0 or less: it has not. */
void group_frozen(const char *name, int size, struct pmsg *farewell);
/* It leaves, or cannot go on. */
void group_leave(struct group *group);
void group_forget_all(void);

/* An operation that is under way: what its carrier is given. */
struct group_errand {
	const struct group *group;
	struct group_key key;
};

/* Whether the message is one of these; then it is kept. */
bool group_input(struct pmsg *message);

#endif
