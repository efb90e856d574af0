/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Connections: one with each incarnation of a node. */
#ifndef NICFW_CONN_H
#define NICFW_CONN_H

#include <nicfw/deadline.h>

static inline struct nic_conn *nic_conn_find(const struct bcl_card *card,
					     uint32_t id)
{
	struct nic_conn *conn = card->conns[id >> 2 & card->conn_mask];

	return conn && conn->id == (id & ~3u) ? conn : NULL;
}

/* A rail for frames that may go by any. */
static inline unsigned nic_conn_any_rail(const struct nic_conn *conn)
{
	return conn->small_rail < BCL_RAILS_MAX ? conn->small_rail : 0;
}

/*
 * Iterate over all connections. *index is 0 at first. Returns NULL at the end.
 */
static inline struct nic_conn *nic_conn_next(const struct bcl_card *card,
					     uint32_t *index)
{
	struct nic_conn *conn = NULL;

	while (!conn && *index < card->conns_end)
		conn = card->conns[(*index)++];
	return conn;
}

struct nic_conn *bcl_nic_conn_make(struct bcl_card *card,
				   struct nic_node *node);
void bcl_nic_conn_rename(struct bcl_card *card, struct nic_conn *conn);
void bcl_nic_conn_free(struct bcl_card *card, struct nic_conn *conn);
void bcl_nic_conn_up(struct bcl_card *card, struct nic_conn *conn);
/* True if the peer may have seen requests that are not finished. */
bool bcl_nic_conn_owed(const struct nic_conn *conn);
/* True if neither side has a message or frame in progress. */
bool bcl_nic_conn_idle(const struct nic_conn *conn);
/* Ask the connection that was idle for the longest time to end. */
void bcl_nic_conn_evict(struct bcl_card *card);
void bcl_nic_conn_ack(struct bcl_card *card, struct nic_conn *conn,
		      unsigned rail);

/*
 * Put a connection into card->working, for reasons of enum nic_conn_work.
 */
static inline void nic_conn_work(struct bcl_card *card, struct nic_conn *conn,
				 unsigned what)
{
	conn->working |= (uint8_t)what;
	if (nic_list_empty(&conn->work))
		nic_list_append(&card->working, &conn->work);
}

static inline void nic_conn_ack_soon(struct bcl_card *card,
				     struct nic_conn *conn)
{
	if (conn->ack_at != NIC_NEVER)
		return;
	conn->ack_at = card->now + card->config.ack_delay;
	nic_deadline(card, conn, conn->ack_at);
}

/* Frames were acknowledged: continue the work that waited for the window. */
void bcl_nic_conn_resume(struct bcl_card *card, struct nic_conn *conn);
/* All frames are acknowledged: set a timer to PING if verdicts are missing. */
void bcl_nic_conn_await(struct bcl_card *card, struct nic_conn *conn);

#endif
