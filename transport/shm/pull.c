/* SPDX-License-Identifier: MIT */
/* The pulling side of large messages; see large.h. */
#include "transport/event.h"
#include "transport/shm/attach.h"
#include "transport/shm/message.h"
#include "transport/shm/port.h"

enum {
	CHUNK_MAX = 4 << 20,	 /* bytes; bounds the time of one turn */
	WAKE_FROM = 4 << 20,	 /* bytes: worth waking a sleeping sender for */
	GUESS_BELOW = 128 << 10, /* bytes: here one more call is felt */
	ALONE = 2,		 /* pulls in a row that the peer did not join */
	RETRY = 8,		 /* then every RETRY-th pull asks again */
	FED_PEERS = 8,		 /* of a port; a bounce area has 1 MB */
	UNFED = 1000,		 /* pulls until memory is asked for again */
	SETTLE_TIME = 1000000000, /* ns that a dying pull waits for a live peer
				   * that has claimed a chunk */
};

static unsigned slot_of(const struct bcl_connection *c,
			const struct bcl_pull *pull)
{
	return (unsigned)(pull - c->large.tables->pulls);
}

struct bcl_claim *bcl_pull_claim(const struct bcl_connection *c,
				 const struct bcl_pull *pull)
{
	return &c->segment.head->claims[!c->side][slot_of(c, pull)];
}

static void tell_sender(struct bcl_connection *c, unsigned slot,
			uint16_t generation, enum bcl_status status)
{
	bcl_outbox_post(c, BCL_SHM_READ,
			bcl_message_slot((uint16_t)slot, generation, status),
			NULL, 0);
}

static void report_result(struct bcl_connection *c, const struct bcl_pull *pull,
			  enum bcl_status status)
{
	struct bcl_port *port = c->shm->port;
	struct bcl_event event = {
		.kind = BCL_EVENT_PULLED,
		.status = status,
		.peer = c->pair.peer,
		.cookie = pull->cookie,
		.length = status ? 0 : pull->length,
	};

	switch (pull->kind) {
	case BCL_PULL_SENT:
		event.kind = BCL_EVENT_SENT;
		bcl_event_push(port, &event);
		break;
	case BCL_PULL_USER:
		bcl_event_push(port, &event);
		break;
	case BCL_PULL_CHANNEL:
		if (!status && pull->total > pull->length)
			status = BCL_ERR_TRUNCATED;
		c->events++;
		bcl_channel_done(port, pull->channel, c->pair.peer,
				 pull->length, status);
		break;
	default:
		break;
	}
}

void bcl_pull_complete(struct bcl_connection *c, struct bcl_pull *pull,
		       enum bcl_status status)
{
	unsigned slot = slot_of(c, pull);

	bcl_assert(slot < BCL_CLAIMS && pull->kind != BCL_PULL_FREE);
	bcl_assert(c->large.tables->held);
	report_result(c, pull, status);
	c->large.tables->pulling[slot / 64] &= ~(UINT64_C(1) << slot % 64);
	pull->kind = BCL_PULL_FREE;
	c->large.tables->held--;
	if (!status)
		bcl_count_add(c->shm->port->counters,
			      BCL_COUNT_shm_bytes_pulled, pull->length);
	tell_sender(c, slot, pull->generation, status);
}

void bcl_pull_refuse(struct bcl_connection *c, const struct bcl_token *token,
		     enum bcl_status status)
{
	tell_sender(c, token->slot, token->generation, status);
}

/* ---- alone, and by halves ---- */

static void copy_chunk(struct bcl_connection *c, struct bcl_pull *pull,
		       uint32_t index)
{
	uint64_t at = index * pull->chunk;
	uint64_t n = pull->length - at < pull->chunk ? pull->length - at
						     : pull->chunk;
	enum bcl_status status =
		bcl_attach_read(c, pull->buffer + at, pull->address + at, n);

	pull->mine++;
	if (status)
		pull->status = (uint8_t)status;
}

/*
 * No chunk is left to claim, but the peer may not have copied all its chunks
 * yet. Returns true if the pull has ended.
 */
static bool finish_pull(struct bcl_connection *c, struct bcl_pull *pull)
{
	struct bcl_claim *claim = bcl_pull_claim(c, pull);
	uint64_t word =
		atomic_load_explicit(&claim->word, memory_order_acquire);
	uint32_t front = bcl_claim_front(word), done;

	/* the peer has ended its offers: for the peer the connection is over */
	if (bcl_claim_is_over(word, pull->generation)) {
		bcl_pull_complete(c, pull, BCL_ERR_CANCELLED);
		return true;
	}
	if (!pull->status && front + pull->mine != pull->chunks) {
		bcl_pair_break(&c->pair, "claim", word);
		return false;
	}
	/* partner: the release in write_done() of offer.c */
	done = atomic_load_explicit(&claim->done, memory_order_acquire);
	if ((done & ~(uint32_t)BCL_CLAIM_FAILED) != front)
		return false;
	if (done & BCL_CLAIM_FAILED)
		pull->status = BCL_ERR_MEMORY;
	if (pull->chunks > 1)
		c->large.tables->alone = front ? 0 : c->large.tables->alone + 1;
	bcl_pull_complete(c, pull, pull->status);
	return true;
}

/* Copy one chunk, or end the pull. Returns true if the pull goes on. */
static bool progress_pull(struct bcl_connection *c, struct bcl_pull *pull)
{
	struct bcl_claim *claim = bcl_pull_claim(c, pull);
	uint64_t word;

	if (pull->status)
		bcl_claim_close(claim, pull->generation, pull->chunks);
	else if (bcl_claim_take(claim, pull->generation, pull->chunks,
				bcl_claim_word(0, 0, 1), &word)) {
		copy_chunk(c, pull, pull->chunks - 1 - bcl_claim_back(word));
		if (pull->mine < pull->chunks)
			return true;
	}
	return !finish_pull(c, pull);
}

/* ---- all ways ---- */

bool bcl_pulls_progress(struct bcl_connection *c)
{
	struct bcl_large_tables *t = c->large.tables;
	bool more = false;
	unsigned i;

	for (i = 0; t && i < BCL_CLAIMS / 64; i++) {
		uint64_t bits = t->pulling[i];

		for (; bits; bits &= bits - 1)
			more |= progress_pull(
				c, &t->pulls[i * 64 +
					     (unsigned)__builtin_ctzll(bits)]);
	}
	return (t && t->draining && bcl_fed_drain(c)) || more;
}

static bool pull_ready(const struct bcl_connection *c,
		       const struct bcl_pull *pull)
{
	struct bcl_claim *claim = bcl_pull_claim(c, pull);
	uint64_t word =
		atomic_load_explicit(&claim->word, memory_order_acquire);
	uint32_t done =
		atomic_load_explicit(&claim->done, memory_order_acquire);

	return bcl_claim_left(word, pull->generation, pull->chunks) ||
	       (done & ~(uint32_t)BCL_CLAIM_FAILED) == bcl_claim_front(word);
}

bool bcl_pulls_ready(struct bcl_connection *c)
{
	struct bcl_large_tables *t = c->large.tables;
	unsigned i;

	for (i = 0; t && i < BCL_CLAIMS / 64; i++)
		if (t->joined[i])
			return true;
	for (i = 0; t && i < BCL_CLAIMS; i++)
		if ((t->pulling[i / 64] >> i % 64 & 1) &&
		    pull_ready(c, &t->pulls[i]))
			return true;
	return t && (bcl_bounce_room(c) || bcl_fed_ready(c));
}

/* True if the peer should be asked to copy, too. */
static bool worth_joining(struct bcl_connection *c, uint64_t length)
{
	struct bcl_large_tables *t = c->large.tables;

	if (length < bcl_shm_context(c->shm)->config.copy_both)
		return false;
	/* waking the peer costs time; but in virtual time a sleeping rank
	 * stands for a polling one */
	if (length >= WAKE_FROM || bcl_shm_env(c->shm)->sleeps_at_once)
		return true;
	/* the peer may have to wait for a processor */
	if (!bcl_port_may_spin(c->shm->port))
		return false;
	/* the peer seems to compute: two halves would cost one more call */
	if (length < GUESS_BELOW && t->alone >= ALONE && t->alone++ % RETRY)
		return false;
	return !(atomic_load_explicit(&c->its_attention[c->its_watch],
				      memory_order_relaxed) &
		 BCL_ATTENTION_SLEEPING);
}

/* Cut the pull, which is not empty, into two halves if the peer may join; no
 * chunk is larger than the limit. */
static void cut_into_chunks(struct bcl_pull *pull, bool join)
{
	uint64_t half = (pull->length + 1) / 2 + BCL_JOIN_PAGE - 1;

	pull->chunk = join ? half - half % BCL_JOIN_PAGE : pull->length;
	if (pull->chunk > CHUNK_MAX)
		pull->chunk = CHUNK_MAX;
	pull->chunks = bcl_claim_chunks(pull->length, pull->chunk);
}

void bcl_pull_ask(struct bcl_connection *c, const struct bcl_pull *pull,
		  unsigned type, uint32_t chunk)
{
	const struct bcl_join join = {
		.target = (uintptr_t)pull->buffer,
		.length = pull->length,
	};

	bcl_outbox_post(c, type,
			bcl_message_slot((uint16_t)slot_of(c, pull),
					 pull->generation,
					 chunk / BCL_JOIN_PAGE),
			&join, sizeof(join));
}

static void begin_attached(struct bcl_connection *c, struct bcl_pull *pull,
			   bool join)
{
	unsigned slot = slot_of(c, pull);

	cut_into_chunks(pull, join);
	c->large.tables->pulling[slot / 64] |= UINT64_C(1) << slot % 64;
	if (join && pull->chunks > 1)
		bcl_pull_ask(c, pull, BCL_SHM_JOIN, (uint32_t)pull->chunk);
	copy_chunk(c, pull, pull->chunks - 1);
	if (pull->mine < pull->chunks || !finish_pull(c, pull))
		bcl_shm_want(c->shm, BCL_WORK_COPY);
}

/*
 * True if the bounce area is faster than two halves. For a lone message that
 * fits into the area it is: no system calls, no look at page tables, and each
 * side copies while the other one does. In a stream of messages the halves of
 * several are copied at the same time, each byte once.
 */
static bool is_best_fed(const struct bcl_connection *c, uint64_t length)
{
	const struct bcl_large_tables *t = c->large.tables;
	uint64_t pulling = 0;
	unsigned i;

	for (i = 0; i < BCL_CLAIMS / 64; i++)
		pulling |= t->pulling[i];
	/* virtual time knows attach, and no caches */
	return length <= BCL_BOUNCE_SIZE && !pulling && !t->draining &&
	       !bcl_shm_env(c->shm)->sleeps_at_once;
}

/* True if the pull is to be fed: the area has pages, or a few are left for a
 * peer that could be read by attach as well. If there are no pages, many pulls
 * pass before the next try, because a try reads files of the system. */
static bool may_be_fed(struct bcl_connection *c)
{
	struct bcl_large_tables *t = c->large.tables;

	if (t->fed)
		return true;
	if (t->unfed) {
		t->unfed--;
		return false;
	}
	if (c->shm->fed >= FED_PEERS)
		return false;
	if (!bcl_bounce_reserve(c, !c->side)) {
		t->unfed = UNFED;
		return false;
	}
	t->fed = true;
	c->shm->fed++;
	return true;
}

static void begin_copying(struct bcl_connection *c, struct bcl_pull *pull)
{
	bool join = c->attach && worth_joining(c, pull->length);

	if (!c->attach ||
	    (join && is_best_fed(c, pull->length) && may_be_fed(c)))
		bcl_fed_begin(c, pull);
	else
		begin_attached(c, pull, join);
}

enum bcl_status bcl_pull_begin(struct bcl_connection *c,
			       const struct bcl_token *token,
			       const struct bcl_pull_request *request)
{
	struct bcl_large_tables *t = bcl_large_use(c);
	struct bcl_pull *pull;

	if (!t)
		return BCL_ERR_NOMEM;
	if (token->card != c->card || token->number != c->number ||
	    token->slot >= BCL_CLAIMS || request->length > token->length ||
	    request->length / BCL_BOUNCE_CHUNK >= BCL_CLAIM_MAX - 1 ||
	    t->pulls[token->slot].kind)
		return BCL_ERR_ARG;
	if (!c->attach && request->length && !bcl_bounce_reserve(c, !c->side))
		return BCL_ERR_NOMEM;
	pull = &t->pulls[token->slot];
	*pull = (struct bcl_pull){
		.buffer = request->buffer,
		.address = token->address,
		.length = request->length,
		.total = token->length,
		.cookie = request->cookie,
		.generation = token->generation,
		.channel = request->channel,
		.kind = (uint8_t)request->kind,
	};
	t->held++;
	if (!bcl_claim_begin(bcl_pull_claim(c, pull), token->generation)) {
		bcl_pull_complete(c, pull, BCL_ERR_CANCELLED);
	} else if (!request->length) {
		bcl_pull_complete(c, pull, BCL_OK);
	} else {
		begin_copying(c, pull);
	}
	return BCL_OK;
}

/* ---- the end ---- */

/* Wait for the chunks that the peer has claimed: no late write may hit memory
 * that belongs to the user again. */
static void await_claimed_chunks(struct bcl_connection *c,
				 struct bcl_pull *pull)
{
	const struct bcl_env *env = bcl_shm_env(c->shm);
	uint64_t end = env->now(env->world) + SETTLE_TIME;
	struct bcl_claim *claim = bcl_pull_claim(c, pull);
	uint32_t front, done;

	front = bcl_claim_close(claim, pull->generation, pull->chunks);
	while (bcl_connection_lives(c) && front < pull->chunks) {
		done = atomic_load_explicit(&claim->done, memory_order_acquire);
		if ((done & ~(uint32_t)BCL_CLAIM_FAILED) == front)
			return;
		if (env->now(env->world) > end) {
			bcl_log(&bcl_shm_context(c->shm)->config, BCL_LOG_ERROR,
				"shm",
				"a peer does not finish a copy that it "
				"began");
			return;
		}
		env->yield(env->world);
	}
}

void bcl_pulls_end(struct bcl_connection *c, enum bcl_status status)
{
	struct bcl_large_tables *t = c->large.tables;
	unsigned i;

	for (i = 0; t && i < BCL_CLAIMS; i++) {
		struct bcl_pull *pull = &t->pulls[i];

		if (!pull->kind)
			continue;
		if (t->pulling[i / 64] >> i % 64 & 1)
			await_claimed_chunks(c, pull);
		if (status)
			report_result(c, pull, status);
		pull->kind = BCL_PULL_FREE;
		t->held--;
	}
}
