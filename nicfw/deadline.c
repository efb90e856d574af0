/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A binary heap of connections by `due`. A deadline that is postponed stays
 * where it is in the heap and expires once in vain. So a busy connection
 * changes the heap once per acknowledgement delay, not once per frame.
 */
#include <nicfw/deadline.h>

#include <nicfw/conn.h>

static void place_conn(struct bcl_card *card, struct nic_conn *conn,
		       uint32_t at)
{
	card->heap[at] = conn;
	conn->heap = at;
}

static void rise(struct bcl_card *card, struct nic_conn *conn, uint32_t at)
{
	while (at > 0 && card->heap[(at - 1) / 2]->due > conn->due) {
		place_conn(card, card->heap[(at - 1) / 2], at);
		at = (at - 1) / 2;
	}
	place_conn(card, conn, at);
}

static void sink(struct bcl_card *card, struct nic_conn *conn, uint32_t at)
{
	uint32_t child;

	while ((child = 2 * at + 1) < card->nheap) {
		if (child + 1 < card->nheap &&
		    card->heap[child + 1]->due < card->heap[child]->due)
			child++;
		if (card->heap[child]->due >= conn->due)
			break;
		place_conn(card, card->heap[child], at);
		at = child;
	}
	place_conn(card, conn, at);
}

void bcl_nic_deadline_add(struct bcl_card *card, struct nic_conn *conn)
{
	bcl_assert(card->nheap <= card->conn_mask);
	rise(card, conn, card->nheap++);
}

void bcl_nic_deadline_remove(struct bcl_card *card, struct nic_conn *conn)
{
	struct nic_conn *last = card->heap[--card->nheap];

	bcl_assert(card->heap[conn->heap] == conn);
	if (last == conn)
		return;
	place_conn(card, last, conn->heap);
	bcl_nic_deadline_move(card, last);
}

void bcl_nic_deadline_move(struct bcl_card *card, struct nic_conn *conn)
{
	uint32_t at = conn->heap;

	bcl_assert(at < card->nheap && card->heap[at] == conn);
	if (at > 0 && card->heap[(at - 1) / 2]->due > conn->due)
		rise(card, conn, at);
	else
		sink(card, conn, at);
}
