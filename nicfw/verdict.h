/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* This card's verdicts on the peer's messages. */
#ifndef NICFW_VERDICT_H
#define NICFW_VERDICT_H

#include <nicfw/conn.h>

void bcl_nic_verdict_start(struct nic_conn *conn, uint32_t first);
bool bcl_nic_verdict_base_slow(struct bcl_card *card, struct nic_conn *conn,
			       uint32_t base);
void bcl_nic_verdict_give(struct bcl_card *card, struct nic_conn *conn,
			  uint32_t number, enum bcl_verdict verdict);
/*
 * The peer has sent a message once more after its verdict: tell the verdict
 * once more.
 */
void bcl_nic_verdict_repeat(struct bcl_card *card, struct nic_conn *conn,
			    uint32_t number);
/*
 * Write the verdicts from `done` to `top`, four bits each, but no more than
 * `most`. Returns how many.
 */
uint32_t bcl_nic_verdict_bits(const struct nic_conn *conn, uint8_t *bits,
			      uint32_t most);

static inline enum bcl_verdict nic_verdict_of(const struct nic_conn *conn,
					      uint32_t number)
{
	return (enum bcl_verdict)(conn->verdicts[number % BCL_MSG_MEMORY / 8] >>
					  number % 8 * 4 &
				  15);
}

static inline void nic_verdict_set(struct nic_conn *conn, uint32_t number,
				   uint32_t verdict)
{
	uint32_t *word = &conn->verdicts[number % BCL_MSG_MEMORY / 8];
	unsigned shift = number % 8 * 4;

	*word = (*word & ~(15u << shift)) | verdict << shift;
}

/* True if the number is that of a message without a verdict, within reach. */
static inline bool nic_verdict_open(const struct nic_conn *conn,
				    uint32_t number)
{
	return number && number - conn->base < BCL_MSG_AHEAD &&
	       (number == conn->top ||
		nic_verdict_of(conn, number) == BCL_VERDICT_UNKNOWN);
}

/*
 * The frame tells the peer's oldest message without a verdict. Returns false if
 * that is impossible.
 */
static inline bool nic_verdict_base(struct bcl_card *card,
				    struct nic_conn *conn, uint32_t base)
{
	/* otherwise the frame is old, or nothing has changed */
	return !bcl_before(conn->base, base) ||
	       bcl_nic_verdict_base_slow(card, conn, base);
}

/* The verdict DELIVERED, mostly for the next message in order. */
static inline void nic_verdict_delivered(struct bcl_card *card,
					 struct nic_conn *conn, uint32_t number)
{
	if (number != conn->done || number != conn->top ||
	    number == UINT32_MAX) {
		bcl_nic_verdict_give(card, conn, number, BCL_VERDICT_DELIVERED);
		return;
	}
	nic_verdict_set(conn, number, BCL_VERDICT_DELIVERED);
	conn->top = number + 1;
	conn->done = number + 1;
	conn->done_due = 1;
	nic_conn_ack_soon(card, conn);
}

static inline bool nic_verdict_failed(enum bcl_verdict verdict)
{
	return verdict >= BCL_VERDICT_NOPORT;
}

#endif
