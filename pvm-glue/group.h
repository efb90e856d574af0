/* SPDX-License-Identifier: MIT */
/*
 * Frozen groups all of whose members have the glue: their operations go along
 * trees, from member to member. Each says in PVM's mailbox that it has the
 * glue before it freezes a group, which waits for all, and looks there after.
 * What a member sends in an operation is matched here, before libpvm.
 */
#ifndef BCL_PVM_GROUP_H
#define BCL_PVM_GROUP_H

#include "pvm-glue/glue.h"

struct group {
	struct group *next;
	char *name;
	int mark; /* tag of its messages */
	int size;
	int self; /* our instance */
	int tids[];
};

/* What a message of an operation belongs to. */
struct group_key {
	int32_t operation; /* enum group_operation */
	int32_t tag;	   /* the user's */
	int32_t root;
};

enum group_operation {
	GROUP_ARRIVE, /* at a barrier */
	GROUP_GO,     /* on, after it */
	GROUP_REDUCE,
	GROUP_GATHER,
	GROUP_SCATTER,
	GROUP_GONE, /* the sender has left, or could not end an operation */
};

/* Its tid, from libgpvm3. */
int group_member(char *name, int instance);
/* All have agreed on the group of that name; else NULL. */
struct group *group_find(const char *name);
/* The group has been frozen. */
void group_frozen(const char *name, int size);
/* This task says that it has the glue. */
void group_announce(void);
/* It leaves, or cannot go on. */
void group_leave(struct group *group);
void group_forget_all(void);

/* To a member, by its instance. */
bool group_send(const struct group *group, int to, const struct group_key *key,
		const void *data, size_t length);
/* Waits. False: it will not come. */
bool group_receive(const struct group *group, int from,
		   const struct group_key *key, void *data, size_t length);
/* Whether the message is one of these; then it is kept. */
bool group_input(struct pmsg *message);

#endif
