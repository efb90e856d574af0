/* SPDX-License-Identifier: MIT */
/* Hash table of queues: the parts that are not in line, see table.h. */
#include "adi/table.h"

#include <stdbool.h>
#include <string.h>

static size_t buckets_of(const struct bcl_table *table)
{
	return (size_t)1 << (64 - table->shift);
}

void bcl_table_open(struct bcl_table *table)
{
	memset(table, 0, sizeof(*table));
	table->shift = 64 - BCL_TABLE_FIRST_BITS;
	table->buckets = table->first;
}

static void release_buckets(struct bcl_table_node **first,
			    struct bcl_table_node **buckets, size_t n,
			    const struct bcl_env *env)
{
	if (buckets != first)
		env->release(env->world, buckets, n * sizeof(*buckets));
}

void bcl_table_close(struct bcl_table *table, const struct bcl_env *env)
{
	release_buckets(table->first, table->buckets, buckets_of(table), env);
}

void bcl_table_grow(struct bcl_table *table, const struct bcl_env *env)
{
	size_t old = buckets_of(table), i;
	struct bcl_table_node **buckets = table->buckets, *node, *next;
	struct bcl_table_node **larger =
		env->allocate(env->world, 2 * old * sizeof(*larger));

	if (!larger)
		return;
	table->buckets = larger;
	table->shift--;
	for (i = 0; i < old; i++) {
		for (node = buckets[i]; node; node = next) {
			next = node->chain;
			bcl_table_chain(bcl_table_bucket(table, node->key),
					node);
		}
	}
	release_buckets(table->first, buckets, old, env);
}

void bcl_table_each_of(struct bcl_table_node *first,
		       void (*call)(struct bcl_table_node *node, void *arg),
		       void *arg)
{
	struct bcl_table_node *node = first, *next, *last = first->prev;
	bool end;

	do {
		next = node->next;
		end = node == last;
		call(node, arg);
		node = next;
	} while (!end);
}

void bcl_table_each(struct bcl_table *table,
		    void (*call)(struct bcl_table_node *node, void *arg),
		    void *arg)
{
	struct bcl_table_node *node, *chain;
	size_t i;

	for (i = 0; i < buckets_of(table); i++) {
		for (node = table->buckets[i]; node; node = chain) {
			chain = node->chain;
			bcl_table_each_of(node, call, arg);
		}
	}
}
