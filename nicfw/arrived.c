/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Frames of the peer that have arrived: all before `expected`, and in a bitmap
 * those that came out of order.
 */
#include <nicfw/arrived.h>

#include <nicfw/arena.h>

static bool has_arrived(const struct nic_conn *conn, unsigned rail,
			uint32_t seq)
{
	const struct nic_arrived *some = conn->arrived;

	return some &&
	       (some->bits[rail][seq % BCL_SACK_BITS / 32] >> seq % 32 & 1);
}

static void forget_arrival(struct nic_conn *conn, unsigned rail, uint32_t seq)
{
	if (conn->arrived)
		conn->arrived->bits[rail][seq % BCL_SACK_BITS / 32] &=
			~(1u << seq % 32);
}

enum nic_seq bcl_nic_arrived_check_slow(struct bcl_card *card,
					struct nic_conn *conn, unsigned rail,
					uint32_t seq)
{
	uint32_t expected = conn->window[rail].expected;

	if (bcl_before(seq, expected))
		return NIC_SEQ_DUPLICATE;
	if (seq - expected >= BCL_SACK_BITS)
		return NIC_SEQ_OUTSIDE;
	if (!conn->arrived)
		conn->arrived =
			bcl_nic_arena_take(card, sizeof(*conn->arrived));
	if (!conn->arrived)
		return NIC_SEQ_NO_MEMORY;
	return has_arrived(conn, rail, seq) ? NIC_SEQ_DUPLICATE : NIC_SEQ_NEW;
}

/*
 * Frame `expected` has arrived: advance over it and the frames that had arrived
 * before their turn.
 */
static void advance_expected(struct nic_conn *conn, unsigned rail)
{
	struct nic_window *window = &conn->window[rail];

	do {
		forget_arrival(conn, rail, window->expected);
		window->expected++;
	} while (bcl_before(window->expected, window->highest) &&
		 has_arrived(conn, rail, window->expected));
}

void bcl_nic_arrived_note_slow(struct bcl_card *card, struct nic_conn *conn,
			       unsigned rail, uint32_t seq, uint32_t bytes)
{
	struct nic_window *window = &conn->window[rail];

	window->unacked += bytes;
	nic_arrived_owe(card, window);
	bcl_assert(seq == window->expected || conn->arrived);
	if (seq != window->expected)
		conn->arrived->bits[rail][seq % BCL_SACK_BITS / 32] |=
			1u << seq % 32;
	if (!bcl_before(seq, window->highest))
		window->highest = seq + 1;
	if (seq == window->expected)
		advance_expected(conn, rail);
	nic_conn_work(card, conn, NIC_WORK_ACK << rail);
}

void bcl_nic_arrived_begin(struct nic_conn *conn, unsigned rail, uint32_t seq)
{
	struct nic_window *window = &conn->window[rail];

	if (conn->arrived)
		memset(conn->arrived->bits[rail], 0,
		       sizeof(conn->arrived->bits[rail]));
	window->expected = seq;
	window->highest = seq;
}

void bcl_nic_arrived_skip(struct nic_conn *conn, unsigned rail, uint32_t seq)
{
	struct nic_window *window = &conn->window[rail];

	if (!bcl_before(window->expected, seq))
		return;
	if (seq - window->expected >= BCL_SACK_BITS) {
		bcl_nic_arrived_begin(conn, rail, seq);
		return;
	}
	while (bcl_before(window->expected, seq))
		forget_arrival(conn, rail, window->expected++);
	if (bcl_before(window->highest, seq))
		window->highest = seq;
	if (bcl_before(window->expected, window->highest) &&
	    has_arrived(conn, rail, window->expected))
		advance_expected(conn, rail);
}

uint32_t bcl_nic_arrived_bits(const struct nic_conn *conn, unsigned rail,
			      uint8_t *bits)
{
	const struct nic_window *window = &conn->window[rail];
	uint32_t first = window->expected + 1;
	uint32_t n = window->highest - first, i;

	memset(bits, 0, (n + 7) / 8);
	for (i = 0; i < n; i++)
		if (has_arrived(conn, rail, first + i))
			bits[i / 8] |= (uint8_t)(1u << i % 8);
	return n;
}
