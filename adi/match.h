/* SPDX-License-Identifier: MIT */
/*
 * Matching: receives that wait for a message and messages that wait for a
 * receive, in hash tables, so that nothing is allocated per entry and no
 * operation depends on their number.
 *
 * A message has a key: context, source and tag. A receive is of one of four
 * classes, by what it leaves open, and has the key with that masked out.
 * There is a table per class. A message looks into the tables that hold
 * receives and takes the one posted first; a receive looks into the
 * messages' table of its class and finds the oldest.
 *
 * Receives that are posted while the tables hold none stand in front of them,
 * if they are of one class and key: they are older than all that come, so a
 * message that fits looks no further. A program with one receive at a time, or
 * a window of them from one sender, touches no table.
 *
 * Messages are entered in a wildcard table only from the first time that a
 * receive or probe of that class meets waiting messages, until none is
 * left: programs without wildcards pay for one table.
 */
#ifndef BCL_ADI_MATCH_H
#define BCL_ADI_MATCH_H

#include <stdbool.h>

#include "adi/table.h"

enum bcl_match_class {
	BCL_MATCH_EXACT = 0,
	BCL_MATCH_ANY_SOURCE = 1, /* or'ed */
	BCL_MATCH_ANY_TAG = 2,
	BCL_MATCH_CLASSES = 4,
};

struct bcl_match_receive {
	struct bcl_table_node node;
	uint64_t posted; /* number in order of time; not of those in front */
	uint8_t class;
	bool front;
};

struct bcl_match_message {
	struct bcl_table_node node[BCL_MATCH_CLASSES];
	struct bcl_match_message *older, *newer;
};

struct bcl_match {
	struct bcl_table_node *front; /* the first of them, or NULL */
	uint64_t front_mask;	      /* of their class */
	uint32_t wild;	 /* receives with a wildcard in the tables */
	unsigned active; /* wildcard classes whose message table is kept, a bit
			  * each */
	uint64_t posted; /* receives ever posted */
	struct bcl_match_message *oldest, *newest;
	const struct bcl_env *env;
	struct bcl_table receives[BCL_MATCH_CLASSES];
	struct bcl_table messages[BCL_MATCH_CLASSES];
};

static inline uint64_t bcl_match_key(unsigned context, unsigned source,
				     unsigned tag)
{
	return (uint64_t)context << 48 | (uint64_t)source << 32 | tag;
}

static inline unsigned bcl_match_context(uint64_t key)
{
	return key >> 48;
}

static inline unsigned bcl_match_source(uint64_t key)
{
	return key >> 32 & 0xffff;
}

static inline uint32_t bcl_match_tag(uint64_t key)
{
	return key;
}

/* The key of a message that waits. */
static inline uint64_t
bcl_match_message_key(const struct bcl_match_message *message)
{
	return message->node[BCL_MATCH_EXACT].key;
}

void bcl_match_open(struct bcl_match *match, const struct bcl_env *env);
void bcl_match_close(struct bcl_match *match);

/* What the receives of a class do not leave open, of a key. */
extern const uint64_t bcl_match_masks[BCL_MATCH_CLASSES];

/* bcl_match_post() into the tables, of a masked key. */
void bcl_match_post_any(struct bcl_match *match,
			struct bcl_match_receive *receive, uint64_t key,
			enum bcl_match_class class);

/* The same in front of them. False: it is not to stand there. */
static inline bool bcl_match_post_front(struct bcl_match *match,
					struct bcl_match_receive *receive,
					uint64_t key,
					enum bcl_match_class class)
{
	uint64_t mask = bcl_match_masks[class];
	struct bcl_table_node *front = match->front;

	if (match->wild || match->receives[BCL_MATCH_EXACT].keys)
		return false;
	if (!front) {
		bcl_table_begin(&receive->node);
		match->front = &receive->node;
		match->front_mask = mask;
	} else if (front->key == key && match->front_mask == mask) {
		bcl_table_append(front, &receive->node);
	} else {
		return false;
	}
	receive->node.key = key;
	receive->class = class;
	receive->front = true;
	return true;
}

/* Parts of the key that the class leaves open are ignored. */
static inline void bcl_match_post(struct bcl_match *match,
				  struct bcl_match_receive *receive,
				  uint64_t key, enum bcl_match_class class)
{
	key &= bcl_match_masks[class];
	if (!bcl_match_post_front(match, receive, key, class))
		bcl_match_post_any(match, receive, key, class);
}

void bcl_match_unpost(struct bcl_match *match,
		      struct bcl_match_receive *receive);

/* Take out the first of those in front. */
static inline struct bcl_match_receive *
bcl_match_take_front(struct bcl_match *match)
{
	struct bcl_table_node *node = match->front, *next = node->next;

	match->front = next == node ? NULL : next;
	bcl_table_leave(node);
	return bcl_container(node, struct bcl_match_receive, node);
}

/* bcl_match_arrive() in the tables. */
struct bcl_match_receive *bcl_match_arrive_any(struct bcl_match *match,
					       uint64_t key);

/* The receive that the message gets, taken out, or NULL. */
static inline struct bcl_match_receive *
bcl_match_arrive(struct bcl_match *match, uint64_t key)
{
	const struct bcl_table_node *front = match->front;

	if (front && (key & match->front_mask) == front->key)
		return bcl_match_take_front(match);
	return bcl_match_arrive_any(match, key);
}

/* Call back for each posted receive, in no order; the callback may take out
 * the receive it is given. Costs as much as there are. */
void bcl_match_each(struct bcl_match *match,
		    void (*call)(struct bcl_match_receive *receive, void *arg),
		    void *arg);

/* No receive wants the message yet. */
void bcl_match_keep(struct bcl_match *match, struct bcl_match_message *message,
		    uint64_t key);
void bcl_match_take(struct bcl_match *match, struct bcl_match_message *message);

/* The message that such a receive gets, left where it is, or NULL. */
struct bcl_match_message *bcl_match_find_any(struct bcl_match *match,
					     uint64_t key,
					     enum bcl_match_class class);

static inline struct bcl_match_message *
bcl_match_find(struct bcl_match *match, uint64_t key,
	       enum bcl_match_class class)
{
	return match->oldest ? bcl_match_find_any(match, key, class) : NULL;
}

#endif
