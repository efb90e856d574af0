/* SPDX-License-Identifier: MIT */
/* A port's queues: opening and closing, posting to channels, receiving events.
 * See queues.h and card.h. */
#include "transport/card/doorbell_batch.h"
#include "transport/card/inside.h"

#include <string.h>

#include "env/counters.h"
#include "transport/channel.h"

enum {
	/* The most bytes of one request. Length fields have 32 bits, and each
	 * piece should begin at the same place in a page. */
	PIECE = 0x80000000,
};

static uint32_t power_of_two(uint64_t least)
{
	uint32_t n = 1;

	while (n < least)
		n *= 2;
	return n;
}

/* Divides one allocation into parts. With memory NULL only adds up the
 * sizes. */
struct layout {
	uint8_t *memory;
	size_t used;
};

static void *carve_memory(struct layout *layout, size_t size)
{
	void *here = layout->memory ? layout->memory + layout->used : NULL;

	layout->used += (size + 63) & ~(size_t)63;
	return here;
}

static void lay_out_queues(struct bcl_host_port *queues,
			   const struct bcl_control *open,
			   struct layout *layout)
{
	carve_memory(layout, sizeof(*queues));
	queues->slots = carve_memory(layout, open->port.nrequests *
						     sizeof(*queues->slots));
	queues->channels = carve_memory(
		layout, open->port.nchannels * sizeof(*queues->channels));
	queues->shorts.out_of_turn =
		carve_memory(layout, (open->port.nblocks + 63) / 64 * 8);
	queues->longs.out_of_turn =
		carve_memory(layout, (open->port.nlongs + 63) / 64 * 8);
}

static void fill_in_queues(struct bcl_host_port *queues,
			   const struct bcl_control *open,
			   const struct bcl_host_area areas[BCL_AREAS])
{
	const uint32_t nrequests = open->port.nrequests;
	const uint32_t nchannels = open->port.nchannels;
	uint32_t i;

	queues->requests = (void *)areas[BCL_AREA_REQUESTS].address;
	queues->submits = bcl_submits(queues->requests, nrequests);
	queues->indices = (void *)areas[BCL_AREA_INDICES].address;
	queues->postings = (void *)bcl_postings(queues->indices);
	queues->blocks = areas[BCL_AREA_BLOCKS].address;
	queues->bounce = areas[BCL_AREA_BOUNCE].address;
	queues->request_mask = nrequests - 1;
	queues->shorts.mask = open->port.nblocks - 1;
	queues->shorts.told = &queues->indices->blocks_freed;
	queues->longs.mask = open->port.nlongs - 1;
	queues->longs.told = &queues->indices->longs_freed;
	queues->sends = bcl_host_cq_open((void *)areas[BCL_AREA_SENDS].address,
					 nrequests);
	queues->receives = bcl_host_cq_open(
		(void *)areas[BCL_AREA_RECEIVES].address, open->port.nreceives);
	queues->again = (void *)bcl_again(queues->receives.entries,
					  open->port.nreceives);
	queues->piece = PIECE;
	queues->requests_free = nrequests;
	for (i = 0; i < nrequests; i++)
		queues->slots[i].next = (uint16_t)(i + 1);
	queues->slots[nrequests - 1].next = BCL_HOST_NO_SLOT;
	queues->noffers = nchannels - queues->nchannels;
	queues->free_offer = (uint16_t)queues->nchannels;
	for (i = queues->nchannels; i < nchannels; i++)
		queues->channels[i].next = (uint16_t)(i + 1);
	queues->channels[nchannels - 1].next = BCL_HOST_NO_SLOT;
}

enum bcl_status bcl_host_port_open(struct bcl_port *port)
{
	struct bcl_host *host = bcl_host_of(port);
	const uint16_t inlined = host->ops->costs.inline_max;
	const struct bcl_env *env = port->context->env;
	const struct bcl_config *config = &port->context->config;
	const uint32_t longs = host->ops->longs;
	const uint32_t nchannels = port->nchannels + BCL_HOST_OFFERS;
	struct bcl_control control = {
		.op = BCL_CTL_PORT_OPEN,
		.port = { .number = port->number,
			  .nrequests = (uint32_t)config->requests,
			  .nreceives =
				  power_of_two(config->blocks + longs +
					       nchannels + port->nchannels),
			  .nblocks = (uint32_t)config->blocks,
			  .nlongs = longs,
			  .nchannels = nchannels },
	};
	struct bcl_host_area areas[BCL_AREAS];
	struct bcl_host_port probe = { 0 }, *queues;
	struct layout layout = { 0 };
	enum bcl_status status;
	size_t size;

	lay_out_queues(&probe, &control, &layout);
	size = layout.used;
	layout = (struct layout){ env->allocate(env->world, size), 0 };
	if (!layout.memory)
		return BCL_ERR_NOMEM;
	queues = (void *)layout.memory;
	lay_out_queues(queues, &control, &layout);
	status = host->ops->port_open(host, port->object, &control, areas,
				      &queues->seat);
	if (status) {
		env->release(env->world, layout.memory, size);
		return status;
	}
	queues->size = size;
	queues->nchannels = port->nchannels;
	fill_in_queues(queues, &control, areas);
	queues->host = host;
	queues->inline_max = inlined ? inlined : BCL_REQUEST_INLINE;
	queues->doorbell = host->ops->doorbell;
	queues->taking = host->ops->taking;
	queues->ring = host->ring;
	queues->news = host->changes;
	queues->changes =
		atomic_load_explicit(host->changes, memory_order_relaxed);
	port->card = queues;
	return BCL_OK;
}

void bcl_host_port_close(struct bcl_port *port)
{
	const struct bcl_env *env = port->context->env;
	struct bcl_host_port *queues = port->card;

	if (port->flags & BCL_PORT_DEFERRED)
		bcl_host_ring(port);
	queues->host->ops->port_close(queues->host, queues->seat);
	port->card = NULL;
	env->release(env->world, queues, queues->size);
}

/* ---- posting ---- */

static enum bcl_status post_by_call(struct bcl_port *port, unsigned number,
				    const void *buffer, uint64_t length)
{
	struct bcl_host_channel *channel = &port->card->channels[number];
	const struct bcl_control control = {
		.op = BCL_CTL_POST,
		.channel = { .port = port->number,
			     .number = number,
			     .handle = BCL_HANDLE_SELF,
			     .offset = (uintptr_t)buffer,
			     .length = length < UINT32_MAX ? length
							   : UINT32_MAX },
	};
	enum bcl_status status = bcl_host_command(port, &control);

	if (!status) {
		channel->posted = true;
		channel->by_word = false;
	}
	return status;
}

/* Returns false if the card needs a call, and nothing is posted. The accesses
 * to the words, here and in nicfw/channel.c, are sequentially consistent: see
 * bcl/card_abi.h. */
static bool post_by_word(struct bcl_port *port, unsigned number)
{
	struct bcl_host_port *queues = port->card;

	if (!atomic_load_explicit(&queues->again[number], memory_order_seq_cst))
		return false;
	queues->channels[number].posted = true;
	queues->channels[number].by_word = true;
	atomic_fetch_add_explicit(&queues->postings[number], 1,
				  memory_order_seq_cst);
	return atomic_load_explicit(&queues->again[number],
				    memory_order_seq_cst) ||
	       bcl_host_unpost(port, number) != BCL_OK;
}

enum bcl_status bcl_host_post(struct bcl_port *port, unsigned number,
			      const void *buffer, size_t length)
{
	const struct bcl_channel *last = &port->channels[number];

	if (last->buffer == buffer && last->length == length &&
	    post_by_word(port, number))
		return BCL_OK;
	return post_by_call(port, number, buffer, length);
}

enum bcl_status bcl_host_unpost(struct bcl_port *port, unsigned channel)
{
	const struct bcl_control control = {
		.op = BCL_CTL_UNPOST,
		.channel = { .port = port->number, .number = channel },
	};
	enum bcl_status status;

	if (!port->card->channels[channel].posted)
		return BCL_OK;
	status = bcl_host_command(port, &control);
	if (!status)
		port->card->channels[channel].posted = false;
	/* The channel was filled before: its event is in the queue. */
	return status == BCL_ERR_EMPTY ? BCL_ERR_BUSY : status;
}

/* ---- receiving ---- */

/* The library gives blocks back in ring order. A block out of turn waits in a
 * bit map for the blocks before. */
static void free_block(struct bcl_host_ring *ring, uint32_t block)
{
	uint32_t at = ring->freed & ring->mask;

	block &= ring->mask;
	bcl_assert(!(ring->out_of_turn[block / 64] & 1ull << block % 64));
	if (block != at) {
		ring->out_of_turn[block / 64] |= 1ull << block % 64;
		return;
	}
	do {
		ring->out_of_turn[at / 64] &= ~(1ull << at % 64);
		at = ++ring->freed & ring->mask;
	} while (ring->out_of_turn[at / 64] & 1ull << at % 64);
	/* Release: the card overwrites a block only after the library has read
	 * the block. Pairs with nic_load_first() in the card. */
	atomic_store_explicit((_Atomic uint32_t *)ring->told, ring->freed,
			      memory_order_release);
}

void bcl_host_release(struct bcl_port *port)
{
	struct bcl_host_port *queues = port->card;

	if (!queues->unreleased_of)
		return;
	free_block(queues->unreleased_of, queues->unreleased);
	queues->unreleased_of = NULL;
}

static void read_ended(struct bcl_port *port, const struct bcl_completion *c,
		       struct bcl_event *event)
{
	const struct bcl_host_channel *offer = &port->card->channels[c->index];

	*event = (struct bcl_event){
		.kind = BCL_EVENT_READ,
		.status = c->status,
		.peer = offer->peer,
		.cookie = offer->cookie,
		.length = c->length,
	};
	bcl_host_offer_ended(port->card, c->index);
}

/* The card has filled a channel, or cannot have its buffer any more. */
static struct bcl_event channel_ended(struct bcl_port *port, unsigned number,
				      struct bcl_peer *peer, uint64_t length,
				      enum bcl_status status)
{
	struct bcl_host_channel *channel = &port->card->channels[number];

	bcl_assert(number < port->card->nchannels && channel->posted);
	channel->posted = false;
	return (struct bcl_event){
		.kind = BCL_EVENT_CHANNEL,
		.status = status,
		.peer = peer,
		.cookie = port->channels[number].cookie,
		.immediate = number,
		.length = length,
	};
}

/* The card asks for a call in place of the word. The user gets an event only
 * if the call fails. */
static enum bcl_status post_anew(struct bcl_port *port, unsigned number,
				 struct bcl_event *event)
{
	const struct bcl_host_channel *channel = &port->card->channels[number];
	const struct bcl_channel *posted = &port->channels[number];
	enum bcl_status status;

	if (!channel->posted || !channel->by_word)
		return BCL_ERR_EMPTY; /* taken back since */
	status = post_by_call(port, number, posted->buffer, posted->length);
	if (!status)
		return BCL_ERR_EMPTY;
	*event = channel_ended(port, number, NULL, 0, status);
	return BCL_OK;
}

/* Handle the receive event *c. OK: *event is for the caller. EMPTY: no event.
 * AGAIN: *c stays in the queue. */
static enum bcl_status take_receive(struct bcl_port *port,
				    const struct bcl_completion *c,
				    struct bcl_event *event)
{
	struct bcl_host_port *queues = port->card;
	struct bcl_peer *peer = NULL;

	if (c->kind != BCL_CQ_READ && c->kind != BCL_CQ_REPOST) {
		peer = bcl_peer_find(port, c->card, c->src_port, true);
		if (!peer)
			return BCL_ERR_AGAIN; /* no memory for a peer now */
		if (peer->state == BCL_PEER_CONNECTING) {
			bcl_host_accept(peer, c->node);
			return BCL_ERR_AGAIN;
		}
	}
	if (queues->taking)
		queues->taking(queues->host, queues->seat, c);
	bcl_host_cq_take(&queues->receives);
	switch (c->kind) {
	case BCL_CQ_SYSTEM:
		bcl_assert(!queues->unreleased_of);
		queues->unreleased = c->index;
		queues->unreleased_of = c->length > BCL_BLOCK_SIZE
						? &queues->longs
						: &queues->shorts;
		*event = (struct bcl_event){
			.kind = BCL_EVENT_MESSAGE,
			.peer = peer,
			.type = c->type,
			.immediate = c->targ64,
			.data = queues->blocks +
				bcl_block_at(
					queues->shorts.mask + 1,
					c->index & queues->unreleased_of->mask,
					c->length),
			.length = c->length,
		};
		return BCL_OK;
	case BCL_CQ_NOTIFY:
		free_block(&queues->shorts, c->index);
		*event = (struct bcl_event){
			.kind = BCL_EVENT_NOTIFY,
			.peer = peer,
			.type = c->type,
			.immediate = c->arg32,
			.length = c->length,
		};
		return BCL_OK;
	case BCL_CQ_CHANNEL:
		*event = channel_ended(port, c->index, peer, c->length,
				       c->status);
		return BCL_OK;
	case BCL_CQ_REPOST:
		return post_anew(port, c->index, event);
	case BCL_CQ_READ:
		read_ended(port, c, event);
		return BCL_OK;
	default:
		return BCL_ERR_EMPTY;
	}
}

enum bcl_status bcl_host_receive(struct bcl_port *port, struct bcl_event *event)
{
	struct bcl_host_port *queues = port->card;
	const struct bcl_completion *arrival, *completion;
	enum bcl_status status;
	/* Loaded before the queues: events that came before the loss of a peer
	 * are reported before the loss. Acquire: pairs with hal_node(). */
	uint32_t changes =
		atomic_load_explicit(queues->news, memory_order_acquire);

	for (;;) {
		/*
		 * The peek for an arrival comes first, and the arrival is taken
		 * last. A message may answer a request, so the completion of
		 * the request must be reported before the message.
		 */
		arrival = bcl_host_cq_peek(&queues->receives);
		completion = bcl_host_cq_peek(&queues->sends);
		if (completion) {
			bcl_host_cq_take(&queues->sends);
			if (bcl_host_sent(port, completion, event))
				return BCL_OK;
			continue;
		}
		if (!arrival)
			break;
		status = take_receive(port, arrival, event);
		if (status != BCL_ERR_EMPTY)
			return status;
	}
	return changes != queues->changes && bcl_host_report(port, changes)
		       ? BCL_ERR_AGAIN
		       : BCL_ERR_EMPTY;
}

static void do_nothing(void *arg)
{
	(void)arg;
}

void bcl_host_sleep(struct bcl_port *port, bool sleeping)
{
	_Atomic uint32_t *flag = (void *)&port->card->indices->sleeping;

	atomic_store_explicit(flag, sleeping, memory_order_release);
	if (!sleeping)
		return;
	/* Events before this call are visible to the caller's next look. For
	 * events after this call the card sees the flag. */
	bcl_host_exclusive(port->context, port->card->seat, do_nothing, NULL);
}
