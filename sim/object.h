/* SPDX-License-Identifier: MIT */
/*
 * Objects that ranks of a simulated world wait for and wake, and groups of
 * objects (struct bcl_env). Objects have numbers, like descriptors.
 */
#ifndef SIM_OBJECT_H
#define SIM_OBJECT_H

#include <stdbool.h>
#include <stddef.h>

/* A waiter, embedded in the waiting party. `ready` is called once. */
struct sim_waiter {
	struct sim_waiter *next;
	void (*ready)(struct sim_waiter *waiter);
	int object; /* waits for this object; -1: for none */
};

struct sim_object;

struct sim_objects {
	struct sim_object *all;
	size_t n;
	int spare; /* head of the free list; -1: none */
};

void sim_objects_open(struct sim_objects *objects);
void sim_objects_close(struct sim_objects *objects);

int sim_object_open(struct sim_objects *objects, unsigned owner);
int sim_object_open_group(struct sim_objects *objects, unsigned owner);
unsigned sim_object_owner(const struct sim_objects *objects, int number);
/* Adds a reference, which sim_object_close() drops. */
void sim_object_share(struct sim_objects *objects, int number);
void sim_object_close(struct sim_objects *objects, int number);
/* Closes all objects of the owner regardless of references. No rank may be
 * waiting for them. */
void sim_objects_drop(struct sim_objects *objects, unsigned owner);
void sim_object_add(struct sim_objects *objects, int group, int member);
void sim_object_remove(struct sim_objects *objects, int group, int member);

/* True if the object, or a member of the group, is woken. */
bool sim_object_readable(const struct sim_objects *objects, int number);
void sim_object_wake(struct sim_objects *objects, int number);
void sim_object_clear(struct sim_objects *objects, int number);

/* Calls waiter->ready() when the object becomes readable. The object must not
 * be readable now. */
void sim_object_await(struct sim_objects *objects, int number,
		      struct sim_waiter *waiter);
void sim_object_give_up(struct sim_objects *objects, struct sim_waiter *waiter);

#endif
