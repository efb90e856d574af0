/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Circular lists through a link in the object, and pools of objects of one
 * type.
 */
#ifndef NICFW_LIST_H
#define NICFW_LIST_H

#include <stddef.h>
#include <stdint.h>

#include <base/base.h>
#include <nicfw/memory.h>

struct nic_link {
	struct nic_link *next, *prev;
};

/*
 * An empty list, or a link that is in none. A link in no list may be removed
 * once more.
 */
static inline void nic_list_init(struct nic_link *list)
{
	list->next = list;
	list->prev = list;
}

static inline bool nic_list_empty(const struct nic_link *list)
{
	return list->next == list;
}

static inline void nic_list_insert(struct nic_link *before,
				   struct nic_link *link)
{
	bcl_assert(nic_list_empty(link));
	link->next = before;
	link->prev = before->prev;
	before->prev->next = link;
	before->prev = link;
}

static inline void nic_list_append(struct nic_link *list, struct nic_link *link)
{
	nic_list_insert(list, link);
}

static inline void nic_list_push(struct nic_link *list, struct nic_link *link)
{
	nic_list_insert(list->next, link);
}

static inline void nic_list_remove(struct nic_link *link)
{
	bcl_assert(link->next->prev == link && link->prev->next == link);
	link->next->prev = link->prev;
	link->prev->next = link->next;
	nic_list_init(link);
}

/* Move all of `from` to the front of `list`. */
static inline void nic_list_splice(struct nic_link *list, struct nic_link *from)
{
	if (nic_list_empty(from))
		return;
	from->prev->next = list->next;
	list->next->prev = from->prev;
	list->next = from->next;
	from->next->prev = list;
	nic_list_init(from);
}

/* The first object of a list, or NULL. */
#define nic_list_first(list, type, member) \
	(nic_list_empty(list) ? NULL       \
			      : bcl_container_of((list)->next, type, member))

/* Objects of one type, which begin with their link. They never move. */
struct nic_pool {
	struct nic_link *free; /* objects given back, linked by `next` */
	uint8_t *fresh;	       /* first object that was never taken */
	uint32_t size;	       /* of an object */
	uint32_t left;
	uint32_t most; /* taken at once, at most */
	bool named;    /* fields are read even while an object is free */
};

/* Touches none of the objects. */
static inline void nic_pool_init(struct nic_pool *pool, void *objects,
				 uint32_t n, uint32_t size)
{
	pool->free = NULL;
	pool->fresh = objects;
	pool->size = size;
	pool->left = n;
	pool->most = 0;
	pool->named = false;
}

static inline void *nic_pool_take(struct nic_pool *pool)
{
	struct nic_link *link = pool->free;

	if (!pool->left)
		return NULL;
	if (link) {
		pool->free = link->next;
	} else {
		link = (void *)pool->fresh;
		pool->fresh += pool->size;
		pool->most++;
	}
	pool->left--;
	nic_list_init(link);
	return link;
}

/* True if the object was taken from the pool at some time. */
static inline bool nic_pool_owns(const struct nic_pool *pool,
				 const struct nic_link *link)
{
	const uint8_t *at = (const void *)link;

	return at < pool->fresh &&
	       (size_t)(pool->fresh - at) <= (size_t)pool->most * pool->size &&
	       (size_t)(pool->fresh - at) % pool->size == 0;
}

/*
 * `link` must be in no list. An object that was put already is in the list of
 * the pool. The object freed last is taken first, as it is
 * still in the cache.
 */
static inline void nic_pool_put(struct nic_pool *pool, struct nic_link *link)
{
	bcl_assert(nic_pool_owns(pool, link) && nic_list_empty(link));
	if (!pool->named)
		nic_spoil(link, pool->size);
	link->next = pool->free;
	pool->free = link;
	pool->left++;
}

#endif
