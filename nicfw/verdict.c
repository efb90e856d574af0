/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Verdicts on the peer's messages: four bits for each of the last
 * BCL_MSG_MEMORY numbers. If a message comes once more, the card only repeats
 * the verdict, and does not execute the message a second time.
 *
 *   base - 1024       base         done            top         base + 1024
 *      |-- peer knows --|- delivered -|- some judged -|-- unknown --|
 *
 * `done` goes out in each frame header: all messages before are delivered, or
 * have another verdict that the peer knows (their numbers are below its base).
 * Verdicts from done to top go out in VERDICT segments.
 */
#include <nicfw/verdict.h>

#include <nicfw/conn.h>

/*
 * Forget the verdict of an old number, for a new one. No message has number 0:
 * it counts as delivered, and nothing waits for it.
 */
static void clear(struct nic_conn *conn, uint32_t number)
{
	nic_verdict_set(conn, number,
			number ? BCL_VERDICT_UNKNOWN : BCL_VERDICT_DELIVERED);
}

void bcl_nic_verdict_start(struct nic_conn *conn, uint32_t first)
{
	memset(conn->verdicts, 0, sizeof(conn->verdicts)); /* all UNKNOWN */
	if (0 - first < BCL_MSG_AHEAD)
		clear(conn, 0);
	conn->base = first;
	conn->done = first;
	conn->top = first;
}

static void advance_done(struct nic_conn *conn)
{
	if (bcl_before(conn->done, conn->base))
		conn->done = conn->base;
	/* Beyond that, the entries are of older numbers. */
	while (conn->done - conn->base < BCL_MSG_AHEAD &&
	       nic_verdict_of(conn, conn->done) == BCL_VERDICT_DELIVERED)
		conn->done++;
	if (bcl_before(conn->top, conn->done))
		conn->top = conn->done;
}

bool bcl_nic_verdict_base_slow(struct bcl_card *card, struct nic_conn *conn,
			       uint32_t base)
{
	uint32_t old = conn->done;

	/* One more than AHEAD: the sender skips number 0. */
	if (base - conn->base > BCL_MSG_AHEAD + 1)
		return false;
	for (; conn->base != base; conn->base++)
		clear(conn, conn->base + BCL_MSG_AHEAD);
	if (old == conn->top && !bcl_before(old, base))
		return true;
	advance_done(conn);
	if (conn->done != old) {
		conn->done_due = 1;
		nic_conn_ack_soon(card, conn);
	}
	return true;
}

void bcl_nic_verdict_give(struct bcl_card *card, struct nic_conn *conn,
			  uint32_t number, enum bcl_verdict verdict)
{
	nic_verdict_set(conn, number, verdict);
	if (!bcl_before(number, conn->top))
		conn->top = number + 1;
	if (number == conn->done && verdict == BCL_VERDICT_DELIVERED)
		advance_done(conn);
	else
		conn->told = 0;
	conn->done_due = 1;
	nic_conn_ack_soon(card, conn);
}

void bcl_nic_verdict_repeat(struct bcl_card *card, struct nic_conn *conn,
			    uint32_t number)
{
	if (!bcl_before(number, conn->done))
		conn->told = 0;
	conn->done_due = 1;
	nic_conn_ack_soon(card, conn);
}

uint32_t bcl_nic_verdict_bits(const struct nic_conn *conn, uint8_t *bits,
			      uint32_t most)
{
	uint32_t n = bcl_min32(conn->top - conn->done, most), i;

	memset(bits, 0, (n + 1) / 2);
	for (i = 0; i < n; i++)
		bits[i / 2] |= (uint8_t)(nic_verdict_of(conn, conn->done + i)
					 << i % 2 * 4);
	return n;
}
