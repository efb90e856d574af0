/* SPDX-License-Identifier: MIT */
#include "mock_state.h"

enum {
	MAGIC = 0x3c0d,
};

struct mock_offer {
	struct mock_offer *next;
	struct mock_peer *owner;
	const void *buffer;
	size_t length;
	uint64_t cookie, id;
	bool withdrawn;
};

struct token {
	uint64_t magic, id, length, spare;
};

_Static_assert(sizeof(struct token) == BCL_KEY_MAX, "token");

enum bcl_status bcl_offer(struct bcl_peer *base, const void *buffer,
			  size_t length, uint64_t cookie, void *token)
{
	struct mock_peer *peer = mock_peer_of(base);
	struct mock *mock = mock_enter(peer->local);
	enum bcl_status status = mock_peer_ready(peer);
	struct mock_offer *offer;
	struct token t = { .magic = MAGIC, .length = length };

	if (!status && mock->options.offers &&
	    peer->local->offers >= mock->options.offers)
		status = BCL_ERR_AGAIN;
	if (!status) {
		peer->local->offers++;
		offer = calloc(1, sizeof(*offer));
		mock_check(offer, "no memory");
		t.id = ++mock->ids;
		*offer = (struct mock_offer){
			.next = mock->offers,
			.owner = peer,
			.buffer = buffer,
			.length = length,
			.cookie = cookie,
			.id = t.id,
		};
		mock->offers = offer;
		memcpy(token, &t, sizeof(t));
	}
	mock_leave(mock);
	return status;
}

enum bcl_status bcl_withdraw(struct bcl_peer *base, const void *token)
{
	struct mock_peer *peer = mock_peer_of(base);
	struct mock *mock = mock_enter(peer->local);
	enum bcl_status status = (enum bcl_status)peer->base.lost;
	struct mock_offer *offer = mock->offers;
	struct token t;

	memcpy(&t, token, sizeof(t));
	mock_check(t.magic == MAGIC, "withdraw: not a token");
	while (offer && offer->id != t.id)
		offer = offer->next;
	mock_check(!offer || (offer->owner == peer && !offer->withdrawn),
		   "withdraw: not one's own offer");
	if (!status && !offer)
		status = BCL_ERR_BUSY;
	if (!status)
		offer->withdrawn = true;
	mock_leave(mock);
	return status;
}

enum bcl_status bcl_pull(struct bcl_peer *base, const void *token, void *buffer,
			 size_t length, uint64_t cookie)
{
	struct mock_peer *peer = mock_peer_of(base);
	struct mock *mock = mock_enter(peer->local);
	enum bcl_status status = mock_peer_ready(peer);
	struct mock_offer **place = &mock->offers, *offer;
	struct bcl_event event = { .kind = BCL_EVENT_PULLED,
				   .peer = base,
				   .cookie = cookie,
				   .length = length };
	struct token t;

	memcpy(&t, token, sizeof(t));
	mock_check(t.magic == MAGIC, "pull: not a token");
	if (status)
		goto out;
	while (*place && (*place)->id != t.id)
		place = &(*place)->next;
	offer = *place;
	mock_check(offer, "pull: a token that was used or never given");
	mock_check(offer->owner->remote == peer->local &&
			   offer->owner->local == peer->remote,
		   "pull: an offer to somebody else");
	mock_check(length <= offer->length, "pull: more than was offered");
	*place = offer->next;
	if (offer->withdrawn)
		event.status = BCL_ERR_CANCELLED;
	else if (length)
		memcpy(buffer, offer->buffer, length);
	mock_push(peer->local,
		  mock_now(mock) + mock_draw(mock, mock->options.transfer),
		  &event, NULL, 0);
	event.kind = BCL_EVENT_READ;
	event.peer = &offer->owner->base;
	event.cookie = offer->cookie;
	if (offer->withdrawn)
		goto done;
	mock_push(peer->remote,
		  mock_now(mock) + mock_draw(mock, mock->options.transfer),
		  &event, NULL, 0);
done:
	offer->owner->local->offers--;
	free(offer);
out:
	mock_leave(mock);
	return status;
}

void mock_offers_end(struct mock_peer *peer, enum bcl_status status,
		     uint64_t at)
{
	struct mock_offer **place = &peer->local->mock->offers, *offer;

	while ((offer = *place)) {
		const struct bcl_event event = {
			.kind = BCL_EVENT_READ,
			.status = status,
			.peer = &peer->base,
			.cookie = offer->cookie,
		};

		if (offer->owner != peer) {
			place = &offer->next;
			continue;
		}
		*place = offer->next;
		if (!offer->withdrawn)
			mock_push(peer->local, at, &event, NULL, 0);
		peer->local->offers--;
		free(offer);
	}
}

void mock_offers_drop(struct mock *mock, const struct mock_port *port)
{
	struct mock_offer **place = &mock->offers, *offer;

	while ((offer = *place)) {
		if (!port || offer->owner->local == port) {
			*place = offer->next;
			free(offer);
		} else {
			place = &offer->next;
		}
	}
}
