/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* What we say of the peer's messages, for each short one; see verdict.c. */
#ifndef NICFW_VERDICT_H
#define NICFW_VERDICT_H

#include <nicfw/card.h>

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

/* Is it the number of a message that we are to judge and have not? */
static inline int nic_verdict_open(const struct nic_conn *conn, uint32_t number)
{
	return number && number - conn->base < BCL_MSG_AHEAD &&
	       (number == conn->top ||
		nic_verdict_of(conn, number) == BCL_VERDICT_UNKNOWN);
}

/* The peer's oldest message without a verdict. 0: impossible. */
static inline int nic_verdict_base(struct bcl_card *card, struct nic_conn *conn,
				   uint32_t base)
{
	/* if not, the frame was overtaken, or nothing is new */
	return !bcl_before(conn->base, base) ||
	       bcl_nic_verdict_base_slow(card, conn, base);
}

/* It is delivered, mostly as the next one in order. */
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

static inline int nic_verdict_failed(enum bcl_verdict verdict)
{
	return verdict >= BCL_VERDICT_NOPORT;
}

#endif
