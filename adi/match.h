/* SPDX-License-Identifier: MIT */
/*
 * Matching of receives that wait for a message with messages that wait for a
 * receive. Both are in hash tables. Nothing is allocated per entry, and the
 * time of an operation does not depend on the number of entries.
 *
 * A message has a key: context, source and tag. A receive belongs to one of
 * four classes, by its wildcards; the key of the receive has the wildcard parts
 * masked out. Each class has a table of receives and a table of messages. A
 * message looks into all tables with receives and takes the receive posted
 * first. A receive looks into the message table of its class and finds the
 * oldest message.
 *
 * Receives that are posted while the tables hold no receive stand in front of
 * the tables, if all of them have the same class and key. They are older than
 * all later receives, and a message that fits looks no further. A program with
 * one receive at a time, or with a window of receives from one sender, touches
 * no table.
 *
 * Messages enter a wildcard table only from the first time that a receive or
 * probe of the class meets waiting messages, until no message is left. A
 * program without wildcards pays for one table.
 */
#ifndef BCL_ADI_MATCH_H
#define BCL_ADI_MATCH_H

#include <stdbool.h>

#include "adi/table.h"
#include "base/base.h"

enum bcl_match_class {
	BCL_MATCH_EXACT = 0,
	BCL_MATCH_ANY_SOURCE = 1, /* may be or'ed */
	BCL_MATCH_ANY_TAG = 2,
	BCL_MATCH_CLASSES = 4,
};

struct bcl_match_receive {
	struct bcl_table_node node;
	uint64_t posted; /* sequence number; not set if `front` */
	uint8_t class;
	bool front;
};

struct bcl_match_message {
	struct bcl_table_node node[BCL_MATCH_CLASSES];
	struct bcl_match_message *older, *newer;
};

struct bcl_match {
	struct bcl_table_node *front; /* first receive in front of the tables,
				       * or NULL */
	uint64_t front_mask;	      /* mask of the class of those receives */
	uint32_t wild;	 /* receives with a wildcard in the tables */
	unsigned active; /* wildcard classes whose message table is in use, a
			  * bit each */
	uint64_t posted; /* sequence number of the next receive */
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

/* The parts of a key that the receives of a class name. */
extern const uint64_t bcl_match_masks[BCL_MATCH_CLASSES];

/* bcl_match_post() into the tables; the key is masked. */
void bcl_match_post_any(struct bcl_match *match,
			struct bcl_match_receive *receive, uint64_t key,
			enum bcl_match_class class);

/* The same in front of the tables. Returns false, and does nothing, if the
 * receive must go into the tables. */
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

/* Posts a receive. Parts of the key that the class leaves open are ignored. */
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

/* Takes out the first receive in front of the tables; there is one. */
static inline struct bcl_match_receive *
bcl_match_take_front(struct bcl_match *match)
{
	struct bcl_table_node *node = match->front, *next = node->next;

	bcl_assert(
		bcl_container_of(node, struct bcl_match_receive, node)->front);
	match->front = next == node ? NULL : next;
	bcl_table_leave(node);
	return bcl_container_of(node, struct bcl_match_receive, node);
}

/* bcl_match_arrive() in the tables. */
struct bcl_match_receive *bcl_match_arrive_any(struct bcl_match *match,
					       uint64_t key);

/* Takes out the receive that the message matches. NULL: none. */
static inline struct bcl_match_receive *
bcl_match_arrive(struct bcl_match *match, uint64_t key)
{
	const struct bcl_table_node *front = match->front;

	if (front && (key & match->front_mask) == front->key)
		return bcl_match_take_front(match);
	return bcl_match_arrive_any(match, key);
}

/* Calls back for each posted receive, in no order. The callback may take out
 * the receive that it is given. The time grows with the number of receives. */
void bcl_match_each(struct bcl_match *match,
		    void (*call)(struct bcl_match_receive *receive, void *arg),
		    void *arg);

/* Enters a message that no receive matches yet. */
void bcl_match_keep(struct bcl_match *match, struct bcl_match_message *message,
		    uint64_t key);
void bcl_match_take(struct bcl_match *match, struct bcl_match_message *message);

/* The message that a receive of this key and class would match. The message
 * stays in the tables. NULL: none. */
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
