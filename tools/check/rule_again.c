/* SPDX-License-Identifier: MIT */
/* Rules about retransmission. */
#include "tools/check/rules.h"

enum {
	REPEATS = 8,		  /* repetitions into silence, plus one for each
				   * PAUSE */
	PAUSE = 50 * 1000 * 1000, /* ns of silence */
	FETCH = 10 * 1000 * 1000, /* ns: the longest time that a slow card takes
				   * to fetch */
};

/* ns: time-out of a peer, if the trace does not contain ours. */
static const uint64_t TIMEOUT = 30000000000;

/* True if the card may have been fetching the data from host memory when the
 * acknowledgement or verdict arrived at time `told`. */
static bool was_fetching(const struct check_event *event, uint64_t told)
{
	return event->packet->time - told < FETCH;
}

void check_rule_again_frame(struct check_event *event)
{
	const struct check_frame *frame = event->frame;
	const struct check_lane *lane = event->lane;
	const struct check_sent *sent;

	if (!event->packet->outbound || event->bad || !lane ||
	    !lane->went_known || frame->kind != BCL_FRAME_DATA ||
	    !bcl_before(frame->seq, lane->acked))
		return;
	sent = lane->sent ? &lane->sent[frame->seq % BCL_SACK_BITS] : NULL;
	if (sent && sent->seq == frame->seq && !sent->again &&
	    was_fetching(event, sent->acked))
		return;
	check_complain(event, "frame %u again; all before %u are acknowledged",
		       (unsigned)frame->seq, (unsigned)lane->acked);
}

void check_rule_again_message(struct check_event *event)
{
	const struct check_number *number = event->numbered;

	if (number && number->verdict && !number->unheard &&
	    !was_fetching(event, number->told))
		check_complain(event,
			       "message %u of packet %u again, which has "
			       "its verdict",
			       (unsigned)number->msg, number->place.number);
}

void check_rule_endless(struct check_event *event)
{
	const struct check_frame *frame = event->frame;
	const struct check_lane *lane = event->lane;
	const struct check_sent *sent;
	uint64_t silence, most;

	if (!event->packet->outbound || event->bad || !lane || !lane->sent ||
	    frame->kind != BCL_FRAME_DATA || event->new_frame)
		return;
	sent = &lane->sent[frame->seq % BCL_SACK_BITS];
	if (sent->seq != frame->seq || sent->heard != event->link->heard)
		return;
	silence = event->packet->time - sent->heard;
	most = event->life->timeout ? event->life->timeout : TIMEOUT;
	if (sent->times > REPEATS + (silence < most ? silence : most) / PAUSE)
		check_complain(event,
			       "frame %u for the %uth time in %llu ms "
			       "without a sign of the peer",
			       (unsigned)frame->seq, (unsigned)sent->times + 1,
			       (unsigned long long)silence / 1000000);
}
