/* SPDX-License-Identifier: MIT */
/*
 * The double copy. The offering side puts the data into its bounce area in
 * chunks of up to 16 KB; meanwhile the reading side takes chunks out. This
 * hides most of one copy.
 *
 * The area is a ring of chunks with one writer and one reader. FETCH messages
 * are served in the order of sending, and the chunks of a message are claimed
 * (claim.h). Therefore both sides know the message and the length of the next
 * chunk. `filled` and `drained` count chunks: the side that writes a count
 * stores it with release after the copy, and the peer loads it with acquire.
 */
#include "transport/shm/audit.h"
#include "transport/shm/port.h"

enum {
	PIECE = 8192, /* bytes */
};

static struct bcl_index *index_of(const struct bcl_connection *c, unsigned side)
{
	return &c->segment.head->index[side];
}

static uint8_t *chunk_of(const struct bcl_connection *c, unsigned side,
			 uint32_t n)
{
	return c->segment.bounce[side] +
	       (size_t)(n % BCL_BOUNCE_CHUNKS) * BCL_BOUNCE_CHUNK;
}

bool bcl_bounce_reserve(struct bcl_connection *c, unsigned side)
{
	return bcl_segment_reserve(bcl_shm_env(c->shm), &c->segment,
				   BCL_SEGMENT_BOUNCE, side);
}

void bcl_bounce_feed(struct bcl_connection *c, struct bcl_offer *offer)
{
	struct bcl_large_tables *t = c->large.tables;

	offer->next = NULL;
	offer->feeds = true;
	*t->feeding_last = offer;
	t->feeding_last = &offer->next;
	bcl_shm_want(c->shm, BCL_WORK_COPY);
}

void bcl_bounce_drain(struct bcl_connection *c, struct bcl_pull *pull)
{
	struct bcl_large_tables *t = c->large.tables;

	pull->next = NULL;
	*t->draining_last = pull;
	t->draining_last = &pull->next;
	bcl_shm_want(c->shm, BCL_WORK_COPY);
}

/* Read a count of the peer; *ahead is the distance from `own`. Returns false,
 * and breaks the pair, if the distance is more than `most`. */
static bool peer_count(struct bcl_connection *c, const _Atomic uint32_t *word,
		       uint32_t own, uint32_t most, uint32_t *ahead)
{
	*ahead = atomic_load_explicit(word, memory_order_acquire) - own;
	if (*ahead <= most)
		return true;
	bcl_pair_break(&c->pair, "chunk count", *ahead);
	return false;
}

/* A little more than half of the message, within bounds, so that short messages
 * are pipelined, too. */
uint64_t bcl_bounce_chunk(uint64_t length)
{
	uint64_t pieces = (length / 2 + PIECE) / PIECE;

	return pieces * PIECE < BCL_BOUNCE_CHUNK ? pieces * PIECE
						 : BCL_BOUNCE_CHUNK;
}

/* Chunks of the own area that are free. */
static uint32_t free_chunks(struct bcl_connection *c)
{
	uint32_t filled = c->large.tables->filled, free;

	/* the peer's `drained` is at most BCL_BOUNCE_CHUNKS behind `filled`;
	 * the distance from filled - BCL_BOUNCE_CHUNKS is the room */
	if (!peer_count(c, &index_of(c, !c->side)->drained,
			filled - BCL_BOUNCE_CHUNKS, BCL_BOUNCE_CHUNKS, &free))
		return 0;
	return free;
}

static void drop_first_offer(struct bcl_large_tables *t)
{
	t->feeding->feeds = false;
	t->feeding = t->feeding->next;
	if (!t->feeding)
		t->feeding_last = &t->feeding;
}

bool bcl_bounce_fill(struct bcl_connection *c)
{
	struct bcl_large_tables *t = c->large.tables;
	uint32_t n = free_chunks(c);
	uint64_t at;

	while (n && t->feeding) {
		struct bcl_offer *offer = t->feeding;
		size_t size = bcl_offer_claim(c, offer, &at);

		if (!size) {
			drop_first_offer(t);
			continue;
		}
		memcpy(chunk_of(c, c->side, t->filled), offer->buffer + at,
		       size);
		n--;
		atomic_store_explicit(&index_of(c, c->side)->filled,
				      ++t->filled, memory_order_release);
		bcl_pair_kick(&c->pair);
	}
	return t->feeding;
}

bool bcl_bounce_fed(struct bcl_connection *c, const struct bcl_offer *offer)
{
	struct bcl_large_tables *t = c->large.tables;
	uint64_t at;

	if (!offer->feeds)
		return true;
	/* the peer ends its pulls in the order of the queue */
	if (t->feeding != offer || bcl_offer_claim(c, t->feeding, &at))
		return false;
	drop_first_offer(t);
	return true;
}

uint32_t bcl_bounce_filled(struct bcl_connection *c)
{
	uint32_t n;

	if (!peer_count(c, &index_of(c, !c->side)->filled,
			c->large.tables->drained, BCL_BOUNCE_CHUNKS, &n))
		return 0;
	return n;
}

static void take_chunk(struct bcl_connection *c, struct bcl_pull *pull)
{
	struct bcl_large_tables *t = c->large.tables;
	uint64_t left = pull->length - pull->drained;
	size_t size = (size_t)(left < pull->chunk ? left : pull->chunk);

	memcpy(pull->buffer + pull->drained, chunk_of(c, !c->side, t->drained),
	       size);
	pull->drained += size;
	atomic_store_explicit(&index_of(c, c->side)->drained, ++t->drained,
			      memory_order_release);
	bcl_count_add(c->shm->port->counters, BCL_COUNT_shm_bytes_bounced,
		      size);
	bcl_pair_kick(&c->pair);
}

/* True if all chunks that the peer has claimed were drained, and none is left
 * for it. */
static bool is_drained(const struct bcl_pull *pull)
{
	uint64_t end = (uint64_t)(pull->chunks - pull->mine) * pull->chunk;

	return pull->drained == pull->length || pull->drained >= end;
}

struct bcl_pull *bcl_bounce_take(struct bcl_connection *c, uint32_t *chunks)
{
	struct bcl_large_tables *t = c->large.tables;
	struct bcl_pull *pull = t->draining;

	for (; *chunks && pull && !is_drained(pull); --*chunks)
		take_chunk(c, pull);
	if (!pull || !is_drained(pull))
		return NULL;
	t->draining = pull->next;
	if (!t->draining)
		t->draining_last = &t->draining;
	return pull;
}

void bcl_bounce_audit(struct bcl_connection *c)
{
	struct bcl_large_tables *t = c->large.tables;

	if (!t)
		return;
	atomic_store_explicit(&index_of(c, c->side)->filled, t->filled,
			      memory_order_release);
	atomic_store_explicit(&index_of(c, c->side)->drained, t->drained,
			      memory_order_release);
}

bool bcl_bounce_room(struct bcl_connection *c)
{
	return c->large.tables->feeding && free_chunks(c);
}
