/* SPDX-License-Identifier: MIT */
/* Groups of which all members use the glue, and the messages of their
 * operations that have come. See group.h. */
#include "pvm-glue/group.h"

#include <stdlib.h>
#include <string.h>

/* A message that no operation has waited for yet. */
struct waiting {
	struct waiting *next;
	struct pmsg *message;
};

static struct group *groups;
static struct waiting *first, **last = &first;

struct group *group_find(const char *name)
{
	struct group *group = groups;

	while (group && strcmp(group->name, name))
		group = group->next;
	return group;
}

/* ---- messages ---- */

static bool is_of_group(const struct pmsg *message, int leader, int number)
{
	const struct frag *frag = message->frags->next;
	const struct group_key *key = (const void *)frag->data;

	return message->tag == number && frag->length >= (int)sizeof(*key) &&
	       key->leader == leader;
}

/* True for a message of a group that this task has left, or never entered. A
 * leader freezes one group after the other, and each freeze ends only when all
 * members have entered the group. So a serial number up to `entered` is
 * late. */
static bool is_late(const struct pmsg *message)
{
	const struct group_key *key = (const void *)message->frags->next->data;
	const struct group *group;
	const struct task *task;

	if (message->frags->next->length < (int)sizeof(*key))
		return true;
	for (group = groups; group; group = group->next) {
		if (is_of_group(message, group->leader, group->serial))
			return false;
	}
	task = task_find(key->leader);
	return task && task->entered - message->tag >= 0;
}

bool group_input(struct pmsg *message)
{
	struct waiting *waiting;

	if (message->context != PVM_GROUP_CONTEXT)
		return false;
	if (is_late(message)) {
		libpvm.umbuf_free(message);
		return true;
	}
	waiting = need(calloc(1, sizeof(*waiting)));
	waiting->message = message;
	*last = waiting;
	last = &waiting->next;
	return true;
}

static bool belongs_to(const struct pmsg *message, const struct group_key *key)
{
	return !memcmp(message->frags->next->data, key, sizeof(*key));
}

static struct waiting **find_waiting(const struct group *group, unsigned from,
				     const struct group_key *key)
{
	struct waiting **place;

	for (place = &first; *place; place = &(*place)->next) {
		struct pmsg *message = (*place)->message;

		if (message->source == group->tids[from] &&
		    message->tag == group->serial && belongs_to(message, key))
			return place;
	}
	return NULL;
}

static struct pmsg *take_message(struct waiting **place)
{
	struct waiting *waiting = *place;
	struct pmsg *message = waiting->message;

	*place = waiting->next;
	if (!*place)
		last = place;
	free(waiting);
	return message;
}

bool group_has(const struct group *group, unsigned from,
	       const struct group_key *key)
{
	return find_waiting(group, from, key);
}

struct pmsg *group_take(const struct group *group, unsigned from,
			const struct group_key *key)
{
	struct waiting **place = find_waiting(group, from, key);

	return place ? take_message(place) : NULL;
}

/* ---- groups ---- */

void group_enter(struct group *group)
{
	group->next = groups;
	groups = group;
}

static void release_group(struct group *group)
{
	if (group->carrier)
		bcl_carrier_close(group->carrier);
	libpvm.umbuf_free(group->farewell);
	free(group->name);
	free(group);
}

static void forget_messages(const struct group *group)
{
	struct waiting **place = &first;

	while (*place) {
		if (is_of_group((*place)->message, group->leader,
				group->serial))
			libpvm.umbuf_free(take_message(place));
		else
			place = &(*place)->next;
	}
}

void group_drop(struct group *group)
{
	struct group **place = &groups;

	while (*place != group)
		place = &(*place)->next;
	*place = group->next;
	forget_messages(group);
	release_group(group);
}

void group_forget_all(void)
{
	struct waiting *waiting;

	while (groups)
		group_drop(groups);
	while ((waiting = first)) {
		first = waiting->next;
		libpvm.umbuf_free(waiting->message);
		free(waiting);
	}
	last = &first;
}
