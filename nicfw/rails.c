/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * Rails: configuration by the host, the choice for each message, and the end of
 * a rail.
 *
 * When a rail dies both sides give it up, and neither takes a frame by it
 * before the next handshake. So the frames that each side then reports as
 * arrived are final. The missing frames may go by another rail, and no part of
 * a message arrives twice. If the peer cannot report, or does not for a long
 * time, messages are withdrawn and sent as a whole.
 *
 * A refusal by the wire is evidence against the peer only if the rail did lead
 * to the peer. Otherwise another host has the address (possibly our own), or a
 * firewall answers. Nor is it evidence if another rail vouches for the peer.
 */
#include <nicfw/rails.h>

#include <nicfw/card.h>
#include <nicfw/conn.h>
#include <nicfw/frame.h>
#include <nicfw/launch.h>
#include <nicfw/message.h>
#include <nicfw/retransmit.h>
#include <nicfw/window.h>

enum {
	/* fraction of peer_timeout for other rails to vouch for the peer */
	VOUCH = 64,
};

/*
 * Choose among several rails for short messages, so that connections share
 * them. Both ends make the same choice: frames of the other direction then
 * carry the acknowledgements. `both` mixes the card ids of both ends, which
 * need not be random.
 */
static unsigned choose_rail(unsigned rails, uint64_t both)
{
	uint32_t turn = (uint32_t)(both ^ both >> 32) * 0x9e3779b1u >> 16;
	unsigned n = 0, rail;

	for (rail = 0; rail < BCL_RAILS_MAX; rail++)
		n += rails >> rail & 1;
	turn %= n;
	for (rail = 0;; rail++)
		if (rails >> rail & 1 && turn-- == 0)
			return rail;
}

void bcl_nic_rails_choose(struct bcl_card *card, struct nic_conn *conn)
{
	unsigned rail, small = BCL_RAILS_MAX, bulk = BCL_RAILS_MAX;
	unsigned stripes = 0, smalls = 0;

	for (rail = BCL_RAILS_MAX; rail-- > 0;) {
		if (conn->window[rail].state != NIC_RAIL_PROVED)
			continue;
		if (small == BCL_RAILS_MAX || card->rail[rail].small)
			small = rail;
		if (bulk == BCL_RAILS_MAX || card->rail[rail].bulk)
			bulk = rail;
		stripes |= (unsigned)card->rail[rail].bulk << rail;
		smalls |= (unsigned)card->rail[rail].small << rail;
	}
	if (smalls & (smalls - 1))
		small = choose_rail(smalls,
				    card->config.card ^ conn->node->card);
	conn->small_rail = (uint8_t)small;
	conn->bulk_rail = (uint8_t)bulk;
	conn->stripes = (uint8_t)(stripes & (stripes - 1) ? stripes : 0);
}

/*
 * Tell the peer by all other proved rails to give this rail up, too, and to
 * report the frames that came by it, if this side needs the report.
 */
static void tell_peer(struct bcl_card *card, struct nic_conn *conn,
		      unsigned rail)
{
	unsigned by;

	if (conn->window[rail].peer == 0)
		return;
	for (by = 0; by < BCL_RAILS_MAX; by++)
		if (conn->window[by].state == NIC_RAIL_PROVED)
			bcl_nic_frame_rail_down(card, conn, by, rail);
}

/*
 * Free the flight. Its messages are sent by another rail, or withdrawn, even if
 * the frame arrived.
 */
static void drop(struct bcl_card *card, struct nic_conn *conn,
		 struct nic_flight *flight)
{
	bcl_nic_message_reroute(card, conn, flight);
	bcl_nic_window_free(card, flight);
}

/*
 * The rail is dead: single-frame messages go by another rail. Fragments of long
 * messages stay until the peer reports which of them arrived.
 */
static void reroute_messages(struct bcl_card *card, struct nic_conn *conn,
			     unsigned rail)
{
	struct nic_window *window = &conn->window[rail];
	struct nic_flight *flight;
	struct nic_link *link, *next;
	uint32_t i = 0;

	while ((flight = bcl_nic_launch_next_new(card, conn, rail, &i)))
		bcl_nic_retransmit_reroute(card, conn, flight);
	for (link = window->flights.next; link != &window->flights;
	     link = next) {
		next = link->next;
		flight = bcl_container_of(link, struct nic_flight, link);
		if (nic_message_part(conn, flight))
			bcl_nic_window_mark_lost(flight);
		else
			drop(card, conn, flight);
	}
	bcl_nic_window_stop(window);
}

/* The peer has reported which frames came: send the others by another rail. */
static void reroute_missing(struct bcl_card *card, struct nic_conn *conn,
			    unsigned rail, const struct nic_sack *report)
{
	struct nic_flight *flight;
	bool known;

	while ((flight = bcl_nic_window_missing(card, &conn->window[rail],
						report, &known))) {
		if (known)
			bcl_nic_retransmit_reroute(card, conn, flight);
		else
			drop(card, conn, flight);
	}
}

/*
 * The peer will not report which frames came by the rail: the messages of all
 * flights are sent as a whole, or withdrawn.
 */
static void give_up(struct bcl_card *card, struct nic_conn *conn, unsigned rail)
{
	struct nic_window *window = &conn->window[rail];
	struct nic_flight *flight;

	window->down_tries = 0;
	while ((flight = nic_list_first(&window->flights, struct nic_flight,
					link)))
		drop(card, conn, flight);
	bcl_nic_conn_resume(card, conn);
}

/* Give the rail up on this side. */
static void stop(struct bcl_card *card, struct nic_conn *conn, unsigned rail)
{
	struct nic_window *window = &conn->window[rail];
	unsigned other;

	if (window->state == NIC_RAIL_PROVED)
		nic_count(card, rails_lost);
	window->state = NIC_RAIL_OFF;
	window->turn++;
	window->ack_due = 0;
	reroute_messages(card, conn, rail);
	window->down_tries =
		nic_list_empty(&window->flights) ? 0 : NIC_RAIL_DOWN_TRIES;
	bcl_nic_rails_choose(card, conn);
	if (conn->small_rail == BCL_RAILS_MAX) /* no rail left to ask by */
		for (other = 0; other < BCL_RAILS_MAX; other++)
			give_up(card, conn, other);
	bcl_nic_conn_resume(card, conn);
	conn->hello_wait = (uint32_t)card->config.rto_min;
	conn->hello_at = card->now + conn->hello_wait;
	nic_conn_due(card, conn, conn->hello_at);
}

void bcl_nic_rails_down(struct bcl_card *card, struct nic_conn *conn,
			unsigned rail)
{
	stop(card, conn, rail);
	tell_peer(card, conn, rail);
}

/* True if another rail may still get its first answer. */
static bool hopes(const struct nic_conn *conn)
{
	unsigned rail;

	for (rail = 0; rail < BCL_RAILS_MAX; rail++)
		if (conn->window[rail].state != NIC_RAIL_OFF &&
		    conn->window[rail].refused == 0)
			return true;
	return false;
}

/*
 * Send PING on each proved rail but `refused`. Returns the latest time at which
 * the peer was heard by one of them; 0: there is none.
 */
static uint64_t vouched(struct bcl_card *card, struct nic_conn *conn,
			unsigned refused)
{
	uint64_t heard = 0;
	unsigned rail;

	for (rail = 0; rail < BCL_RAILS_MAX; rail++) {
		if (rail == refused ||
		    conn->window[rail].state != NIC_RAIL_PROVED)
			continue;
		if (conn->window[rail].heard > heard)
			heard = conn->window[rail].heard;
		nic_count(card, pings_sent);
		bcl_nic_frame_bare(card, conn, rail, BCL_FRAME_PING);
	}
	return heard;
}

/*
 * A rail that once led to the peer was given up, is called, and is refused.
 * Returns true if no other rail has vouched for the peer in time.
 */
static bool refused_again(struct bcl_card *card, struct nic_conn *conn,
			  unsigned rail)
{
	struct nic_window *window = &conn->window[rail];
	uint32_t heard = nic_coarse(vouched(card, conn, rail));

	if (bcl_before(window->refused, heard)) {
		window->refused = nic_coarse(card->now);
		return false;
	}
	return nic_coarse(card->now) - window->refused >=
	       nic_coarse(card->config.peer_timeout / VOUCH);
}

bool bcl_nic_rails_refused(struct bcl_card *card, struct nic_conn *conn,
			   unsigned rail)
{
	struct nic_window *window = &conn->window[rail];

	nic_count(card, rails_refused);
	if (window->refused == 0)
		window->refused = nic_coarse(card->now);
	if (conn->state < NIC_CONN_UP)
		return !hopes(conn);
	if (window->state != NIC_RAIL_PROVED)
		return window->peer && refused_again(card, conn, rail);
	if (!vouched(card, conn, rail))
		return true;
	bcl_nic_rails_down(card, conn, rail);
	return false;
}

void bcl_nic_rails_send_down(struct bcl_card *card, struct nic_conn *conn,
			     unsigned rail)
{
	if (--conn->window[rail].down_tries)
		tell_peer(card, conn, rail);
	else
		give_up(card, conn, rail);
}

bool bcl_nic_rails_down_received(struct bcl_card *card, struct nic_conn *conn,
				 unsigned by,
				 const struct bcl_segment_header *segment,
				 const uint8_t *bits)
{
	uint64_t says = bcl_get64(segment->targ64);
	uint32_t id = bcl_get32(segment->target);
	const struct nic_sack report = { (uint32_t)says,
					 bcl_get32(segment->arg32), bits };
	struct nic_window *window = &conn->window[id & 3];
	uint8_t turn = (uint8_t)(says >> 32), heard = (uint8_t)(says >> 40);
	int later = (int8_t)(turn - window->peer_turn);

	if ((id & ~3u) != conn->id || (id & 3) == by || window->peer == 0 ||
	    bcl_before(window->next, report.ack))
		return false;
	if (later < 0 || (later == 0 && window->state == NIC_RAIL_PROVED))
		return true; /* the rail is up again */
	if (window->state == NIC_RAIL_PROVED)
		stop(card, conn, id & 3);
	window->peer_turn = turn;
	/* Not a report about an earlier end of the rail. */
	if (window->down_tries && (later || heard == window->turn)) {
		window->down_tries = 0;
		reroute_missing(card, conn, id & 3, &report);
	}
	if (says >> 48 & 1)
		bcl_nic_frame_rail_down(card, conn, by, id & 3);
	return true;
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
	rail->mtu = bcl_min32(control->rail.mtu, card->config.frame);
	rail->burst = control->rail.burst;
	rail->window = bcl_max32(control->rail.window, rail->mtu);
	rail->small = control->rail.small != 0;
	rail->bulk = control->rail.bulk != 0;
	rail->busy = 0;
	/* Even a smaller MTU is told to peers by a new handshake. */
	while ((conn = nic_conn_next(card, &i))) {
		if (conn->window[control->rail.number].state != NIC_RAIL_OFF)
			bcl_nic_rails_down(card, conn, control->rail.number);
		if (conn->node->conn == conn &&
		    conn->state != NIC_CONN_PARKING) {
			conn->hello_at = card->now;
			nic_conn_due(card, conn, card->now);
		}
	}
	return BCL_OK;
}
