/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/* Rails: what the host says of them, and which one a message takes. */
#include <nicfw/card.h>

void bcl_nic_rails_choose(struct bcl_card *card, struct nic_conn *conn)
{
	unsigned rail, small = BCL_RAILS_MAX, bulk = BCL_RAILS_MAX;
	unsigned stripes = 0;

	for (rail = BCL_RAILS_MAX; rail-- > 0;) {
		if (conn->window[rail].state != NIC_RAIL_PROVED)
			continue;
		if (small == BCL_RAILS_MAX || card->rail[rail].small)
			small = rail;
		if (bulk == BCL_RAILS_MAX || card->rail[rail].bulk)
			bulk = rail;
		stripes |= (unsigned)card->rail[rail].bulk << rail;
	}
	conn->small_rail = (uint8_t)small;
	conn->bulk_rail = (uint8_t)bulk;
	conn->stripes = (uint8_t)(stripes & (stripes - 1) ? stripes : 0);
}

void bcl_nic_rails_down(struct bcl_card *card, struct nic_conn *conn,
			unsigned rail)
{
	struct nic_window *window = &conn->window[rail];

	if (window->state == NIC_RAIL_PROVED)
		nic_count(card, rails_lost);
	window->state = NIC_RAIL_OFF;
	window->turn++;
	window->ack_due = 0;
	bcl_nic_window_abandon(card, conn, rail);
	bcl_nic_rails_choose(card, conn);
	bcl_nic_conn_resume(card, conn);
	conn->hello_wait = (uint32_t)card->config.rto_min;
	conn->hello_at = card->now + conn->hello_wait;
	nic_deadline(card, conn, conn->hello_at);
}

enum bcl_status bcl_nic_rails_set(struct bcl_card *card,
				  const struct bcl_control *control)
{
	struct nic_rail *rail;
	struct nic_conn *conn;
	uint32_t i = 0;

	if (control->rail.number >= BCL_RAILS_MAX ||
	    (control->rail.up &&
	     (control->rail.mtu < NIC_MTU_MIN || control->rail.burst == 0)))
		return BCL_ERR_ARG;
	rail = &card->rail[control->rail.number];
	rail->up = control->rail.up != 0;
	rail->mtu = nic_min32(control->rail.mtu, BCL_FRAME_MAX);
	rail->burst = control->rail.burst;
	rail->window = nic_max32(control->rail.window, rail->mtu);
	rail->small = control->rail.small != 0;
	rail->bulk = control->rail.bulk != 0;
	rail->busy = 0;
	/* Even a smaller MTU is told by shaking hands again. */
	while ((conn = nic_conn_next(card, &i))) {
		if (conn->window[control->rail.number].state != NIC_RAIL_OFF)
			bcl_nic_rails_down(card, conn, control->rail.number);
		if (conn->node->conn == conn &&
		    conn->state != NIC_CONN_PARKING) {
			conn->hello_at = card->now;
			nic_deadline(card, conn, card->now);
		}
	}
	return BCL_OK;
}
