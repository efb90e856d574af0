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
 * A receive that is posted while no other waits stands in front of the tables:
 * it is older than all that come, so a message that fits it looks no further.
 * A program with one receive at a time touches no table.
 *
 * Messages are entered in a wildcard table only from the first time that a
 * receive or probe of that class meets waiting messages, until none is
 * left: programs without wildcards pay for one table.
 */
#ifndef BCL_ADI_MATCH_H
#define BCL_ADI_MATCH_H

#include "adi/table.h"

enum bcl_match_class {
	BCL_MATCH_EXACT = 0,
	BCL_MATCH_ANY_SOURCE = 1, /* or'ed */
	BCL_MATCH_ANY_TAG = 2,
	BCL_MATCH_CLASSES = 4,
};

struct bcl_match_receive {
	struct bcl_table_node node;
	uint64_t posted; /* number in order of time */
	uint8_t class;
};

struct bcl_match_message {
	struct bcl_table_node node[BCL_MATCH_CLASSES];
	struct bcl_match_message *older, *newer;
};

struct bcl_match {
	struct bcl_match_receive *front; /* or NULL */
	uint64_t front_mask;		 /* of its class */
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
	return (uint64_t)context << 48 | (uint64_t)(source & 0xffff) << 32 |
	       tag;
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

/* Parts of the key that the class leaves open are ignored. */
void bcl_match_post(struct bcl_match *match, struct bcl_match_receive *receive,
		    uint64_t key, enum bcl_match_class class);
void bcl_match_unpost(struct bcl_match *match,
		      struct bcl_match_receive *receive);

/* The same in the tables. */
struct bcl_match_receive *bcl_match_arrive_any(struct bcl_match *match,
					       uint64_t key);

/* The receive that the message gets, taken out, or NULL. */
static inline struct bcl_match_receive *
bcl_match_arrive(struct bcl_match *match, uint64_t key)
{
	struct bcl_table *exact = &match->receives[BCL_MATCH_EXACT];
	struct bcl_match_receive *front = match->front;
	struct bcl_table_node *node;

	if (front && (key & match->front_mask) == front->node.key) {
		match->front = NULL;
		return front;
	}
	if (__builtin_expect(match->wild, 0))
		return bcl_match_arrive_any(match, key);
	node = bcl_table_find(exact, key);
	if (!node)
		return NULL;
	bcl_table_take(exact, node);
	return bcl_container(node, struct bcl_match_receive, node);
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
