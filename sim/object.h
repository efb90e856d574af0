/* SPDX-License-Identifier: MIT */
/*
 * What ranks of a simulated world wait for: objects that are woken, and groups
 * of these (struct bcl_env). They have numbers, as descriptors have.
 */
#ifndef SIM_OBJECT_H
#define SIM_OBJECT_H

#include <stdbool.h>
#include <stddef.h>

/* Who waits: part of whatever can. Its owner's `ready` is called once. */
struct sim_waiter {
	struct sim_waiter *next;
	void (*ready)(struct sim_waiter *waiter);
	int object; /* waits for it; -1: for nothing */
};

struct sim_object;

struct sim_objects {
	struct sim_object *all;
	size_t n;
	int spare; /* the first of a list of free ones; -1: none */
};

void sim_objects_open(struct sim_objects *objects);
void sim_objects_close(struct sim_objects *objects);

int sim_object_open(struct sim_objects *objects, unsigned owner);
int sim_object_open_group(struct sim_objects *objects, unsigned owner);
unsigned sim_object_owner(const struct sim_objects *objects, int number);
/* One more has it open, and closes it. */
void sim_object_share(struct sim_objects *objects, int number);
void sim_object_close(struct sim_objects *objects, int number);
/* All of that owner, whoever has them open; nobody waits for them. */
void sim_objects_drop(struct sim_objects *objects, unsigned owner);
void sim_object_add(struct sim_objects *objects, int group, int member);
void sim_object_remove(struct sim_objects *objects, int group, int member);

/* Woken, or a member of the group is. */
bool sim_object_readable(const struct sim_objects *objects, int number);
void sim_object_wake(struct sim_objects *objects, int number);
void sim_object_clear(struct sim_objects *objects, int number);

/* Call waiter->ready() when the object becomes readable; it is not now. */
void sim_object_await(struct sim_objects *objects, int number,
		      struct sim_waiter *waiter);
void sim_object_give_up(struct sim_objects *objects, struct sim_waiter *waiter);

#endif
