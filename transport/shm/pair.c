/* SPDX-License-Identifier: MIT */
/*
 * The slow paths of a pair: room and turning back, messages of several slots,
 * and wake-ups. The contract is in slot.h.
 */
#include "transport/shm/pair.h"

#include <inttypes.h>

#include "env/charge.h"
#include "transport/shm/message.h"
#include "transport/shm/port.h"

enum {
	SHORT_SLOTS = 16, /* messages are short if they have fewer on average */
};

static void note_refusal(const struct bcl_pair *pair)
{
	if (!pair->connection)
		return;
	bcl_count(pair->connection->shm->port->counters, shm_ring_full);
	bcl_peer_refuse(pair->peer, true);
}

static struct bcl_slot *tail_slot(const struct bcl_pair *pair)
{
	return &pair->out[pair->tail & pair->mask];
}

/* Cover the rest of the ring with SKIP. */
static void skip_ring_rest(struct bcl_pair *pair)
{
	uint32_t slots = pair->mask + 1 - (pair->tail & pair->mask);
	struct bcl_slot *slot = tail_slot(pair);

	slot->immediate = slots;
	bcl_pair_publish(pair, slot, slots, pair->next | BCL_SHM_SKIP);
	pair->sent_ring--;
	/* the skipped lines were not copied: charge_lines() must not count
	 * them */
	if (pair->connection)
		pair->connection->charged += slots - 1;
}

/* Turn back instead of going on into the next BCL_NEAR_SLOTS. The skipped slots
 * are in use until the reader is behind them. So nearly all other slots must be
 * free; otherwise the ring would be full too early. */
static bool turn_back(struct bcl_pair *pair, uint32_t used)
{
	uint32_t at = pair->tail & pair->mask;
	uint64_t sent = pair->sent_ring - pair->near;

	pair->near = pair->sent_ring;
	if (sent < BCL_NEAR_SLOTS / SHORT_SLOTS ||
	    pair->mask - at < BCL_NEAR_SLOTS || used > BCL_NEAR_SLOTS / 2)
		return false;
	skip_ring_rest(pair);
	return true;
}

/* True if there is room for a message of `slots` slots and the slot ahead. */
static bool has_room(struct bcl_pair *pair, unsigned slots)
{
	uint32_t consumed, used, room, mark;

	if ((int32_t)(pair->limit - pair->tail) > (int32_t)slots)
		return true;
	/* partner: the release store in bcl_pair_advance() */
	consumed =
		atomic_load_explicit(pair->its_consumer, memory_order_acquire);
	used = pair->tail - consumed;
	if (used > pair->mask + 1) {
		bcl_pair_break(pair, "read index", consumed);
		return false;
	}
	mark = BCL_NEAR_SLOTS - pair->tail % BCL_NEAR_SLOTS;
	if (mark <= slots && turn_back(pair, used))
		mark = 0;
	if (mark <= slots)
		mark += BCL_NEAR_SLOTS;
	room = consumed + pair->mask + 1 - pair->tail;
	pair->limit = pair->tail + (room < mark ? room : mark);
	if (room > slots)
		return true;
	note_refusal(pair);
	return false;
}

bool bcl_pair_has_room(const struct bcl_pair *pair)
{
	/* partner: the release store in bcl_pair_advance() */
	uint32_t consumed =
		atomic_load_explicit(pair->its_consumer, memory_order_acquire);

	return pair->mask + 1 - (pair->tail - consumed) >
	       bcl_pair_slots(BCL_MESSAGE_MAX);
}

static uint64_t make_header(const struct bcl_pair *pair, unsigned type,
			    size_t length)
{
	return pair->next | length << BCL_HEADER_LENGTH_SHIFT | type;
}

enum bcl_status bcl_pair_send_full(struct bcl_pair *pair, unsigned type,
				   uint64_t immediate, const void *data,
				   size_t length)
{
	if (!has_room(pair, 1))
		return BCL_ERR_AGAIN;
	return bcl_pair_send(pair, type, immediate, data, length);
}

static bool fits_box(const struct bcl_pair *pair, size_t length)
{
	return length >= BCL_BOX_FROM && bcl_pair_half_is_free(pair);
}

static uint8_t *my_box(const struct bcl_pair *pair)
{
	return pair->my_boxes + bcl_pair_box(pair->next);
}

static enum bcl_status publish_box(struct bcl_pair *pair, unsigned type,
				   uint64_t immediate, size_t length)
{
	/* charge_lines() counts the line of the half alone; in the simulator
	 * the message costs as much as by the ring */
	if (pair->connection)
		pair->connection->charged -= bcl_pair_slots(length) - 1;
	bcl_pair_publish_half(pair, immediate, make_header(pair, type, length));
	return bcl_pair_kick(pair);
}

/* Write the bytes that the first slot takes. The pieces have more bytes than
 * that. */
static void write_first(uint8_t *to, const struct iovec *iov)
{
	size_t room = BCL_SLOT_PAYLOAD;

	for (; room; iov++) {
		size_t n = iov->iov_len < room ? iov->iov_len : room;

		bcl_copy_short(to, iov->iov_base, n);
		to += n;
		room -= n;
	}
}

/* Write the bytes behind the first `skip`. */
static void write_from(uint8_t *to, const struct iovec *iov, unsigned niov,
		       size_t skip)
{
	for (; niov; niov--, iov++) {
		size_t n = iov->iov_len;

		if (n <= skip) {
			skip -= n;
			continue;
		}
		memcpy(to, (const uint8_t *)iov->iov_base + skip, n - skip);
		to += n - skip;
		skip = 0;
	}
}

enum bcl_status bcl_pair_send_iov(struct bcl_pair *pair, unsigned type,
				  uint64_t immediate, const struct iovec *iov,
				  unsigned niov, size_t length)
{
	unsigned slots = bcl_pair_slots(length);
	struct bcl_slot *slot;

	if (length <= BCL_SLOT_PAYLOAD) {
		uint8_t gathered[BCL_SLOT_PAYLOAD], *to = gathered;

		for (; niov; to += iov->iov_len, niov--, iov++)
			bcl_copy_short(to, iov->iov_base, iov->iov_len);
		return bcl_pair_send(pair, type, immediate, gathered, length);
	}
	if (fits_box(pair, length)) {
		write_from(my_box(pair), iov, niov, 0);
		return publish_box(pair, type, immediate, length);
	}
	if (!has_room(pair, slots))
		return BCL_ERR_AGAIN;
	slot = tail_slot(pair);
	/* The peer looks at the first slot and takes its line away each time.
	 * So the first slot is written last. */
	write_from((uint8_t *)(slot + 1), iov, niov, BCL_SLOT_PAYLOAD);
	write_first(slot->payload, iov);
	slot->immediate = immediate;
	bcl_pair_publish(pair, slot, slots, make_header(pair, type, length));
	return bcl_pair_kick(pair);
}

enum bcl_status bcl_pair_send_word(struct bcl_pair *pair, unsigned type,
				   uint64_t word, const void *data,
				   size_t length)
{
	const size_t first = BCL_SLOT_PAYLOAD - sizeof(word);
	unsigned slots = bcl_pair_slots(sizeof(word) + length);
	struct bcl_slot *slot;

	if (fits_box(pair, sizeof(word) + length)) {
		uint8_t *box = my_box(pair);

		memcpy(box, &word, sizeof(word));
		memcpy(box + sizeof(word), data, length);
		return publish_box(pair, type, 0, sizeof(word) + length);
	}
	if (!has_room(pair, slots))
		return BCL_ERR_AGAIN;
	slot = tail_slot(pair);
	/* as in bcl_pair_send_iov(), the first slot is written last */
	memcpy(slot + 1, (const uint8_t *)data + first, length - first);
	memcpy(slot->payload, &word, sizeof(word));
	memcpy(slot->payload + sizeof(word), data, first);
	slot->immediate = 0;
	bcl_pair_publish(pair, slot, slots,
			 make_header(pair, type, sizeof(word) + length));
	return bcl_pair_kick(pair);
}

enum bcl_status bcl_pair_reserve(struct bcl_pair *pair, size_t length,
				 void **room)
{
	unsigned slots = bcl_pair_slots(length);

	if (!has_room(pair, slots))
		return BCL_ERR_AGAIN;
	/* the user may overwrite headers that are zeroed ahead, and then commit
	 * a shorter message */
	pair->zeroed = pair->tail;
	*room = tail_slot(pair)->payload;
	return BCL_OK;
}

void bcl_pair_commit(struct bcl_pair *pair, unsigned type, uint64_t immediate,
		     size_t length)
{
	struct bcl_slot *slot = tail_slot(pair);

	slot->immediate = immediate;
	bcl_pair_publish(pair, slot, bcl_pair_slots(length),
			 make_header(pair, type, length));
	bcl_pair_kick(pair);
}

bool bcl_pair_skip(struct bcl_pair *pair, uint64_t slots)
{
	if (slots - 1 > pair->mask || (pair->head + slots - 1) & pair->mask)
		return false;
	pair->head += (uint32_t)slots - 1;
	return true;
}

void bcl_pair_break(struct bcl_pair *pair, const char *what, uint64_t value)
{
	struct bcl_connection *connection = pair->connection;

	if (pair->broken)
		return;
	pair->broken = true;
	if (!connection)
		return;
	bcl_log(&bcl_shm_context(connection->shm)->config, BCL_LOG_ERROR, "shm",
		"port %u of card %016" PRIx64 " wrote nonsense: %s %" PRIu64,
		connection->number, connection->card, what, value);
	bcl_shm_want(connection->shm, BCL_WORK_BROKEN);
}

/* Charge the virtual time of the lines that were sent since the last call. */
static void charge_lines(struct bcl_connection *c, const struct bcl_env *env)
{
	uint32_t lines = c->pair.tail + (uint32_t)c->pair.sent_half;

	if (lines != c->charged)
		env->charge->message(env->world, c->wake, lines - c->charged);
	c->charged = lines;
}

/* Wake the peer, once per sleep: the object stays awake until the peer takes
 * the wake-up. */
static void wake_peer(struct bcl_connection *c, uint32_t attention)
{
	const struct bcl_env *env = bcl_shm_env(c->shm);

	if (attention == c->woken)
		return;
	c->woken = attention;
	env->wake(env->world, c->wake);
	bcl_count(c->shm->port->counters, shm_wakes);
}

void bcl_pair_give_room(struct bcl_pair *pair)
{
	struct bcl_connection *c = pair->connection;
	uint32_t attention;

	/* partner: the fence in bcl_shm_sleep() */
	if (c->fence)
		atomic_thread_fence(memory_order_seq_cst);
	attention = atomic_load_explicit(&c->its_attention[c->its_watch],
					 memory_order_relaxed);
	if ((attention & BCL_ATTENTION_SLEEPING) &&
	    (attention & BCL_ATTENTION_ROOM))
		wake_peer(c, attention);
}

enum bcl_status bcl_pair_attend(struct bcl_pair *pair)
{
	struct bcl_connection *connection = pair->connection;
	const struct bcl_env *env = bcl_shm_env(connection->shm);
	struct bcl_counter_page *counters = connection->shm->port->counters;
	const _Atomic uint32_t *word =
		&connection->its_attention[connection->its_watch];
	uint32_t attention;

	if (env->charge)
		charge_lines(connection, env);
	/* partner: the fence in bcl_shm_sleep() */
	if (connection->fence) {
		atomic_thread_fence(memory_order_seq_cst);
		bcl_count(counters, shm_fences);
	}
	attention = atomic_load_explicit(word, memory_order_relaxed);
	if (attention & BCL_ATTENTION_SILENT) {
		_Atomic uint64_t *bits =
			&connection->its_active[connection->its_watch / 64];
		uint64_t bit = UINT64_C(1) << connection->its_watch % 64;

		if (!(atomic_load_explicit(bits, memory_order_relaxed) & bit))
			atomic_fetch_or_explicit(bits, bit,
						 memory_order_release);
	}
	if (attention & BCL_ATTENTION_SLEEPING)
		wake_peer(connection, attention);
	return BCL_OK;
}
