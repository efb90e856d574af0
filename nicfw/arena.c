/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * The part of the card's memory that is allocated and freed: ports and
 * connections. Only control calls and handshakes do that. First fit in a list
 * ordered by address; free neighbours are joined.
 */
#include <nicfw/arena.h>

enum {
	CHUNK = 64, /* bytes: alignment and unit of sizes */
};

/*
 * The header of each piece of memory, free or in use. The link of a piece in
 * use is in no list.
 */
struct piece {
	struct nic_link link; /* card->free */
	uint32_t size;	      /* bytes, with the header */
};

uint32_t bcl_nic_arena_size(uint32_t size)
{
	return (size + CHUNK + CHUNK - 1) & ~(CHUNK - 1u);
}

void bcl_nic_arena_init(struct bcl_card *card, void *memory, uint32_t size)
{
	struct piece *piece = memory;

	nic_list_init(&card->free);
	if (size < 2 * CHUNK)
		return;
	piece->size = size & ~(CHUNK - 1u);
	nic_list_init(&piece->link);
	nic_list_append(&card->free, &piece->link);
}

void *bcl_nic_arena_take(struct bcl_card *card, uint32_t size)
{
	struct nic_link *link;
	struct piece *piece, *rest;

	size = bcl_nic_arena_size(size);
	for (link = card->free.next; link != &card->free; link = link->next) {
		piece = bcl_container_of(link, struct piece, link);
		if (piece->size < size)
			continue;
		if (piece->size - size >= 2 * CHUNK) {
			rest = (struct piece *)(void *)((char *)piece + size);
			rest->size = piece->size - size;
			nic_list_init(&rest->link);
			nic_list_insert(link->next, &rest->link);
			piece->size = size;
		}
		nic_list_remove(link);
		card->arena_used += piece->size;
		card->arena_most =
			bcl_max32(card->arena_most, card->arena_used);
		memset((char *)piece + CHUNK, 0, piece->size - CHUNK);
		return (char *)piece + CHUNK;
	}
	return NULL;
}

static void join_next(struct bcl_card *card, struct piece *piece)
{
	struct piece *next;

	if (piece->link.next == &card->free)
		return;
	next = bcl_container_of(piece->link.next, struct piece, link);
	bcl_assert((char *)piece + piece->size <= (char *)next);
	if ((char *)piece + piece->size != (char *)next)
		return;
	nic_list_remove(&next->link);
	piece->size += next->size;
}

void bcl_nic_arena_put(struct bcl_card *card, void *memory)
{
	struct piece *piece = (struct piece *)(void *)((char *)memory - CHUNK);
	struct nic_link *link = card->free.next;

	bcl_assert(piece->size % CHUNK == 0 && piece->size <= card->arena_used);
	card->arena_used -= piece->size;
	nic_spoil(memory, piece->size - CHUNK);
	while (link != &card->free && (char *)link < (char *)piece)
		link = link->next;
	nic_list_insert(link, &piece->link);
	join_next(card, piece);
	if (piece->link.prev != &card->free)
		join_next(card, bcl_container_of(piece->link.prev, struct piece,
						 link));
}

uint32_t bcl_card_free(const struct bcl_card *card)
{
	const struct nic_link *link;
	uint32_t bytes = 0;

	for (link = card->free.next; link != &card->free; link = link->next)
		bytes += bcl_container_of(link, struct piece, link)->size;
	return bytes;
}
