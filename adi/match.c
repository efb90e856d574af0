/* SPDX-License-Identifier: MIT */
/* Matching: the tables of receives and messages, see match.h. */
#include "adi/match.h"

const uint64_t bcl_match_masks[BCL_MATCH_CLASSES] = {
	[BCL_MATCH_EXACT] = UINT64_MAX,
	[BCL_MATCH_ANY_SOURCE] = 0xffff0000ffffffff,
	[BCL_MATCH_ANY_TAG] = 0xffffffff00000000,
	[BCL_MATCH_ANY_SOURCE | BCL_MATCH_ANY_TAG] = 0xffff000000000000,
};

static struct bcl_match_receive *receive_of(struct bcl_table_node *node)
{
	return bcl_container_of(node, struct bcl_match_receive, node);
}

void bcl_match_open(struct bcl_match *match, const struct bcl_env *env)
{
	unsigned class;

	match->front = NULL;
	match->wild = 0;
	match->active = 0;
	match->posted = 0;
	match->oldest = NULL;
	match->newest = NULL;
	match->env = env;
	for (class = 0; class < BCL_MATCH_CLASSES; class ++) {
		bcl_table_open(&match->receives[class]);
		bcl_table_open(&match->messages[class]);
	}
}

void bcl_match_close(struct bcl_match *match)
{
	unsigned class;

	for (class = 0; class < BCL_MATCH_CLASSES; class ++) {
		bcl_table_close(&match->receives[class], match->env);
		bcl_table_close(&match->messages[class], match->env);
	}
}

/* ---- receives ----------------------------------------------------------- */

void bcl_match_post_any(struct bcl_match *match,
			struct bcl_match_receive *receive, uint64_t key,
			enum bcl_match_class class)
{
	receive->class = class;
	receive->front = false;
	receive->posted = match->posted++;
	match->wild += class != BCL_MATCH_EXACT;
	bcl_table_put(&match->receives[class], &receive->node, key, match->env);
}

static void take_receive(struct bcl_match *match,
			 struct bcl_match_receive *receive)
{
	match->wild -= receive->class != BCL_MATCH_EXACT;
	bcl_table_take(&match->receives[receive->class], &receive->node);
}

void bcl_match_unpost(struct bcl_match *match,
		      struct bcl_match_receive *receive)
{
	if (!receive->front)
		take_receive(match, receive);
	else if (match->front == &receive->node)
		bcl_match_take_front(match);
	else
		bcl_table_leave(&receive->node);
}

struct bcl_match_receive *bcl_match_arrive_any(struct bcl_match *match,
					       uint64_t key)
{
	struct bcl_match_receive *first = NULL, *other;
	struct bcl_table_node *node;
	unsigned class;

	node = bcl_table_find(&match->receives[BCL_MATCH_EXACT], key);
	if (node)
		first = receive_of(node);
	for (class = 1; match->wild && class < BCL_MATCH_CLASSES; class ++) {
		node = bcl_table_find(&match->receives[class],
				      key & bcl_match_masks[class]);
		if (!node)
			continue;
		other = receive_of(node);
		if (!first || other->posted < first->posted)
			first = other;
	}
	if (first)
		take_receive(match, first);
	return first;
}

struct each {
	void (*call)(struct bcl_match_receive *receive, void *arg);
	void *arg;
};

static void call_each(struct bcl_table_node *node, void *arg)
{
	struct each *each = arg;

	each->call(receive_of(node), each->arg);
}

void bcl_match_each(struct bcl_match *match,
		    void (*call)(struct bcl_match_receive *receive, void *arg),
		    void *arg)
{
	struct each each = { call, arg };
	unsigned class;

	if (match->front)
		bcl_table_each_of(match->front, call_each, &each);
	for (class = 0; class < BCL_MATCH_CLASSES; class ++)
		bcl_table_each(&match->receives[class], call_each, &each);
}

/* ---- messages ----------------------------------------------------------- */

void bcl_match_keep(struct bcl_match *match, struct bcl_match_message *message,
		    uint64_t key)
{
	unsigned class;

	message->newer = NULL;
	message->older = match->newest;
	if (match->newest)
		match->newest->newer = message;
	else
		match->oldest = message;
	match->newest = message;

	bcl_table_put(&match->messages[BCL_MATCH_EXACT], &message->node[0], key,
		      match->env);
	for (class = 1; match->active && class < BCL_MATCH_CLASSES; class ++) {
		if (match->active & 1u << class)
			bcl_table_put(&match->messages[class],
				      &message->node[class],
				      key & bcl_match_masks[class], match->env);
	}
}

void bcl_match_take(struct bcl_match *match, struct bcl_match_message *message)
{
	unsigned class;

	bcl_table_take(&match->messages[BCL_MATCH_EXACT], &message->node[0]);
	for (class = 1; match->active && class < BCL_MATCH_CLASSES; class ++) {
		if (match->active & 1u << class)
			bcl_table_take(&match->messages[class],
				       &message->node[class]);
	}

	if (message->older)
		message->older->newer = message->newer;
	else
		match->oldest = message->newer;
	if (message->newer)
		message->newer->older = message->older;
	else
		match->newest = message->older;
	if (!match->oldest)
		match->active = 0;
}

static void activate(struct bcl_match *match, enum bcl_match_class class)
{
	struct bcl_match_message *message;

	for (message = match->oldest; message; message = message->newer)
		bcl_table_put(&match->messages[class], &message->node[class],
			      bcl_match_message_key(message) &
				      bcl_match_masks[class],
			      match->env);
	match->active |= 1u << class;
}

struct bcl_match_message *bcl_match_find_any(struct bcl_match *match,
					     uint64_t key,
					     enum bcl_match_class class)
{
	struct bcl_table_node *node;

	if (class != BCL_MATCH_EXACT && !(match->active & 1u << class))
		activate(match, class);
	node = bcl_table_find(&match->messages[class],
			      key & bcl_match_masks[class]);
	if (!node)
		return NULL;
	return bcl_container_of(node - class, struct bcl_match_message, node);
}
