/* SPDX-License-Identifier: MIT */
/* Objects that ranks wait for, and groups of objects; see object.h. */
#include "sim/object.h"

#include <stdlib.h>

#include "sim/fail.h"

enum kind {
	CLOSED,
	OBJECT,
	GROUP,
};

struct sim_object {
	enum kind kind;
	bool woken;
	unsigned references;
	unsigned owner;
	int *linked; /* members of a group; groups of an object */
	unsigned nlinked, room;
	struct sim_waiter *waiters;
	int next; /* CLOSED: next in the free list */
};

void sim_objects_open(struct sim_objects *objects)
{
	*objects = (struct sim_objects){ .spare = -1 };
}

void sim_objects_close(struct sim_objects *objects)
{
	size_t i;

	for (i = 0; i < objects->n; i++)
		free(objects->all[i].linked);
	free(objects->all);
}

static struct sim_object *object_of(const struct sim_objects *objects,
				    int number)
{
	sim_check(number >= 0 && (size_t)number < objects->n &&
			  objects->all[number].kind != CLOSED,
		  "an object that is not open");
	return &objects->all[number];
}

static int open_one(struct sim_objects *objects, enum kind kind, unsigned owner)
{
	int number = objects->spare;
	struct sim_object *object;

	if (number < 0) {
		objects->all = sim_grow(objects->all, objects->n,
					sizeof(*objects->all));
		number = (int)objects->n++;
		objects->all[number] = (struct sim_object){ .next = -1 };
	}
	object = &objects->all[number];
	objects->spare = object->next;
	object->kind = kind;
	object->woken = false;
	object->references = 1;
	object->owner = owner;
	return number;
}

int sim_object_open(struct sim_objects *objects, unsigned owner)
{
	return open_one(objects, OBJECT, owner);
}

int sim_object_open_group(struct sim_objects *objects, unsigned owner)
{
	return open_one(objects, GROUP, owner);
}

unsigned sim_object_owner(const struct sim_objects *objects, int number)
{
	return object_of(objects, number)->owner;
}

static void link_to(struct sim_object *object, int number)
{
	if (object->nlinked == object->room) {
		object->room = object->room ? 2 * object->room : 4;
		object->linked = sim_need(
			realloc(object->linked, object->room * sizeof(int)));
	}
	object->linked[object->nlinked++] = number;
}

static void unlink_from(struct sim_object *object, int number)
{
	unsigned i = 0;

	while (i < object->nlinked && object->linked[i] != number)
		i++;
	sim_check(i < object->nlinked, "not a member of the group");
	object->linked[i] = object->linked[--object->nlinked];
}

void sim_object_share(struct sim_objects *objects, int number)
{
	object_of(objects, number)->references++;
}

void sim_object_close(struct sim_objects *objects, int number)
{
	struct sim_object *object = object_of(objects, number);

	if (--object->references)
		return;
	sim_check(!object->waiters, "an object closed under a rank that waits");
	while (object->nlinked) {
		int other = object->linked[--object->nlinked];

		unlink_from(object_of(objects, other), number);
	}
	object->kind = CLOSED;
	object->next = objects->spare;
	objects->spare = number;
}

void sim_objects_drop(struct sim_objects *objects, unsigned owner)
{
	size_t i;

	for (i = 0; i < objects->n; i++)
		if (objects->all[i].kind != CLOSED &&
		    objects->all[i].owner == owner) {
			objects->all[i].references = 1;
			sim_object_close(objects, (int)i);
		}
}

static void tell_waiters(struct sim_objects *objects, int number)
{
	struct sim_object *object = object_of(objects, number);
	struct sim_waiter *waiter;

	while ((waiter = object->waiters)) {
		object->waiters = waiter->next;
		waiter->object = -1;
		waiter->ready(waiter);
	}
}

void sim_object_add(struct sim_objects *objects, int group, int member)
{
	sim_check(object_of(objects, group)->kind == GROUP &&
			  object_of(objects, member)->kind == OBJECT,
		  "a member that is no object, or of no group");
	link_to(object_of(objects, group), member);
	link_to(object_of(objects, member), group);
	if (object_of(objects, member)->woken)
		tell_waiters(objects, group);
}

void sim_object_remove(struct sim_objects *objects, int group, int member)
{
	unlink_from(object_of(objects, group), member);
	unlink_from(object_of(objects, member), group);
}

bool sim_object_readable(const struct sim_objects *objects, int number)
{
	const struct sim_object *object = object_of(objects, number);
	unsigned i;

	for (i = 0; object->kind == GROUP && i < object->nlinked; i++)
		if (object_of(objects, object->linked[i])->woken)
			return true;
	return object->woken;
}

void sim_object_wake(struct sim_objects *objects, int number)
{
	struct sim_object *object = object_of(objects, number);
	unsigned i;

	object->woken = true;
	tell_waiters(objects, number);
	for (i = 0; i < object->nlinked; i++)
		tell_waiters(objects, object->linked[i]);
}

void sim_object_clear(struct sim_objects *objects, int number)
{
	object_of(objects, number)->woken = false;
}

void sim_object_await(struct sim_objects *objects, int number,
		      struct sim_waiter *waiter)
{
	struct sim_object *object = object_of(objects, number);

	waiter->object = number;
	waiter->next = object->waiters;
	object->waiters = waiter;
}

void sim_object_give_up(struct sim_objects *objects, struct sim_waiter *waiter)
{
	struct sim_waiter **place;

	if (waiter->object < 0)
		return;
	place = &object_of(objects, waiter->object)->waiters;
	while (*place != waiter)
		place = &(*place)->next;
	*place = waiter->next;
	waiter->object = -1;
}
