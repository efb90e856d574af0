/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* The memory of ports and connections. */
#ifndef NICFW_ARENA_H
#define NICFW_ARENA_H

#include <nicfw/card.h>

void bcl_nic_arena_init(struct bcl_card *card, void *memory, uint32_t size);
void *bcl_nic_arena_take(struct bcl_card *card, uint32_t size); /* zeroed */
void bcl_nic_arena_put(struct bcl_card *card, void *memory);
uint32_t bcl_nic_arena_size(uint32_t size); /* in the arena, with its header */

#endif
