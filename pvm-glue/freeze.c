/* SPDX-License-Identifier: MIT */
/*
 * Setting up a group of which all members use the glue, carrying the messages
 * of its operations, and leaving the group. See group.h.
 */
#include "pvm-glue/group.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- messages ---- */

/* Write the key into the message. */
static void write_key(struct pmsg *message, const struct group_key *key)
{
	memcpy(message->frags->next->data, key, sizeof(*key));
	message->context = PVM_GROUP_CONTEXT;
	message->encoding = *libpvm.pvmmydsig;
	libpvm.pmsg_setenc(message, message->encoding);
}

static enum bcl_status carry_to(void *arg, unsigned to, const void *data,
				size_t length)
{
	const struct group_errand *errand = arg;
	const struct group *group = errand->group;
	struct pmsg *message = NULL;
	int result;

	if (length <= INT_MAX / 2)
		message = libpvm_message((int)(sizeof(errand->key) + length));
	if (!message)
		return BCL_ERR_NOMEM;
	write_key(message, &errand->key);
	if (length)
		memcpy(message->frags->next->data + sizeof(errand->key), data,
		       length);
	result = send_message(message, group->tids[to], group->serial);
	libpvm.umbuf_free(message);
	if (result == PVM_NO_MEMORY)
		return BCL_ERR_NOMEM;
	return result < 0 ? BCL_ERR_SYSTEM : BCL_OK;
}

static struct group_key farewell_of(int leader)
{
	return (struct group_key){ .leader = leader, .operation = GROUP_GONE };
}

/* True if the member has left the group or is dead. All messages that it sent
 * before have come then. */
static bool is_gone(const struct group *group, unsigned member)
{
	const struct group_key gone = farewell_of(group->leader);
	const struct task *task = task_find(group->tids[member]);

	if (group_has(group, member, &gone))
		return true;
	if (task && task->state == TASK_MET)
		return task->over && !task->first;
	return libpvm.pvm_pstat(group->tids[member]) < 0;
}

static enum bcl_status carry_from(void *arg, unsigned from, void *data,
				  size_t length)
{
	const struct group_errand *errand = arg;
	const struct group_key *key = &errand->key;
	enum bcl_status status = BCL_ERR_TRUNCATED;
	struct pmsg *message;

	while (!(message = group_take(errand->group, from, key))) {
		/* looks for the member's death: no message announces it */
		const struct timeval a_bit = { 0, 100000 };

		if (is_gone(errand->group, from) ||
		    wait_messages(glue.received, &a_bit) < 0)
			return BCL_ERR_DEAD;
	}
	if ((size_t)libpvm_length(message) == sizeof(*key) + length) {
		libpvm_copy(message, sizeof(*key), data);
		status = BCL_OK;
	}
	libpvm.umbuf_free(message);
	return status;
}

/* ---- setting up and leaving ---- */

/* NULL: no memory. */
static struct group *make_group(const char *name, int size)
{
	struct group *group =
		malloc(sizeof(*group) + (size_t)size * sizeof(int));

	if (!group)
		return NULL;
	*group = (struct group){ .name = strdup(name),
				 .size = size,
				 .self = -1 };
	if (group->name)
		return group;
	free(group);
	return NULL;
}

static bool open_carrier(struct group *group)
{
	const struct bcl_carrier_options options = {
		.struct_size = sizeof(options),
		.rank = (unsigned)group->self,
		.size = (unsigned)group->size,
		.port = glue.port,
		.send = carry_to,
		.receive = carry_from,
	};

	return bcl_carrier_open(&options, &group->carrier) == BCL_OK;
}

/* Send a farewell to all members. tids = NULL: the group was not set up. */
static void say_farewell(struct pmsg *farewell, const int *tids, char *name,
			 int size, int number)
{
	for (int i = 0; i < size; i++) {
		int tid = tids ? tids[i] : libpvm_member(name, i);

		if (tid != *libpvm.pvmmytid)
			send_message(farewell, tid, number);
	}
}

void group_leave(struct group *group)
{
	say_farewell(group->farewell, group->tids, NULL, group->size,
		     group->serial);
	group_drop(group);
}

/* Create a group with its carrier. NULL: failed, with nothing changed. */
static struct group *create_group(char *name, int size, int leader, int number,
				  struct pmsg *farewell)
{
	struct group *group = make_group(name, size);

	if (!group)
		return NULL;
	group->leader = leader;
	group->serial = number;
	for (int i = 0; i < size; i++) {
		group->tids[i] = libpvm_member(name, i);
		if (group->tids[i] == *libpvm.pvmmytid)
			group->self = i;
	}
	if (!open_carrier(group)) {
		free(group->name);
		free(group);
		return NULL;
	}
	group->farewell = farewell;
	group_enter(group);
	return group;
}

void group_frozen(const char *frozen, int size, struct pmsg *farewell)
{
	char *name = (char *)frozen; /* cast for libgpvm3; not written */
	int number = size > 0 ? group_agree(name, size) : 0;
	struct group_errand errand = { .key.operation = GROUP_FREEZE };
	struct group_key gone;
	struct group *group;

	if (!number) {
		libpvm.umbuf_free(farewell);
		return;
	}
	errand.key.leader = libpvm_member(name, 0);
	gone = farewell_of(errand.key.leader);
	write_key(farewell, &gone);
	((struct task *)need(task_find(errand.key.leader)))->entered = number;
	group = create_group(name, size, errand.key.leader, number, farewell);
	if (!group) {
		say_farewell(farewell, NULL, name, size, number);
		libpvm.umbuf_free(farewell);
		return;
	}
	errand.group = group;
	if (bcl_carrier_barrier(group->carrier, &errand) != BCL_OK)
		group_leave(group);
}
