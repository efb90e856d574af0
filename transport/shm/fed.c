/* SPDX-License-Identifier: MIT */
/* Fed pulls, whose data comes through the bounce area of the peer; see large.h
 * for the ways to copy and claim.h for the chunks. */
#include "transport/shm/attach.h"
#include "transport/shm/audit.h"
#include "transport/shm/message.h"
#include "transport/shm/port.h"

enum {
	TAIL_MAX = 1 << 20, /* bytes; bounds the time of one turn */
	LOOKS = 64, /* at an empty area, before a pull goes on by attach */
};

void bcl_fed_begin(struct bcl_connection *c, struct bcl_pull *pull)
{
	if (!c->large.tables->draining)
		c->large.tables->looks = 0;
	pull->chunk = bcl_bounce_chunk(pull->length);
	/* the last chunk is empty; this side's first claim takes it */
	pull->chunks = bcl_claim_chunks(pull->length, pull->chunk) + 1;
	pull->mine = 1;
	bcl_pull_ask(c, pull, BCL_SHM_FETCH, (uint32_t)pull->chunk);
	bcl_bounce_drain(c, pull);
}

/* No further chunk is claimed. The pull ends when the peer's chunks in the area
 * are drained. */
static void stop_pull(struct bcl_connection *c, struct bcl_pull *pull,
		      enum bcl_status status)
{
	uint32_t front = bcl_claim_close(bcl_pull_claim(c, pull),
					 pull->generation, pull->chunks);

	pull->status = (uint8_t)status;
	pull->mine = front < pull->chunks ? pull->chunks - front : pull->chunks;
}

/* The peer does not feed the pull: claim half of the free chunks from the end,
 * and read their bytes by attach. */
static void read_tail(struct bcl_connection *c, struct bcl_pull *pull)
{
	struct bcl_claim *claim = bcl_pull_claim(c, pull);
	uint32_t left = pull->chunks - pull->mine, n;
	uint64_t end = left * pull->chunk, at, word;
	enum bcl_status status;

	n = bcl_claim_take_half(claim, pull->generation, pull->chunks,
				(uint32_t)(TAIL_MAX / pull->chunk));
	if (!n) {
		word = atomic_load_explicit(&claim->word, memory_order_relaxed);
		if (bcl_claim_is_over(word, pull->generation))
			stop_pull(c, pull, BCL_ERR_CANCELLED);
		return;
	}
	if (n > left) {
		bcl_pair_break(&c->pair, "claim", n);
		return;
	}
	at = end - n * pull->chunk;
	if (end > pull->length)
		end = pull->length;
	status = bcl_attach_read(c, pull->buffer + at, pull->address + at,
				 end - at);
	pull->mine += n;
	if (status)
		stop_pull(c, pull, status);
}

/*
 * The pull has all its bytes, or failed. Bytes read by attach are right only if
 * the offer has not ended meanwhile. Returns false if the claims are not those
 * of both sides; then the pair is broken.
 */
static bool may_end(struct bcl_connection *c, struct bcl_pull *pull)
{
	uint64_t word = atomic_load_explicit(&bcl_pull_claim(c, pull)->word,
					     memory_order_acquire);

	if (bcl_claim_is_over(word, pull->generation)) {
		if (pull->mine > 1 && !pull->status)
			pull->status = BCL_ERR_CANCELLED;
		return true;
	}
	if (bcl_claim_front(word) + pull->mine == pull->chunks)
		return true;
	bcl_pair_break(&c->pair, "claim", word);
	return false;
}

bool bcl_fed_drain(struct bcl_connection *c)
{
	struct bcl_large_tables *t = c->large.tables;
	uint32_t chunks = bcl_bounce_filled(c);
	struct bcl_pull *pull;

	if (chunks)
		t->looks = 0;
	else if (c->attach && ++t->looks > LOOKS)
		read_tail(c, t->draining);
	while ((pull = bcl_bounce_take(c, &chunks)) && may_end(c, pull)) {
		t->alone = pull->drained ? 0 : t->alone + 1;
		bcl_pull_complete(c, pull, pull->status);
	}
	return t->draining;
}

bool bcl_fed_audit(struct bcl_connection *c)
{
	const struct bcl_large_tables *t = c->large.tables;
	const struct bcl_pull *pull;
	uint64_t word;

	for (pull = t ? t->draining : NULL; pull; pull = pull->next) {
		word = atomic_load_explicit(&bcl_pull_claim(c, pull)->word,
					    memory_order_relaxed);
		if (!bcl_claim_is_over(word, pull->generation) &&
		    bcl_claim_back(word) != pull->mine)
			return false;
	}
	return true;
}

bool bcl_fed_ready(struct bcl_connection *c)
{
	struct bcl_pull *pull = c->large.tables->draining;
	uint64_t word;

	if (!pull)
		return false;
	word = atomic_load_explicit(&bcl_pull_claim(c, pull)->word,
				    memory_order_relaxed);
	return bcl_bounce_filled(c) ||
	       (c->attach &&
		bcl_claim_left(word, pull->generation, pull->chunks));
}
