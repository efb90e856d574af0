/* SPDX-License-Identifier: MIT OR GPL-2.0-only */
/*
 * A long message over several rails. Any rail may carry any part, as fragments
 * name their place in the message, and each rail numbers and retransmits its
 * own frames. The next stripe takes the rail on which the stripe would arrive
 * first, computed from the bytes in flight on each rail and the measured pace
 * of each.
 *
 * Among equal rails the connection's small rail comes first. Otherwise many
 * connections with one or two frames in flight each would all begin with the
 * same rail.
 *
 * A rail without room is skipped, unless it would deliver all that is left
 * before another rail delivers one stripe. A rail with an unanswered time-out
 * is skipped, too: its frames would come last.
 */
#include <nicfw/stripe.h>

#include <nicfw/conn.h>
#include <nicfw/window.h>

static const uint32_t STRIPE = 4096;
static const uint32_t SPAN_BYTES = 32768;  /* acknowledged, for a measurement */
static const uint32_t PACE_MAX = 1u << 20; /* ns for 1 KB */
static const uint64_t PACE_LIFE = 1000000000; /* ns until a pace is outdated */
static const uint32_t SPAN_NONE = UINT32_MAX; /* of span_bytes: not measuring */
static const uint32_t TIME_MAX = (1u << 12) - 1; /* KB; * PACE_MAX < 2^32 */

void bcl_nic_stripe_begin(struct nic_window *window)
{
	if (window->bytes == 0)
		window->span_bytes = SPAN_NONE;
}

void bcl_nic_stripe_acked(const struct bcl_card *card,
			  struct nic_window *window, uint32_t bytes)
{
	uint64_t ns = card->now - window->span_from;
	uint32_t pace;

	if (window->span_bytes != SPAN_NONE) {
		window->span_bytes += bytes;
		if (window->span_bytes < SPAN_BYTES)
			return;
		pace = ns < UINT32_MAX ? (uint32_t)ns : UINT32_MAX;
		pace /= window->span_bytes >> 10;
		pace = bcl_min32(bcl_max32(pace, 1), PACE_MAX);
		window->pace +=
			window->pace ? pace / 4 - window->pace / 4 : pace;
	}
	window->span_from = card->now;
	window->span_bytes = 0;
}

/* True if the pace was measured, and not long ago. */
static bool known(const struct bcl_card *card, const struct nic_window *window)
{
	return window->pace && card->now < window->span_from + PACE_LIFE;
}

/*
 * Time at which `bytes` more would have arrived, behind the bytes in flight. A
 * rail without a measured pace counts as the fastest, in order to be measured.
 */
static uint32_t arrival(const struct bcl_card *card,
			const struct nic_window *window, uint32_t bytes)
{
	uint32_t pace = known(card, window) ? window->pace : 1;

	return bcl_min32((window->bytes >> 10) + (bytes >> 10) + 1, TIME_MAX) *
	       pace;
}

/*
 * Long stripes at first, shorter ones towards the end, to let all rails end
 * together.
 */
uint32_t bcl_nic_stripe_length(const struct nic_conn *conn, uint32_t left)
{
	uint32_t shares = 0;
	unsigned rail;

	bcl_assert(conn->stripes);
	for (rail = 0; rail < BCL_RAILS_MAX; rail++)
		shares += 2 * (conn->stripes >> rail & 1);
	return bcl_min32(left, left / shares / STRIPE * STRIPE + STRIPE);
}

unsigned bcl_nic_stripe_pick(const struct bcl_card *card,
			     const struct nic_conn *conn, uint32_t stripe,
			     uint32_t left)
{
	uint32_t first = UINT32_MAX, wait = UINT32_MAX;
	unsigned i, rail, best = BCL_RAILS_MAX, answering = 0;
	const struct nic_window *window;
	uint32_t at;

	for (i = 0; i < BCL_RAILS_MAX; i++) {
		rail = (conn->small_rail + i) % BCL_RAILS_MAX;
		window = &conn->window[rail];
		if (!(conn->stripes >> rail & 1) || window->timeouts)
			continue;
		answering = 1;
		if (card->rail[rail].busy ||
		    !nic_window_open_part(card, rail, window, stripe)) {
			if (known(card, window))
				wait = bcl_min32(wait,
						 arrival(card, window, left));
			continue;
		}
		at = nic_window_burst(card, rail, window);
		at = arrival(card, window, bcl_min32(stripe, at));
		if (at < first) {
			first = at;
			best = rail;
		}
	}
	if (!answering)
		return conn->bulk_rail;
	return wait < first ? BCL_RAILS_MAX : best;
}
