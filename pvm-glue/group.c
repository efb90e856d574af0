/* SPDX-License-Identifier: MIT */
#include "pvm-glue/group.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As <pvm3.h> has it. */
struct pvmmboxinfo {
	char *name;
	int entries;
	int *indices;
	int *owners;
	int *flags;
};

/* A message that nobody has waited for yet. */
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

/* ---- do all have the glue? ---- */

static void class_name(char *name, size_t length)
{
	snprintf(name, length, "bcl-pvm-groups-2-%x",
		 (unsigned)*libpvm.pvmmydsig);
}

void group_announce(void)
{
	enum {
		RAW = 1,
		MULTI_INSTANCE = 2
	};
	static int announced;
	char name[64];
	int id;

	if (announced == *libpvm.pvmmytid)
		return;
	id = libpvm.pvm_mkbuf(RAW);
	if (id <= 0)
		return;
	class_name(name, sizeof(name));
	if (libpvm.pvm_putinfo(name, id, MULTI_INSTANCE) >= 0)
		announced = *libpvm.pvmmytid;
	libpvm.pvm_freebuf(id);
}

static bool is_among(int tid, const int *tids, int n)
{
	for (int i = 0; i < n; i++) {
		if (tids[i] == tid)
			return true;
	}
	return false;
}

static bool all_have_the_glue(const struct group *group)
{
	struct pvmmboxinfo *classes;
	char name[64];
	int i, n;

	class_name(name, sizeof(name));
	if (libpvm.pvm_getmboxinfo(name, &n, &classes) < 0 || n != 1)
		return false;
	for (i = 0; i < group->size; i++) {
		if (!is_among(group->tids[i], classes->owners,
			      classes->entries))
			return false;
	}
	return true;
}

/* ---- messages ---- */

static enum bcl_status carry_to(void *arg, unsigned to, const void *data,
				size_t length)
{
	const struct group_errand *errand = arg;
	struct pmsg *message = NULL;
	char *bytes;

	if (length <= INT_MAX / 2)
		message = libpvm_message((int)(sizeof(errand->key) + length));
	if (!message)
		return BCL_ERR_NOMEM;
	bytes = message->frags->next->data;
	memcpy(bytes, &errand->key, sizeof(errand->key));
	if (length)
		memcpy(bytes + sizeof(errand->key), data, length);
	message->context = PVM_GROUP_CONTEXT;
	message->encoding = *libpvm.pvmmydsig;
	libpvm.pmsg_setenc(message, message->encoding);
	send_message(message, errand->group->tids[to], errand->group->mark);
	libpvm.umbuf_free(message);
	return BCL_OK;
}

bool group_input(struct pmsg *message)
{
	struct waiting *waiting;

	if (message->context != PVM_GROUP_CONTEXT)
		return false;
	waiting = need(calloc(1, sizeof(*waiting)));
	waiting->message = message;
	*last = waiting;
	last = &waiting->next;
	return true;
}

static bool belongs_to(const struct pmsg *message, const struct group_key *key)
{
	const struct frag *frag = message->frags->next;

	return frag->length >= (int)sizeof(*key) &&
	       !memcmp(frag->data, key, sizeof(*key));
}

static struct waiting **look_for(const struct group *group, unsigned from,
				 const struct group_key *key)
{
	struct waiting **place;

	for (place = &first; *place; place = &(*place)->next) {
		struct pmsg *message = (*place)->message;

		if (message->source == group->tids[from] &&
		    message->tag == group->mark && belongs_to(message, key))
			return place;
	}
	return NULL;
}

static struct pmsg *take(struct waiting **place)
{
	struct waiting *waiting = *place;
	struct pmsg *message = waiting->message;

	*place = waiting->next;
	if (!*place)
		last = place;
	free(waiting);
	return message;
}

/* Whatever it sent before has come. */
static bool is_gone(const struct group *group, unsigned member)
{
	const struct group_key gone = { .operation = GROUP_GONE };
	const struct task *task = task_find(group->tids[member]);

	if (look_for(group, member, &gone))
		return true;
	if (task && task->state == TASK_MET)
		return task->over && !task->pending;
	return libpvm.pvm_pstat(group->tids[member]) < 0;
}

static enum bcl_status carry_from(void *arg, unsigned from, void *data,
				  size_t length)
{
	const struct group_errand *errand = arg;
	const struct group_key *key = &errand->key;
	enum bcl_status status = BCL_ERR_TRUNCATED;
	struct waiting **place;
	struct pmsg *message;

	while (!(place = look_for(errand->group, from, key))) {
		/* if it dies, no message says so */
		const struct timeval a_bit = { 0, 100000 };

		if (is_gone(errand->group, from) ||
		    wait_messages(received, &a_bit) < 0)
			return BCL_ERR_DEAD;
	}
	message = take(place);
	if ((size_t)libpvm_length(message) == sizeof(*key) + length) {
		libpvm_copy(message, sizeof(*key), data);
		status = BCL_OK;
	}
	libpvm.umbuf_free(message);
	return status;
}

/* ---- groups ---- */

static void release(struct group *group)
{
	if (group->carrier)
		bcl_carrier_close(group->carrier);
	free(group->name);
	free(group);
}

static int mark_of(const char *name)
{
	uint32_t hash = 2166136261u;

	while (*name)
		hash = (hash ^ (unsigned char)*name++) * 16777619u;
	return (int)(hash & 0x7fffffff);
}

static struct group *make(const char *name, int size)
{
	struct group *group =
		malloc(sizeof(*group) + (size_t)size * sizeof(int));

	if (!group)
		return NULL;
	*group = (struct group){ .name = strdup(name),
				 .mark = mark_of(name),
				 .size = size,
				 .self = -1 };
	return group;
}

static bool open_carrier(struct group *group)
{
	const struct bcl_carrier_options options = {
		.struct_size = sizeof(options),
		.rank = (unsigned)group->self,
		.size = (unsigned)group->size,
		.port = endpoint,
		.send = carry_to,
		.receive = carry_from,
	};

	return bcl_carrier_open(&options, &group->carrier) == BCL_OK;
}

void group_frozen(const char *name, int size)
{
	struct group *group = make(name, size);

	if (!group || !group->name)
		goto not_ours;
	for (int i = 0; i < size; i++) {
		group->tids[i] = group_member(group->name, i);
		if (group->tids[i] == *libpvm.pvmmytid)
			group->self = i;
	}
	if (group->self < 0 || !all_have_the_glue(group) ||
	    !open_carrier(group))
		goto not_ours;
	group->next = groups;
	groups = group;
	return;
not_ours:
	if (group)
		release(group);
}

static void drop(struct group *group)
{
	struct group **place = &groups;

	while (*place != group)
		place = &(*place)->next;
	*place = group->next;
	release(group);
}

void group_leave(struct group *group)
{
	struct group_errand gone = { group, { .operation = GROUP_GONE } };

	for (int i = 0; i < group->size; i++) {
		if (i != group->self)
			carry_to(&gone, (unsigned)i, NULL, 0);
	}
	drop(group);
}

void group_forget_all(void)
{
	struct waiting *waiting;

	while (groups)
		drop(groups);
	while ((waiting = first)) {
		first = waiting->next;
		libpvm.umbuf_free(waiting->message);
		free(waiting);
	}
	last = &first;
}
