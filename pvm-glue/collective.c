/* SPDX-License-Identifier: MIT */
/*
 * PVM's operations on groups. On a frozen group in which all members have the
 * glue, the operations of <bcl/coll.h> run. libgpvm3 does everything else:
 * calls with wrong arguments, and broadcasts, which may end in any pvm_recv().
 */
#include "pvm-glue/group.h"

/* As in <pvm3.h>. */
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

/* libgpvm3's function of that name, if the program has libgpvm3. */
#define ORIGINAL(name) ((__typeof__(&name))libpvm_symbol(#name))

/* Bytes of an element; 0: PVM does not reduce this type. */
static size_t size_of(int type)
{
	enum {
		PVM_LONG = 8
	};

	return type <= PVM_LONG ? libpvm_size_of(type) : 0;
}

/* The group, if the glue can run the operation; else NULL. */
static struct group *group_for(const char *name, int count, int type, int tag,
			       int root)
{
	struct group *group = name ? group_find(name) : NULL;

	if (!group || root < 0 || root >= group->size || count <= 0 ||
	    tag < 0 || !size_of(type))
		return NULL;
	return group;
}

static struct group_errand errand_of(const struct group *group,
				     enum group_operation operation, int tag,
				     int root)
{
	return (struct group_errand){
		.group = group,
		.key = { .leader = group ? group->leader : 0,
			 .operation = (int32_t)operation,
			 .tag = tag,
			 .root = root },
	};
}

/* PVM's result for a status. After an error the own task leaves the group. */
static int end_operation(struct group *group, enum bcl_status status)
{
	if (status == BCL_OK)
		return 0;
	group_leave(group);
	return status == BCL_ERR_NOMEM ? PVM_NO_MEMORY : PVM_NO_GROUP;
}

/* ---- operations ---- */

int pvm_barrier(char *name, int count)
{
	struct group *group = name ? group_find(name) : NULL;
	struct group_errand errand = errand_of(group, GROUP_BARRIER, 0, 0);

	if (!group || (count != group->size && count != -1))
		return ORIGINAL(pvm_barrier)(name, count);
	return end_operation(group,
			     bcl_carrier_barrier(group->carrier, &errand));
}

/* A reduction function of the user, which changes its first vector. */
struct user_reduction {
	pvm_reduction *function;
	int type;
	int info;
};

static void call_user_function(const void *in, void *inout, size_t count,
			       void *arg)
{
	struct user_reduction *user = arg;
	int n = (int)count;

	user->function(&user->type, inout, (void *)in, &n, &user->info);
}

int pvm_reduce(pvm_reduction *function, void *data, int count, int type,
	       int tag, char *name, int root)
{
	struct group *group = group_for(name, count, type, tag, root);
	struct group_errand errand = errand_of(group, GROUP_REDUCE, tag, root);
	struct user_reduction user = { .function = function, .type = type };
	const struct bcl_reduction reduction = { .element = size_of(type),
						 .commutative = true,
						 .apply = call_user_function,
						 .arg = &user };
	int result;

	if (!group || !function || !data)
		return ORIGINAL(pvm_reduce)(function, data, count, type, tag,
					    name, root);
	result = end_operation(group,
			       bcl_carrier_reduce(group->carrier, &errand, data,
						  data, (size_t)count,
						  &reduction, (unsigned)root));
	return !result && user.info < 0 ? user.info : result;
}

int pvm_gather(void *result, void *data, int count, int type, int tag,
	       char *name, int root)
{
	struct group *group = group_for(name, count, type, tag, root);
	struct group_errand errand = errand_of(group, GROUP_GATHER, tag, root);

	if (!group)
		return ORIGINAL(pvm_gather)(result, data, count, type, tag,
					    name, root);
	return end_operation(group,
			     bcl_carrier_gather(group->carrier, &errand, data,
						(size_t)count * size_of(type),
						result, (unsigned)root));
}

int pvm_scatter(void *result, void *data, int count, int type, int tag,
		char *name, int root)
{
	struct group *group = group_for(name, count, type, tag, root);
	struct group_errand errand = errand_of(group, GROUP_SCATTER, tag, root);

	if (!group)
		return ORIGINAL(pvm_scatter)(result, data, count, type, tag,
					     name, root);
	return end_operation(
		group, bcl_carrier_scatter(
			       group->carrier, &errand, data, result,
			       (size_t)count * size_of(type), (unsigned)root));
}

/* ---- freezing and leaving a group ---- */

int pvm_freezegroup(char *name, int size)
{
	struct pmsg *farewell = NULL;
	int result;

	if (name && endpoint_ready() && !group_find(name))
		farewell = group_announce();
	result = ORIGINAL(pvm_freezegroup)(name, size);
	if (farewell)
		group_frozen(name, result, farewell);
	return result;
}

int pvm_lvgroup(char *name)
{
	struct group *group = name ? group_find(name) : NULL;

	if (group)
		group_leave(group);
	return ORIGINAL(pvm_lvgroup)(name);
}
