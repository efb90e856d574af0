/* SPDX-License-Identifier: MIT */
/*
 * PVM's operations on groups. On a frozen group whose members all have the glue
 * they go along a binomial tree: ceil(log2 size) messages at the root and on
 * the longest chain. All else, and what is wrong, libgpvm3 does.
 */
#include <stdlib.h>
#include <string.h>

#include "pvm-glue/group.h"

/* As <pvm3.h> has them. */
typedef void pvm_reduction(int *type, void *mine, void *theirs, int *count,
			   int *info);
INTERPOSED int pvm_barrier(char *name, int count);
INTERPOSED int pvm_reduce(pvm_reduction *function, void *data, int count,
			  int type, int tag, char *name, int root);
INTERPOSED int pvm_gather(void *result, void *data, int count, int type,
			  int tag, char *name, int root);
INTERPOSED int pvm_scatter(void *result, void *data, int count, int type,
			   int tag, char *name, int root);
INTERPOSED int pvm_freezegroup(char *name, int size);
INTERPOSED int pvm_lvgroup(char *name);
int pvm_gettid(char *name, int instance);

/* PVM's function of that name, for a program that has libgpvm3. */
#define ORIGINAL(name) ((__typeof__(&name))libpvm_symbol(#name))

enum {
	PVM_NO_GROUP = -19,
	PVM_NO_MEMORY = -10,
	SHORT = 65536, /* bytes of all blocks: worth going by others */
};

int group_member(char *name, int instance)
{
	return ORIGINAL(pvm_gettid)(name, instance);
}

/* Bytes of an element; 0: PVM does not reduce that type. */
static size_t size_of(int type)
{
	enum {
		PVM_LONG = 8
	};

	return type <= PVM_LONG ? libpvm_size_of(type) : 0;
}

/* ---- the tree ---- */

/* Places count from the root, which has 0. */
static int place_of(const struct group *group, int root)
{
	return (group->self - root + group->size) % group->size;
}

static int member_at(const struct group *group, int root, int place)
{
	return (place + root) % group->size;
}

/* The lowest bit of a place leads up; the root has one above all. */
static int reach_of(const struct group *group, int place)
{
	int reach = 1;

	while (reach < group->size && !(place & reach))
		reach <<= 1;
	return reach;
}

/* How many places there are below one of that reach, with its own. */
static int width_of(const struct group *group, int place, int reach)
{
	return reach < group->size - place ? reach : group->size - place;
}

/* ---- barrier ---- */

static bool cross(const struct group *group)
{
	const struct group_key arrive = { .operation = GROUP_ARRIVE },
			       go = { .operation = GROUP_GO };
	int place = group->self, reach = reach_of(group, place), mask;

	for (mask = 1; mask < reach; mask <<= 1) {
		if (place + mask < group->size &&
		    !group_receive(group, place + mask, &arrive, NULL, 0))
			return false;
	}
	if (place) {
		if (!group_send(group, place - reach, &arrive, NULL, 0) ||
		    !group_receive(group, place - reach, &go, NULL, 0))
			return false;
	}
	for (mask = reach >> 1; mask; mask >>= 1) {
		if (place + mask < group->size &&
		    !group_send(group, place + mask, &go, NULL, 0))
			return false;
	}
	return true;
}

int pvm_barrier(char *name, int count)
{
	struct group *group = name ? group_find(name) : NULL;

	if (group && (count == group->size || count == -1)) {
		if (cross(group))
			return 0;
		group_leave(group);
		return PVM_NO_GROUP;
	}
	return ORIGINAL(pvm_barrier)(name, count);
}

/* ---- reduce ---- */

static bool combine(const struct group *group, const struct group_key *key,
		    pvm_reduction *function, void *data, void *theirs,
		    int count, int type, int *info)
{
	int place = place_of(group, key->root), reach = reach_of(group, place);
	size_t length = (size_t)count * size_of(type);

	for (int mask = 1; mask < reach; mask <<= 1) {
		if (place + mask >= group->size)
			break;
		if (!group_receive(group,
				   member_at(group, key->root, place + mask),
				   key, theirs, length))
			return false;
		function(&type, data, theirs, &count, info);
	}
	return !place ||
	       group_send(group, member_at(group, key->root, place - reach),
			  key, data, length);
}

int pvm_reduce(pvm_reduction *function, void *data, int count, int type,
	       int tag, char *name, int root)
{
	struct group *group = name ? group_find(name) : NULL;
	const struct group_key key = { GROUP_REDUCE, tag, root };
	int info = 0;
	void *theirs;
	bool done;

	if (!group || root < 0 || root >= group->size || count <= 0 ||
	    tag < 0 || !function || !data || !size_of(type))
		return ORIGINAL(pvm_reduce)(function, data, count, type, tag,
					    name, root);
	theirs = malloc((size_t)count * size_of(type));
	if (!theirs)
		return PVM_NO_MEMORY;
	done = combine(group, &key, function, data, theirs, count, type, &info);
	free(theirs);
	if (done)
		return info < 0 ? info : 0;
	group_leave(group);
	return PVM_NO_GROUP;
}

/* ---- gather and scatter ---- */

/* Blocks of places from ours on, and of members, which begin at the root. */
static void turn(char *members, const char *places, size_t length, int size,
		 int root)
{
	size_t first = (size_t)(size - root) * length;

	memcpy(members + (size_t)root * length, places, first);
	memcpy(members, places + first, (size_t)root * length);
}

static void turn_back(char *places, const char *members, size_t length,
		      int size, int root)
{
	size_t first = (size_t)(size - root) * length;

	memcpy(places, members + (size_t)root * length, first);
	memcpy(places + first, members, (size_t)root * length);
}

/* The blocks of the places below ours, and first our own. */
static bool gather(const struct group *group, const struct group_key *key,
		   char *blocks, size_t length)
{
	int place = place_of(group, key->root), reach = reach_of(group, place);
	int mask, below;

	for (mask = 1; mask < reach && place + mask < group->size; mask <<= 1) {
		below = width_of(group, place + mask, mask);
		if (!group_receive(group,
				   member_at(group, key->root, place + mask),
				   key, blocks + (size_t)mask * length,
				   (size_t)below * length))
			return false;
	}
	return !place ||
	       group_send(group, member_at(group, key->root, place - reach),
			  key, blocks,
			  (size_t)width_of(group, place, reach) * length);
}

static bool scatter(const struct group *group, const struct group_key *key,
		    char *blocks, size_t length)
{
	int place = place_of(group, key->root), reach = reach_of(group, place);
	int mask, below;

	if (place &&
	    !group_receive(group, member_at(group, key->root, place - reach),
			   key, blocks,
			   (size_t)width_of(group, place, reach) * length))
		return false;
	for (mask = reach >> 1; mask; mask >>= 1) {
		if (place + mask >= group->size)
			continue;
		below = width_of(group, place + mask, mask);
		if (!group_send(group,
				member_at(group, key->root, place + mask), key,
				blocks + (size_t)mask * length,
				(size_t)below * length))
			return false;
	}
	return true;
}

/* The group, if blocks shall go along its tree: long ones do not pay. */
static struct group *group_for_blocks(const char *name, int count, int type,
				      int tag, int root)
{
	struct group *group = name ? group_find(name) : NULL;

	if (!group || root < 0 || root >= group->size || count <= 0 ||
	    tag < 0 || !size_of(type) ||
	    (size_t)count * size_of(type) * (size_t)group->size > SHORT)
		return NULL;
	return group;
}

int pvm_gather(void *result, void *data, int count, int type, int tag,
	       char *name, int root)
{
	struct group *group = group_for_blocks(name, count, type, tag, root);
	const struct group_key key = { GROUP_GATHER, tag, root };
	size_t length = (size_t)count * size_of(type);
	char blocks[SHORT];

	if (!group)
		return ORIGINAL(pvm_gather)(result, data, count, type, tag,
					    name, root);
	memcpy(blocks, data, length);
	if (!gather(group, &key, blocks, length)) {
		group_leave(group);
		return PVM_NO_GROUP;
	}
	if (group->self == root)
		turn(result, blocks, length, group->size, root);
	return 0;
}

int pvm_scatter(void *result, void *data, int count, int type, int tag,
		char *name, int root)
{
	struct group *group = group_for_blocks(name, count, type, tag, root);
	const struct group_key key = { GROUP_SCATTER, tag, root };
	size_t length = (size_t)count * size_of(type);
	char blocks[SHORT];

	if (!group)
		return ORIGINAL(pvm_scatter)(result, data, count, type, tag,
					     name, root);
	if (group->self == root)
		turn_back(blocks, data, length, group->size, root);
	if (!scatter(group, &key, blocks, length)) {
		group_leave(group);
		return PVM_NO_GROUP;
	}
	memcpy(result, blocks, length);
	return 0;
}

/* ---- the life of a group ---- */

int pvm_freezegroup(char *name, int size)
{
	bool may_be_ours = name && endpoint_ready();
	int result;

	if (may_be_ours)
		group_announce();
	result = ORIGINAL(pvm_freezegroup)(name, size);
	if (may_be_ours && result > 0 && !group_find(name))
		group_frozen(name, result);
	return result;
}

int pvm_lvgroup(char *name)
{
	struct group *group = name ? group_find(name) : NULL;

	if (group)
		group_leave(group);
	return ORIGINAL(pvm_lvgroup)(name);
}
