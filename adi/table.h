/* SPDX-License-Identifier: MIT */
/*
 * A hash table of queues. Entries with the same key stand in order of
 * insertion. The links lie in the entries; to find, insert or remove an entry
 * takes the same time however many there are. The number of buckets doubles
 * when there are as many keys; if there is no memory for that, the table gets
 * slower.
 */
#ifndef BCL_ADI_TABLE_H
#define BCL_ADI_TABLE_H

#include <stddef.h>
#include <stdint.h>

#include "base/base.h"
#include "env/env.h"

struct bcl_table_node {
	uint64_t key;
	struct bcl_table_node *next, *prev; /* of the same key; circular */
	struct bcl_table_node *chain;	    /* first entry of the bucket's next
					     * key */
	struct bcl_table_node **link; /* pointer to this entry, if the entry is
				       * the first of its key; else NULL */
};

enum {
	BCL_TABLE_FIRST_BITS = 6,
};

struct bcl_table {
	struct bcl_table_node **buckets;
	unsigned shift; /* of the hash: 64 - log2(buckets) */
	uint32_t keys;	/* number of different keys */
	struct bcl_table_node *first[1 << BCL_TABLE_FIRST_BITS];
};

void bcl_table_open(struct bcl_table *table);
void bcl_table_close(struct bcl_table *table, const struct bcl_env *env);
void bcl_table_grow(struct bcl_table *table, const struct bcl_env *env);

/* Calls back for each entry. The callback may take out the entry that it is
 * given. */
void bcl_table_each(struct bcl_table *table,
		    void (*call)(struct bcl_table_node *node, void *arg),
		    void *arg);

/* The same for the entries of one key. */
void bcl_table_each_of(struct bcl_table_node *first,
		       void (*call)(struct bcl_table_node *node, void *arg),
		       void *arg);

/* Multiplicative hashing (Knuth): the constant is 2^64 / golden ratio. */
static inline struct bcl_table_node **
bcl_table_bucket(const struct bcl_table *table, uint64_t key)
{
	return &table->buckets[key * 0x9e3779b97f4a7c15 >> table->shift];
}

/* Begins a circle of entries of one key. */
static inline void bcl_table_begin(struct bcl_table_node *node)
{
	node->next = node;
	node->prev = node;
}

static inline void bcl_table_append(struct bcl_table_node *first,
				    struct bcl_table_node *node)
{
	node->next = first;
	node->prev = first->prev;
	node->prev->next = node;
	first->prev = node;
}

static inline void bcl_table_leave(struct bcl_table_node *node)
{
	/* the node is in a circle */
	bcl_assert(node->next->prev == node && node->prev->next == node);
	node->next->prev = node->prev;
	node->prev->next = node->next;
}

/* The first entry with this key, or NULL. */
static inline struct bcl_table_node *
bcl_table_find(const struct bcl_table *table, uint64_t key)
{
	struct bcl_table_node *node = *bcl_table_bucket(table, key);

	while (node && node->key != key)
		node = node->chain;
	return node;
}

/* Makes the node the first of its key, in front of *link. */
static inline void bcl_table_chain(struct bcl_table_node **link,
				   struct bcl_table_node *node)
{
	node->chain = *link;
	node->link = link;
	if (node->chain)
		node->chain->link = &node->chain;
	*link = node;
}

static inline void bcl_table_put(struct bcl_table *table,
				 struct bcl_table_node *node, uint64_t key,
				 const struct bcl_env *env)
{
	struct bcl_table_node *first = bcl_table_find(table, key);

	node->key = key;
	if (first) {
		bcl_table_append(first, node);
		node->link = NULL;
		return;
	}
	bcl_table_begin(node);
	bcl_table_chain(bcl_table_bucket(table, key), node);
	if (++table->keys >> (64 - table->shift))
		bcl_table_grow(table, env);
}

static inline void bcl_table_take(struct bcl_table *table,
				  struct bcl_table_node *node)
{
	struct bcl_table_node *next = node->next;

	if (node->link) {
		*node->link = node->chain;
		if (node->chain)
			node->chain->link = node->link;
		if (next == node) {
			bcl_assert(table->keys);
			table->keys--;
			return;
		}
		bcl_table_chain(node->link, next);
	}
	bcl_table_leave(node);
}

#endif
