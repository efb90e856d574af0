/* SPDX-License-Identifier: MIT */
/*
 * PVM's operations on groups. On a frozen group whose members all have the glue
 * they go along trees: reduces along a binomial one, ceil(log2 size) messages
 * at the root and on the longest chain; the others along a wide one, since
 * members who share processors wait for their turn at each level. All else, and
 * what is wrong, libgpvm3 does.
 */
#include <stdlib.h>
#include <string.h>

#include "pvm-glue/group.h"
#include "pvm-glue/tree.h"

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
	SHORT = 65536, /* bytes of all blocks: worth going by others */
	BINOMIAL = 2,  /* radices */
	WIDE = TREE_RADIX_MAX,
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

/* ---- barrier ---- */

static bool cross(const struct group *group)
{
	const struct group_key arrive = { .operation = GROUP_ARRIVE },
			       go = { .operation = GROUP_GO };
	struct tree tree = tree_make(group->size, 0, group->self, WIDE);
	int i;

	for (i = 0; i < tree.count; i++) {
		if (!group_receive(group, tree.children[i].member, &arrive,
				   NULL, 0))
			return false;
	}
	if (tree.parent >= 0 &&
	    (!group_send(group, tree.parent, &arrive, NULL, 0) ||
	     !group_receive(group, tree.parent, &go, NULL, 0)))
		return false;
	while (i--) {
		if (!group_send(group, tree.children[i].member, &go, NULL, 0))
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
	struct tree tree =
		tree_make(group->size, key->root, group->self, BINOMIAL);
	size_t length = (size_t)count * size_of(type);

	for (int i = 0; i < tree.count; i++) {
		if (!group_receive(group, tree.children[i].member, key, theirs,
				   length))
			return false;
		function(&type, data, theirs, &count, info);
	}
	return tree.parent < 0 ||
	       group_send(group, tree.parent, key, data, length);
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

/* Bytes of a branch's blocks. */
static size_t bytes_of(struct branch branch, size_t length)
{
	return (size_t)branch.width * length;
}

/* Where they are among those of the places from ours on. */
static char *blocks_of(const struct tree *tree, struct branch branch,
		       char *blocks, size_t length)
{
	return blocks + (size_t)(branch.place - tree->self.place) * length;
}

static bool gather(const struct group *group, const struct group_key *key,
		   char *blocks, size_t length)
{
	struct tree tree = tree_make(group->size, key->root, group->self, WIDE);

	for (int i = 0; i < tree.count; i++) {
		struct branch child = tree.children[i];

		if (!group_receive(group, child.member, key,
				   blocks_of(&tree, child, blocks, length),
				   bytes_of(child, length)))
			return false;
	}
	return tree.parent < 0 || group_send(group, tree.parent, key, blocks,
					     bytes_of(tree.self, length));
}

static bool scatter(const struct group *group, const struct group_key *key,
		    char *blocks, size_t length)
{
	struct tree tree = tree_make(group->size, key->root, group->self, WIDE);

	if (tree.parent >= 0 && !group_receive(group, tree.parent, key, blocks,
					       bytes_of(tree.self, length)))
		return false;
	for (int i = tree.count; i--;) {
		struct branch child = tree.children[i];

		if (!group_send(group, child.member, key,
				blocks_of(&tree, child, blocks, length),
				bytes_of(child, length)))
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
