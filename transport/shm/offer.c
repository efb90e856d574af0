/* SPDX-License-Identifier: MIT */
/* The offering side of large messages: offers, chunks copied for JOIN, and the
 * messages of the pulling side. See large.h. */
#include "transport/event.h"
#include "transport/shm/attach.h"
#include "transport/shm/audit.h"
#include "transport/shm/message.h"
#include "transport/shm/port.h"

static struct bcl_claim *claim_of(const struct bcl_connection *c, unsigned slot)
{
	return &c->segment.head->claims[c->side][slot];
}

static unsigned slot_of(const struct bcl_connection *c,
			const struct bcl_offer *offer)
{
	return (unsigned)(offer - c->large.tables->offers);
}

enum bcl_status bcl_offer_make(struct bcl_connection *c,
			       enum bcl_offer_kind kind, const void *buffer,
			       size_t length, uint64_t cookie,
			       struct bcl_token *token)
{
	struct bcl_large_tables *t = bcl_large_use(c);
	struct bcl_offer *offer;
	unsigned i, slot = 0;

	if (!t)
		return BCL_ERR_NOMEM;
	for (i = 0; i < BCL_CLAIMS; i++) {
		slot = (t->hint + i) % BCL_CLAIMS;
		if (t->offers[slot].kind == BCL_OFFER_FREE)
			break;
	}
	if (i == BCL_CLAIMS)
		return BCL_ERR_AGAIN;
	t->hint = slot + 1;
	t->channels_out += kind == BCL_OFFER_CHANNEL;
	t->held++;
	offer = &t->offers[slot];
	*offer = (struct bcl_offer){
		.buffer = buffer,
		.length = length,
		.cookie = cookie,
		.generation = (uint16_t)(offer->generation + 1),
		.kind = (uint8_t)kind,
	};
	*token = (struct bcl_token){
		.card = bcl_shm_context(c->shm)->card_id,
		.address = (uintptr_t)buffer,
		.length = length,
		.number = c->shm->port->number,
		.slot = (uint16_t)slot,
		.generation = offer->generation,
	};
	bcl_claim_open(claim_of(c, slot), offer->generation);
	return BCL_OK;
}

static void free_offer(struct bcl_connection *c, struct bcl_offer *offer)
{
	unsigned slot = slot_of(c, offer);

	bcl_assert(slot < BCL_CLAIMS && offer->kind != BCL_OFFER_FREE);
	bcl_assert(c->large.tables->held);
	c->large.tables->held--;
	c->large.tables->channels_out -= offer->kind == BCL_OFFER_CHANNEL;
	bcl_claim_free(claim_of(c, slot), offer->generation);
	c->large.tables->joined[slot / 64] &= ~(UINT64_C(1) << slot % 64);
	offer->kind = BCL_OFFER_FREE;
}

static void end_offer(struct bcl_connection *c, struct bcl_offer *offer,
		      enum bcl_status status)
{
	const struct bcl_event event = {
		.kind = offer->kind == BCL_OFFER_READ ? BCL_EVENT_READ
						      : BCL_EVENT_SENT,
		.status = status,
		.peer = c->pair.peer,
		.cookie = offer->cookie,
		.length = offer->length,
	};

	if (offer->kind != BCL_OFFER_QUIET)
		bcl_event_push(c->shm->port, &event);
	free_offer(c, offer);
}

/* The offer that slot and generation name, or NULL. */
static struct bcl_offer *find_offer(struct bcl_connection *c, unsigned slot,
				    unsigned generation)
{
	struct bcl_large_tables *t = c->large.tables;

	if (!t || slot >= BCL_CLAIMS || !t->offers[slot].kind ||
	    t->offers[slot].generation != generation)
		return NULL;
	return &t->offers[slot];
}

enum bcl_status bcl_offer_withdraw(struct bcl_connection *c,
				   const struct bcl_token *token)
{
	struct bcl_offer *offer = find_offer(c, token->slot, token->generation);

	if (!offer || token->card != bcl_shm_context(c->shm)->card_id ||
	    token->number != c->shm->port->number)
		return BCL_ERR_ARG;
	if (offer->wanted ||
	    !bcl_claim_withdraw(claim_of(c, token->slot), token->generation))
		return BCL_ERR_BUSY;
	free_offer(c, offer);
	return BCL_OK;
}

/* ---- copying from here ---- */

static void write_done(struct bcl_connection *c, const struct bcl_offer *offer)
{
	/* partner: the acquires of `done` in pull.c */
	atomic_store_explicit(&claim_of(c, slot_of(c, offer))->done,
			      offer->done |
				      (offer->failed ? BCL_CLAIM_FAILED : 0),
			      memory_order_release);
}

bool bcl_offers_audit(struct bcl_connection *c)
{
	struct bcl_large_tables *t = c->large.tables;
	unsigned i;

	for (i = 0; t && i < BCL_CLAIMS; i++) {
		struct bcl_offer *offer = &t->offers[i];
		uint64_t word;

		if (!offer->kind)
			continue;
		word = atomic_load_explicit(&claim_of(c, i)->word,
					    memory_order_relaxed);
		if (bcl_claim_generation(word) != offer->generation ||
		    bcl_claim_front(word) != offer->done)
			return false;
		write_done(c, offer);
	}
	return true;
}

size_t bcl_offer_claim(struct bcl_connection *c, struct bcl_offer *offer,
		       uint64_t *at)
{
	struct bcl_claim *claim = claim_of(c, slot_of(c, offer));
	uint64_t word, left;
	size_t n;

	if (!bcl_claim_take(claim, offer->generation, offer->chunks,
			    bcl_claim_word(0, 1, 0), &word))
		return 0;
	*at = bcl_claim_front(word) * offer->chunk;
	if (*at >= offer->wanted)
		return 0;
	left = offer->wanted - *at;
	n = (size_t)(left < offer->chunk ? left : offer->chunk);
	offer->done++;
	bcl_count_add(c->shm->port->counters, BCL_COUNT_shm_bytes_joined, n);
	return n;
}

/* Copy one chunk. Returns false if none is left, or the copy failed. */
static bool copy_chunk(struct bcl_connection *c, struct bcl_offer *offer)
{
	enum bcl_status status;
	uint64_t at;
	size_t n = bcl_offer_claim(c, offer, &at);

	if (!n)
		return false;
	status = bcl_attach_write(c, offer->buffer + at, offer->target + at, n);
	offer->failed |= status != BCL_OK;
	write_done(c, offer);
	bcl_pair_kick(&c->pair);
	return !status;
}

static bool progress_offer(struct bcl_connection *c, unsigned slot)
{
	struct bcl_large_tables *t = c->large.tables;

	if (copy_chunk(c, &t->offers[slot]))
		return true;
	t->joined[slot / 64] &= ~(UINT64_C(1) << slot % 64);
	return false;
}

bool bcl_offers_progress(struct bcl_connection *c)
{
	struct bcl_large_tables *t = c->large.tables;
	bool more = false;
	unsigned i;

	for (i = 0; t && i < BCL_CLAIMS / 64; i++) {
		uint64_t bits = t->joined[i];

		for (; bits; bits &= bits - 1)
			more |= progress_offer(
				c, i * 64 + (unsigned)__builtin_ctzll(bits));
	}
	return (t && t->feeding && bcl_bounce_fill(c)) || more;
}

/* ---- messages ---- */

/* JOIN, FETCH: find the offer and note what the peer wants. NULL: malformed. */
static struct bcl_offer *wanted_offer(struct bcl_connection *c,
				      uint64_t immediate, const void *payload,
				      size_t length)
{
	uint64_t chunk = (immediate >> 32) * BCL_JOIN_PAGE;
	struct bcl_offer *offer =
		find_offer(c, (uint16_t)immediate, (uint16_t)(immediate >> 16));
	struct bcl_join join;

	if (!offer || length != sizeof(join))
		return NULL;
	memcpy(&join, payload, sizeof(join));
	if (!join.length || join.length > offer->length || offer->wanted ||
	    !chunk || join.length / chunk >= BCL_CLAIM_MAX - 1)
		return NULL;
	offer->wanted = join.length;
	offer->target = join.target;
	offer->chunk = chunk;
	offer->chunks = bcl_claim_chunks(join.length, chunk);
	return offer;
}

bool bcl_offer_join(struct bcl_connection *c, uint64_t immediate,
		    const void *payload, size_t length)
{
	struct bcl_offer *offer;
	unsigned slot = (uint16_t)immediate;

	offer = wanted_offer(c, immediate, payload, length);
	if (!offer || !c->attach)
		return false;
	c->large.tables->joined[slot / 64] |= UINT64_C(1) << slot % 64;
	if (progress_offer(c, slot))
		bcl_shm_want(c->shm, BCL_WORK_COPY);
	return true;
}

bool bcl_offer_fetch(struct bcl_connection *c, uint64_t immediate,
		     const void *payload, size_t length)
{
	struct bcl_offer *offer = wanted_offer(c, immediate, payload, length);

	if (!offer || offer->chunk > BCL_BOUNCE_CHUNK)
		return false;
	if (!bcl_bounce_reserve(c, c->side))
		return c->attach; /* the peer reads by attach when none comes */
	offer->chunks++;	  /* the empty one, which the peer has taken */
	bcl_bounce_feed(c, offer);
	return true;
}

bool bcl_offer_read(struct bcl_connection *c, uint64_t immediate)
{
	struct bcl_offer *offer =
		find_offer(c, (uint16_t)immediate, (uint16_t)(immediate >> 16));
	uint32_t status = (uint32_t)(immediate >> 32);

	/* the offer was withdrawn before the pull */
	if (!offer && status == BCL_ERR_CANCELLED)
		return true;
	/* the peer cannot find the claim of a live offer closed, unless another
	 * process has written to the segment */
	if (!offer || status > UINT8_MAX || !bcl_bounce_fed(c, offer) ||
	    status == BCL_ERR_CANCELLED)
		return false;
	end_offer(c, offer, (enum bcl_status)status);
	return true;
}

void bcl_offers_end(struct bcl_connection *c, enum bcl_status status)
{
	struct bcl_large_tables *t = c->large.tables;
	unsigned i;

	if (!t)
		return;
	for (i = 0; i < BCL_CLAIMS; i++) {
		if (!t->offers[i].kind)
			continue;
		if (status)
			end_offer(c, &t->offers[i], status);
		else
			free_offer(c, &t->offers[i]);
	}
	t->feeding = NULL;
	t->feeding_last = &t->feeding;
}
